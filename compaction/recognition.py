"""Recognising messages that were seen before, by a hash of everything in them.

A caller that keeps the whole conversation hands in, at every turn, what was summarised long ago.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compaction.messages import Message
from compaction.provenance import Slot
from compaction.result import Said
from compaction.utf8 import encoded


def digests(messages: Iterable[Message], under: str = "") -> Iterator[str]:
    """What the first message, the first two, the first three … are recognised by.

    `under` is whatever else must be the same.
    """
    seen = hashlib.sha256(encoded(under))
    for message in messages:
        calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
        seen.update(encoded(repr((message.role, message.content, calls, message.tool_call_id))))
        yield seen.hexdigest()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of slots, and what was said of its beginning."""

    slots: Sequence[Slot]
    sources: int
    """How many messages they were made of."""
    digest: str
    """What these are recognised by."""
    known: Said | None
    """The summary that stands for the most of them, from the first on."""
    covered: int
    """How many of the slots it stands for."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of it, as it is now."""
        return tuple(slot.message for slot in self.slots)

    @property
    def news(self) -> tuple[Message, ...]:
        """What no summary stands for yet."""
        return self.messages[self.covered :]


def read_stretch(slots: Sequence[Slot], before: Sequence[Message], said: Sequence[Said]) -> Stretch:
    """The run of `slots`, made of messages in `before`, in the light of what was `said` so far."""
    ends = list(accumulate(len(slot.sources) for slot in slots))
    seen = list(digests(before[source] for slot in slots for source in slot.sources))
    fits = (one for one in said if one.count in ends and seen[one.count - 1] == one.digest)
    known = max(fits, key=lambda one: one.count, default=None)
    covered = bisect_right(ends, known.count) if known else 0
    return Stretch(slots, len(seen), seen[-1] if seen else "", known, covered)
