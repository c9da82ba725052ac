"""Making a conversation fit without a model: previews for large results, then whole steps go.

The system message, the task and the newest human line always stay; what goes first is the oldest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from compaction.messages import Message
from compaction.ports import Ports
from compaction.previews import PREVIEW_BYTES, Moved, reduce
from compaction.provenance import Draft
from compaction.rounds import is_summary, pinned, units
from compaction.settings import Settings
from compaction.tokens import BYTES_PER_TOKEN, message_bytes

NO_ROOM = "left out to make room"


@dataclass(frozen=True, slots=True)
class Fixed:
    """What no compaction may take away."""

    tokens: int
    window: int

    def told(self) -> str:
        """Its share, for a record."""
        return (
            "the system message, the task and the newest human line alone take "
            f"{self.tokens / self.window:.1%} of the window ({self.tokens:,} of "
            f"{self.window:,} tokens)"
        )


def fixed_part(messages: Sequence[Message], settings: Settings) -> Fixed:
    """The part of `messages` that must stay whatever happens."""
    size = sum(message_bytes(messages[index]) for index in pinned(messages))
    return Fixed(size // BYTES_PER_TOKEN, settings.context_window)


def below(line: float, settings: Settings) -> int:
    """The most tokens that are below a share of the window."""
    return ceil(settings.context_window * line) - 1


def room_below(line: float, fixed: Fixed, settings: Settings) -> int | None:
    """The most tokens below `line`, or below the next line that what must stay allows; or None."""
    rooms = (below(each, settings) for each in (line, settings.full, settings.emergency))
    return next((room for room in rooms if room >= fixed.tokens), None)


def fit(
    draft: Draft, tokens: int, settings: Settings, ports: Ports, written: frozenset[str]
) -> Moved:
    """The draft in at most `tokens`, as far as that can be without what must stay.

    Large results are reduced, oldest first; then the newest steps stay that fit, each a message
    with its tool results; a newest step that alone is too large has all its results reduced.
    """
    room = tokens * BYTES_PER_TOKEN + BYTES_PER_TOKEN - 1  # the estimate is rounded down
    moved = _reduced(draft, settings.offload_bytes, room, settings, ports, written)
    if _size(moved.draft) <= room:
        return moved
    if not _fits_newest(moved.draft, room):
        smaller = min(settings.offload_bytes, PREVIEW_BYTES)
        again = _reduced(moved.draft, smaller, room, settings, ports, moved.written)
        entries, notes = moved.entries + again.entries, moved.notes + again.notes
        moved = replace(again, entries=entries, notes=notes)
    return replace(moved, draft=_newest(moved.draft, room))


def _reduced(
    draft: Draft, over: int, room: int, settings: Settings, ports: Ports, written: frozenset[str]
) -> Moved:
    large = (i for i, message in enumerate(draft.messages) if message_bytes(message) > over)
    return reduce(draft, large, settings, ports.offloads, written, enough=room, or_cut=True)


def _size(draft: Draft) -> int:
    return sum(map(message_bytes, draft.messages))


def _fits_newest(draft: Draft, room: int) -> bool:
    messages = draft.messages
    wanted = pinned(messages).union(*units(messages)[-1:])
    return sum(message_bytes(messages[index]) for index in wanted) <= room


def _newest(draft: Draft, room: int) -> Draft:
    messages = draft.messages
    sizes = list(map(message_bytes, messages))
    kept = set(pinned(messages))
    steps = units(messages)

    def fits(indices: Iterable[int]) -> bool:
        return sum(sizes[index] for index in kept.union(indices)) <= room

    # The newest step, and what is known of everything before it, if there is room for them.
    summaries = [[index] for index, message in enumerate(messages) if is_summary(message)]
    for wish in [*steps[-1:], *summaries[-1:]]:
        if fits(wish):
            kept.update(wish)
    left = room - sum(sizes[index] for index in kept)
    for step in reversed(steps):
        left -= sum(sizes[index] for index in step if index not in kept)
        if left < 0:
            break
        kept.update(step)
    return draft.keep([index in kept for index in range(len(messages))], NO_ROOM)
