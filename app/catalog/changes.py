"""What a refresh reports: how far it is, and what it found changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from app.catalog.snapshots import How
from app.sources.model import Damage


class Stage(StrEnum):
    """What a refresh is doing."""

    READING = "reading"
    """Sessions, records and files."""
    INDEXING = "indexing"
    """Making their texts searchable."""


@dataclass(frozen=True, slots=True)
class Progress:
    stage: Stage
    done: int
    total: int


Report = Callable[[Progress], None]
"""Called in the refreshing thread, after each step."""


class Cancelled(Exception):
    """Somebody asked the refresh to stop; what was done is kept."""


@dataclass(frozen=True, slots=True)
class SessionChange:
    """A session whose messages are not what they were."""

    session_id: str
    how: How
    before: int
    """Messages."""
    after: int


@dataclass(frozen=True, slots=True)
class RecordsChange:
    """Compaction records that were written."""

    session_id: str
    added: int
    """Below zero where the file was replaced by a shorter one."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """An offloaded result or a plan that came, changed or went."""

    kind: str
    """`offload` or `plan`."""
    session_id: str
    """Empty where it is not known whose it is."""
    name: str
    is_gone: bool


Change = SessionChange | RecordsChange | FileChange


@dataclass(slots=True)
class Outcome:
    """What one refresh did."""

    changes: list[Change] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    is_elsewhere: bool = False
    """Another program is looking at this folder right now; nothing was done."""
    is_complete: bool = True
    """False where it was cancelled or a writer was always in the way: refresh again."""
