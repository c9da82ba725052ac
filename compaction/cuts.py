"""Which cuts through a growing conversation leave every tool call with its results."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from compaction.messages import Message


class CleanCuts:
    """Bookkeeping that tells, without looking again, where repair could find anything to do.

    A cut at i parts the messages before i from those from i on. It is clean where no call id
    occurs on both sides. Amortised constant work per message.
    """

    def __init__(self) -> None:
        self.count = 0
        self._called: set[str] = set()
        self._answered: set[str] = set()
        self._loose: set[str] = set()
        self._first: dict[str, int] = {}
        self._clean = [0]

    def append(self, message: Message) -> None:
        """Take note of the next message."""
        for call_id, own, other in self._ids(message):
            own.add(call_id)
            # An empty id is never answered: a call without one stays loose.
            (self._loose.discard if call_id in other else self._loose.add)(call_id)
            first = self._first.setdefault(call_id, self.count)
            while self._clean[-1] > first:
                self._clean.pop()
        self.count += 1
        self._clean.append(self.count)

    def _ids(self, message: Message) -> Iterator[tuple[str, set[str], set[str]]]:
        if message.is_tool_result:
            yield message.tool_call_id, self._answered, self._called
        if message.role == "assistant":
            for call in message.tool_calls:
                yield call.id, self._called, self._answered

    def is_clean(self, cut: int) -> bool:
        """Whether no call id occurs on both sides of `cut`."""
        return self._next(cut) == cut

    def settled_from(self, start: int) -> int | None:
        """From where on, at or after `start`, repair surely finds nothing in `[start:]`.

        What comes before it shares no call id with what comes after, so repair need look at nothing
        else. None where some call or result has no partner anywhere.
        """
        return None if self._loose else self._next(start)

    def _next(self, start: int) -> int:
        # The end is always a clean cut.
        return self._clean[bisect_left(self._clean, min(start, self.count))]
