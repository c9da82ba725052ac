"""What one compaction came to: the view, the record, and where every message went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compaction.anchors import Anchor
from compaction.messages import Message
from compaction.provenance import Draft
from compaction.records import CompactionRecord
from compaction.tiers import Tier


@dataclass(frozen=True, slots=True)
class Said:
    """What a summary said of a run of messages, so that nobody need be asked of them again."""

    count: int
    first: str
    digest: str
    """What the first message and all of them are recognised by; see `compaction.recognition`."""
    text: str
    anchors: tuple[Anchor, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """What is carried from one compaction to the next; a value, passed in and handed back."""

    summary: str = ""
    anchors: tuple[Anchor, ...] | None = None
    """None before the first summary: nothing is merged then."""
    written: frozenset[str] = frozenset()
    """Call ids whose file this process has written; in the safe rule book, the files' paths."""
    settled: str = ""
    """What the safe rule book recognises its last outcome by, to leave it alone."""
    said: tuple[Said, ...] = ()
    """The newest summaries, oldest first: for a caller that keeps the whole conversation and asks
    for a view of it at every turn."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """The outcome of one compaction of `before`."""

    before: Sequence[Message]
    draft: Draft
    record: CompactionRecord
    memory: Memory
    """To be passed to the next compaction."""
    fallback: str = ""
    """Why the tier's own way was not taken; empty when it was."""
    rewritten: Mapping[int, Message] = field(default_factory=dict)
    """Messages that the original would have replaced in the caller's own history."""
    notes: tuple[str, ...] = ()
    """What a person should know, and is no failure."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The compacted view, in order."""
        return self.draft.messages

    @property
    def first_change(self) -> int | None:
        """The first position at which the view differs from the input; None where it does not.

        Everything before it is as it was sent last time, so a prompt cache still holds.
        """
        view = self.messages
        pairs = enumerate(zip(view, self.before, strict=False))
        differs = (index for index, (now, then) in pairs if now != then)
        shorter = min(len(view), len(self.before))
        end = None if len(view) == len(self.before) else shorter
        return next(differs, end)

    @property
    def tier(self) -> Tier:
        """The tier that was acted on."""
        return Tier(self.record.tier)
