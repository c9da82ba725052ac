"""A conversation that grows, with everything a compaction asks of it kept up to date.

Sizes are running totals, so that the size of any stretch is one subtraction; large tool results
and clean cuts are noted as messages come in. Nothing is measured twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Self

from compaction.cuts import CleanCuts
from compaction.messages import Message
from compaction.provenance import Draft, Fate, Kept, Slot
from compaction.runs import Run, parts_of
from compaction.tokens import BYTES_PER_TOKEN, message_bytes
from compaction.utf8 import byte_length


class Snapshot(Run[Message]):
    """The first messages of a list that only ever grows."""

    __slots__ = ("_messages",)

    def __init__(self, messages: Sequence[Message], indices: range) -> None:
        super().__init__(indices)
        self._messages = messages

    def at(self, index: int) -> Message:
        """The message at an index."""
        return self._messages[index]

    def __iter__(self) -> Iterator[Message]:
        if self.indices.step == 1:  # the common case, at the speed of a slice
            return iter(self._messages[self.indices.start : self.indices.stop])
        return super().__iter__()

    def over(self, indices: range) -> Self:
        """Other messages of the same list."""
        return type(self)(self._messages, indices)


class Ledger:
    """The messages so far and their totals. A result of more than `large` bytes is a large one."""

    def __init__(self, large: int, messages: Iterable[Message] = ()) -> None:
        self._limit = large
        self._messages: list[Message] = []
        self._sums = [0]
        self._large: list[int] = []
        self._cuts = CleanCuts()
        self.extend(messages)

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def messages(self) -> Sequence[Message]:
        """The messages as they are now; what comes later does not show in it."""
        return Snapshot(self._messages, range(len(self._messages)))

    @property
    def tokens(self) -> int:
        """The estimate of them all."""
        return self._sums[-1] // BYTES_PER_TOKEN

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages at the end."""
        for message in messages:
            self._append(message, message_bytes(message))

    def _append(self, message: Message, size: int) -> None:
        if self._is_large(message, size):
            self._large.append(len(self._messages))
        self._messages.append(message)
        self._sums.append(self._sums[-1] + size)

    def _is_large(self, message: Message, size: int) -> bool:
        # The whole size first: it is known, and the content's may have to be counted.
        large = size > self._limit and message.is_tool_result
        return large and byte_length(message.content) > self._limit

    def bytes_in(self, where: range) -> int:
        """The size of a stretch."""
        return self._sums[where.stop] - self._sums[where.start]

    def large_in(self, where: range) -> list[int]:
        """Indices of the large results in a stretch."""
        start, stop = (bisect_left(self._large, index) for index in (where.start, where.stop))
        return self._large[start:stop]

    @property
    def cuts(self) -> CleanCuts:
        """Where these messages may be cut without parting a call from its result."""
        for message in self._messages[self._cuts.count :]:
            self._cuts.append(message)
        return self._cuts

    def sizes(self, slots: Iterable[Slot]) -> Iterator[int]:
        """Bytes of each slot of a draft over these messages; only new messages are measured."""
        for slot in slots:
            if slot.fate is Fate.KEPT:
                (index,) = slot.sources
                yield self._sums[index + 1] - self._sums[index]
            else:
                yield message_bytes(slot.message)

    def size_of(self, draft: Draft) -> int:
        """Bytes of a whole draft over these messages."""
        return sum(
            self.bytes_in(part.indices) if isinstance(part, Kept) else sum(self.sizes(part))
            for part in parts_of(draft.slots)
        )

    def rewrite(self, changes: Mapping[int, Message]) -> None:
        """Put placeholders where offloaded results stood: same ids, other texts."""
        if not changes:
            return
        self._messages = list(self._messages)  # earlier snapshots keep the list they saw
        first = min(changes)
        sizes = [self._sums[i + 1] - self._sums[i] for i in range(first, len(self))]
        for index, message in changes.items():
            self._messages[index] = message
            sizes[index - first] = message_bytes(message)
        # What was not large may have left too: the safe rule book goes further where it must.
        self._large = [
            index
            for index in self._large
            if index not in changes or self._is_large(changes[index], sizes[index - first])
        ]
        self._sums[first:] = accumulate(sizes, initial=self._sums[first])

    def replaced_by(self, draft: Draft) -> Ledger:
        """The ledger of the conversation that `draft` makes of this one: itself, rewritten, where
        results were offloaded and nothing else happened."""
        changes = _in_place(draft)
        if changes is not None:
            self.rewrite(changes)
            return self
        successor = Ledger(self._limit)
        for slot, size in zip(draft.slots, self.sizes(draft.slots), strict=True):
            successor._append(slot.message, size)
        return successor


def _in_place(draft: Draft) -> dict[int, Message] | None:
    """The offloaded messages by index; None where any message moved, went or came."""
    changes: dict[int, Message] = {}
    position = 0
    for part in parts_of(draft.slots):
        if isinstance(part, Kept):
            if part.indices.start != position:
                return None
        else:
            for index, slot in enumerate(part, position):
                if slot.sources != (index,) or slot.fate not in (Fate.KEPT, Fate.OFFLOADED):
                    return None
                if slot.fate is Fate.OFFLOADED:
                    changes[index] = slot.message
        position += len(part)
    return None if draft.drops else changes
