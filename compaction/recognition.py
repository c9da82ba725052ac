"""Recognising messages that were seen before, by a hash of everything in them.

A caller that keeps the whole conversation hands in, at every turn, what was summarised long ago.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compaction.messages import Message
from compaction.provenance import Slot
from compaction.result import Said


def digest(messages: Iterable[Message], under: str = "") -> str:
    """What messages are recognised by, together with `under`, whatever else must be the same."""
    seen = hashlib.sha256(under.encode())
    for message in messages:
        seen.update(_whole(message))
    return seen.hexdigest()


def _whole(message: Message) -> bytes:
    """Everything in a message: no two have the same bytes, nor any two rows of them."""
    texts = [message.role, message.content, message.tool_call_id]
    for call in message.tool_calls:
        texts += (call.id, call.name, call.arguments)
    lengths = ",".join([str(len(text)) for text in texts])
    return "".join([lengths, ";", *texts]).encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of slots, and what was said of its beginning."""

    slots: Sequence[Slot]
    sources: tuple[Message, ...]
    """The messages they were made of."""
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
    sources = tuple(before[source] for slot in slots for source in slot.sources)
    largest = sorted(said, key=lambda one: one.count, reverse=True)
    fits = (one for one in largest if one.count and one.count in ends and _is_of(one, sources))
    known = next(fits, None)
    covered = bisect_right(ends, known.count) if known else 0
    return Stretch(slots, sources, known, covered)


def _is_of(said: Said, sources: Sequence[Message]) -> bool:
    # The first message tells nearly always, and spares reading all of them.
    return said.first == digest(sources[:1]) and said.digest == digest(sources[: said.count])
