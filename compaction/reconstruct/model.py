"""What a reconstruction is made of: the rows it starts from, and how sure it is of each record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from compaction.messages import Message
from compaction.provenance import Draft
from compaction.reconstruct.bounds import Bounds
from compaction.records import CompactionRecord


class Generation(StrEnum):
    """How the compactor that wrote a session treated its stored rows (facts: harness9 §2)."""

    CLASSIC = "classic"
    VIEW = "view"
    WRITE_BACK = "write-back"
    UNKNOWN = "unknown"


class Evidence(StrEnum):
    """How much is known about what one compaction did."""

    EXACT = "exact"
    """We ran it."""
    VERIFIED = "verified"
    """Rebuilt, and its counts agree with the record's."""
    UNVERIFIED = "unverified"
    """Rebuilt, but nothing independent confirms it, or something is known to be missing."""
    UNAVAILABLE = "unavailable"
    """Only the record's own numbers and texts are left."""


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A stored message and the batch it was saved in: the rows of one run share a batch."""

    message: Message
    batch: int
    """Any number that all rows of a batch have in common, such as the time of saving."""


Originals = Callable[[Message], str | None]
"""The full text that a stored placeholder stands for, or None where it is gone."""


@dataclass(frozen=True, slots=True)
class View:
    """One compaction, rebuilt: what went in, and where every message of it went."""

    before: tuple[Message, ...]
    draft: Draft
    unknown: frozenset[int]
    """Indices into `before` of messages that stand in for one whose text is not known. Always
    among them is 0: the system prompt is never stored, so an empty message takes its place."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known about one record."""

    record: CompactionRecord
    evidence: Evidence
    reason: str
    """One sentence, for people."""
    build: Callable[[], View] | None = None
    """Makes the view; None where there is none to be had. Linear in the number of messages."""

    @property
    def is_rebuilt(self) -> bool:
        return self.build is not None

    def view(self) -> View | None:
        """The compaction's before and after, made anew at every call."""
        return self.build() if self.build else None


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """A session's compactions, as far as its rows and records still prove them."""

    generation: Generation
    generation_reason: str
    verdicts: tuple[Verdict, ...]
    """One for each record, in the records' order."""
    system: Bounds | None
    """Bytes of the system prompt, solved from the records; None where they do not tell."""
    window: Bounds | None
    """The context window in tokens that explains every tier; None where none does."""
    tail: int | None
    """Newest messages that were never compacted; None where no record shows it."""
