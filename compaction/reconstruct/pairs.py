"""What repair would do to any stretch of a history, without walking through it.

Tool calls and their results stand close together, so only the few pairs that a cut separates,
and the few that are never whole, need to be looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from compaction.messages import Message
from compaction.repair import UNAVAILABLE
from compaction.utf8 import byte_length

_PLACEHOLDER_BYTES = byte_length(UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class Effect:
    """By how much repair changes a list."""

    messages: int = 0
    bytes: int = 0


@dataclass(slots=True)
class _Uses:
    """Where one id is called and answered, ascending."""

    calls: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)

    @property
    def first(self) -> int:
        return min(self.calls[:1] + self.results[:1])

    @property
    def last(self) -> int:
        return max(self.calls[-1:] + self.results[-1:])


@dataclass(frozen=True, slots=True)
class Pairs:
    """An index of tool calls and results over a history."""

    _uses: dict[str, _Uses]
    _ids: tuple[str, ...]
    """Ordered by first use."""
    _firsts: tuple[int, ...]
    _reach: tuple[int, ...]
    """Entry i: the last use of any of the first i + 1 ids."""
    _halves: tuple[str, ...]
    """Ids that are never both called and answered."""

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Pairs:
        uses: dict[str, _Uses] = {}
        for index, message in enumerate(messages):
            if message.role == "assistant":
                for call in message.tool_calls:
                    uses.setdefault(call.id, _Uses()).calls.append(index)
            if message.is_tool_result:
                uses.setdefault(message.tool_call_id, _Uses()).results.append(index)
        ids = sorted(uses, key=lambda one: uses[one].first)
        return cls(
            uses,
            tuple(ids),
            tuple(uses[one].first for one in ids),
            tuple(accumulate((uses[one].last for one in ids), max)),
            tuple(one for one in ids if not uses[one].calls or not uses[one].results),
        )

    def results_of(self, call_id: str) -> Sequence[int]:
        """Where results with this id stand, ascending."""
        uses = self._uses.get(call_id)
        return uses.results if uses else ()

    def effect(self, kept: Sequence[range], size_of: Callable[[int], int]) -> Effect:
        """What repair does to the messages in `kept`: ascending ranges that do not touch."""
        borders = {border for stretch in kept for border in (stretch.start, stretch.stop)}
        ids = {one for border in borders for one in self._across(border)}
        messages = size = 0
        for one in ids.union(self._halves):
            calls = _within(self._uses[one].calls, kept)
            results = _within(self._uses[one].results, kept)
            if results and not calls:
                messages -= len(results)
                size -= sum(map(size_of, results))
            elif calls and not results:
                messages += len(calls)
                size += len(calls) * (_PLACEHOLDER_BYTES + byte_length(one))
        return Effect(messages, size)

    def _across(self, border: int) -> Iterator[str]:
        """Ids that are used on both sides of `border`."""
        for at in range(bisect_left(self._firsts, border) - 1, -1, -1):
            if self._reach[at] < border:
                return
            if self._uses[self._ids[at]].last >= border:
                yield self._ids[at]


def _within(places: list[int], kept: Sequence[range]) -> list[int]:
    found: list[int] = []
    for stretch in kept:
        found += places[bisect_left(places, stretch.start) : bisect_left(places, stretch.stop)]
    return found
