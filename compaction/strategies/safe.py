"""The tier ladder as the safe rule book climbs it: it settles, or says in one record why it cannot.

The tiers and their lines are the original's. What is done at each of them keeps to the guards of
`compaction.rules.Guard`: see `docs/rule-books.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compaction.anchors import says_nothing
from compaction.fitting import below, fit, fixed_part, room_below
from compaction.messages import Message
from compaction.outcomes import account, is_settled, mark, numbered, size
from compaction.pairs import is_result, mend
from compaction.ports import Ports
from compaction.previews import PREVIEW_BYTES, Moved, is_reduced, reduce
from compaction.provenance import Draft
from compaction.records import OffloadEntry
from compaction.result import CompactionResult, Memory
from compaction.rounds import is_summary, pinned, units
from compaction.settings import Settings
from compaction.strategies.asking import recalled, stretches, summarise
from compaction.summary import previous_text
from compaction.tiers import Tier, tier_for
from compaction.tokens import BYTES_PER_TOKEN, message_bytes
from compaction.utf8 import byte_length

EMERGENCY_CUT = "emergency fallback: forced truncation"
SUMMARY_FAILED = "LLM summary failed in Tier"
NO_ANCHORS = "the summary fills none of the five anchors"

MARGIN = 0.05
"""How far below the Warn line offloading goes, as a share of the window."""
WORTH = 0.02
"""Results that would save less than this share of the window stay at Warn: every change there is
costs the prompt cache."""
SLIVER = 0.10
"""A stretch smaller than this share of all that is summarised is not worth a summary."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What a tier came to."""

    before: Sequence[Message]
    """What the draft was made of."""
    draft: Draft
    memory: Memory
    errors: tuple[str, ...] = ()
    entries: tuple[OffloadEntry, ...] = ()
    notes: tuple[str, ...] = ()

    def after(self, moved: Moved) -> _Step:
        """The step with results moved to files."""
        return replace(
            self,
            draft=moved.draft,
            memory=replace(self.memory, written=moved.written),
            entries=self.entries + moved.entries,
            notes=self.notes + moved.notes,
        )

    def but(self, error: str) -> _Step:
        """The step with one more thing that went wrong."""
        return replace(self, errors=(*self.errors, error))


def compact(
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports,
    memory: Memory,
    *,
    tier: Tier | None = None,
) -> CompactionResult:
    """Compact `messages` as far as their fill of the window asks for; see `progressive.compact`.

    Where nothing is done, the record is of tier None and not worth keeping.
    """
    started = ports.nanoseconds()
    before = tuple(messages)
    mended = mend(Draft.of(before))
    tokens = size(before) // BYTES_PER_TOKEN
    chosen = tier_for(tokens, settings) if tier is None else tier
    if settings.context_window <= 0 or is_settled(before, settings, memory):
        chosen = Tier.NONE
    step = _Step(before, mended, memory)
    if chosen is not Tier.NONE:
        step = _smaller(_climbed(_recalled(step, settings), tier, settings, ports), step)
        if step.draft == mended and not step.errors:
            chosen = Tier.NONE
        settled = mark(step.draft.messages, settings)
        step = replace(step, memory=replace(step.memory, settled=settled))
    done = account(step.draft, step.memory, step.entries, step.errors)
    record = numbered(done, before, step.draft, chosen, settings, ports, started)
    return CompactionResult(before, step.draft, record, step.memory, record.error, notes=step.notes)


def _recalled(start: _Step, settings: Settings) -> _Step:
    """What was summarised already as its summary: the caller may keep the whole conversation."""
    if not start.memory.said:
        return start
    wanted = stretches(_leaving(start.draft.messages, settings))
    return replace(start, draft=recalled(start.draft, wanted, start.before, start.memory))


def _climbed(start: _Step, tier: Tier | None, settings: Settings, ports: Ports) -> _Step:
    if tier is None:
        tier = tier_for(size(start.draft.messages) // BYTES_PER_TOKEN, settings)
    return _TIERS[tier](start, settings, ports) if tier is not Tier.NONE else start


def _warn(start: _Step, settings: Settings, ports: Ports) -> _Step:
    """The newest large results of the head leave first, and no more of them than must."""
    messages = start.draft.messages
    head = range(_tail_start(messages, settings))
    large = [i for i in reversed(head) if _is_large(messages[i], settings)]
    enough = int(settings.context_window * (settings.warn - MARGIN)) * BYTES_PER_TOKEN
    least = int(settings.context_window * WORTH) * BYTES_PER_TOKEN
    if sum(message_bytes(messages[i]) - PREVIEW_BYTES for i in large) < least:
        return start  # a new prompt costs more than it would save
    written = start.memory.written
    return start.after(reduce(start.draft, large, settings, ports.offloads, written, enough=enough))


def _is_large(message: Message, settings: Settings) -> bool:
    is_whole = message.is_tool_result and not is_reduced(message)
    return is_whole and message_bytes(message) > settings.offload_bytes


def _soft(start: _Step, settings: Settings, ports: Ports) -> _Step:
    """The older half of the head as a summary; all of it where half would not be enough."""
    messages = start.draft.messages
    older = _leaving(messages, settings)
    half = _first_half(messages, older)
    rest = size(messages) - sum(message_bytes(messages[index]) for index in half)
    # The next summary will be about as long as the last one.
    rest += byte_length(previous_text(start.memory.summary, start.memory.anchors or ()))
    is_enough = rest // BYTES_PER_TOKEN < below(settings.warn - MARGIN, settings)
    step = _summarised(start, half if is_enough else older, Tier.SOFT, settings, ports)
    return step if step.errors else _fitted(step, settings.soft, settings, ports)


def _full(start: _Step, settings: Settings, ports: Ports) -> _Step:
    """All of the head as a summary; without one, the newest that fits."""
    older = _leaving(start.draft.messages, settings)
    step = _summarised(start, older, Tier.FULL, settings, ports)
    return _fitted(step, settings.warn, settings, ports)


def _emergency(start: _Step, settings: Settings, ports: Ports) -> _Step:
    """The newest that fits, without asking a model."""
    return _fitted(start.but(EMERGENCY_CUT), settings.warn, settings, ports)


_TIERS = {Tier.WARN: _warn, Tier.SOFT: _soft, Tier.FULL: _full, Tier.EMERGENCY: _emergency}


def _summarised(
    start: _Step, older: Sequence[int], tier: Tier, settings: Settings, ports: Ports
) -> _Step:
    messages = start.draft.messages
    wanted = _worthwhile(messages, older)
    if not wanted:
        return start
    chosen = [index for stretch in wanted for index in stretch]
    large = [i for i in chosen if _is_large(messages[i], settings)]
    step = start.after(reduce(start.draft, large, settings, ports.offloads, start.memory.written))
    asked = summarise(step.draft, wanted, step.before, ports, step.memory, settings.summary)
    step = replace(step, draft=asked.draft, memory=asked.memory)
    if asked.error:
        return step.but(f"{SUMMARY_FAILED}{tier.label}: {asked.error}")
    if all(says_nothing(anchor.content) for anchor in asked.memory.anchors or ()):
        return step.but(NO_ANCHORS)
    return step


def _worthwhile(messages: Sequence[Message], older: Sequence[int]) -> list[range]:
    """The stretches of `older` that hold something new, and are no mere sliver of it."""
    sizes = {
        stretch: size(messages[stretch.start : stretch.stop])
        for stretch in stretches(older)
        if not all(is_summary(messages[index]) for index in stretch)
    }
    least = sum(sizes.values()) * SLIVER
    return [stretch for stretch, bytes_ in sizes.items() if bytes_ >= least]


def _fitted(step: _Step, line: float, settings: Settings, ports: Ports) -> _Step:
    """Below `line`, or below the next line that what must stay allows, and a word about it."""
    target = below(line, settings)
    if size(step.draft.messages) // BYTES_PER_TOKEN <= target:
        return step
    fixed = fixed_part(step.draft.messages, settings)
    room = room_below(line, fixed, settings)
    if room is None:
        return step.but(fixed.told())
    step = step.after(fit(step.draft, room, settings, ports, step.memory.written))
    return step if room == target else step.but(fixed.told())


def _leaving(messages: Sequence[Message], settings: Settings) -> list[int]:
    pins = pinned(messages)
    return [i for i in range(_tail_start(messages, settings)) if i not in pins]


def _first_half(messages: Sequence[Message], older: Sequence[int]) -> list[int]:
    """The older half, and what it takes not to part a call from its results."""
    middle = older[len(older) // 2] if older else 0
    cut = next((step.start for step in units(messages) if step.start >= middle), len(messages))
    return [index for index in older if index < cut]


def _tail_start(messages: Sequence[Message], settings: Settings) -> int:
    """Where the tail begins: earlier where it would open on a tool result."""
    start = max(len(messages) - settings.tail, 0)
    while start > 0 and is_result(messages[start]):
        start -= 1
    return start


def _smaller(step: _Step, start: _Step) -> _Step:
    """The step, or what it started from where nothing was won."""
    if size(step.draft.messages) < size(start.draft.messages):
        return step
    memory = replace(start.memory, written=step.memory.written)
    return replace(start, memory=memory, errors=step.errors, notes=step.notes)
