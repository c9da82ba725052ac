"""Long sequences in which items follow from their index: made when looked at, not before.

A conversation of thousands of messages to which little happened is a handful of these.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Self, TypeVar, overload

T = TypeVar("T")


class _Lazy(Sequence[T]):
    """What all of them share: they compare, and print, as the items they stand for."""

    __slots__ = ()

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        chosen = range(len(self))[at]
        return self._item(chosen) if isinstance(chosen, int) else self._part(chosen)

    @abstractmethod
    def _item(self, at: int) -> T: ...

    @abstractmethod
    def _part(self, chosen: range) -> Sequence[T]: ...

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(map(_same, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def _same(one: object, other: object) -> bool:
    return one == other


class Run(_Lazy[T]):
    """One item for every index of a range; a child says which."""

    __slots__ = ("indices",)

    def __init__(self, indices: range) -> None:
        self.indices = indices

    @abstractmethod
    def at(self, index: int) -> T:
        """The item of one of the `indices`."""
        ...

    @abstractmethod
    def over(self, indices: range) -> Self:
        """The same run over other indices."""
        ...

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[T]:
        return map(self.at, self.indices)

    def _item(self, at: int) -> T:
        return self.at(self.indices[at])

    def _part(self, chosen: range) -> Self:
        return self.over(self.indices[chosen.start : chosen.stop : chosen.step])


class Joined(_Lazy[T]):
    """Several sequences, end to end; see `joined`."""

    __slots__ = ("_ends", "parts")

    def __init__(self, parts: tuple[Sequence[T], ...]) -> None:
        self.parts = parts
        self._ends = tuple(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[T]:
        return (item for part in self.parts for item in part)

    def _item(self, at: int) -> T:
        which = bisect_right(self._ends, at)
        return self.parts[which][at - self._ends[which]]  # counted from the part's end

    def _part(self, chosen: range) -> Sequence[T]:
        if chosen.step != 1:
            return tuple(map(self._item, chosen))
        first = bisect_right(self._ends, chosen.start)
        last = bisect_left(self._ends, chosen.stop, lo=first)
        return joined(
            *(
                self.parts[which][max(chosen.start - start, 0) : chosen.stop - start]
                for which in range(first, min(last + 1, len(self.parts)))
                for start in (self._ends[which] - len(self.parts[which]),)
            )
        )


def parts_of(items: Sequence[T]) -> tuple[Sequence[T], ...]:
    """The pieces that a sequence was joined from; itself where it was not."""
    return items.parts if isinstance(items, Joined) else (items,)


def joined(*items: Sequence[T]) -> Sequence[T]:
    """The sequences end to end, without copying them."""
    parts = tuple(part for each in items for part in parts_of(each) if len(part))
    return parts[0] if len(parts) == 1 else Joined(parts) if parts else ()
