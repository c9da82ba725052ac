"""What a project folder holds, as immutable values: the vocabulary of everything above."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from compaction.messages import Message
from compaction.reconstruct import Generation, Reconstruction
from compaction.records import CompactionRecord

__all__ = [
    "Damage",
    "Generation",
    "Listing",
    "OffloadFile",
    "Plan",
    "RecordLine",
    "Records",
    "Row",
    "Session",
    "SessionInfo",
    "Task",
    "TaskState",
]


@dataclass(frozen=True, slots=True)
class Damage:
    """Something on disk that could not be read; the rest of the file was."""

    path: Path
    says: str
    line: int | None = None
    """1-based."""


@dataclass(frozen=True, slots=True)
class Row:
    """One stored message. Rows are ordered by `id`; a whole batch shares one `created_at`."""

    id: int
    message: Message
    created_at: int
    """Unix seconds: when the batch was saved, not when the message was made."""
    damage: str = ""
    """Why the row could only be read in part."""


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A compaction record and where it stands."""

    line: int
    """1-based line number in its file."""
    record: CompactionRecord


@dataclass(frozen=True, slots=True)
class Records:
    """A session's compaction records in file order, and what could not be read."""

    path: Path | None
    lines: tuple[RecordLine, ...] = ()
    damage: tuple[Damage, ...] = ()

    @property
    def records(self) -> tuple[CompactionRecord, ...]:
        return tuple(line.record for line in self.lines)


@dataclass(frozen=True, slots=True)
class OffloadFile:
    """A tool result on disk."""

    tool_call_id: str
    """Taken from the file's name."""
    path: Path
    relative: str
    """As a placeholder names it, relative to the project."""
    size: int
    """Bytes."""


class TaskState(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Task:
    text: str
    state: TaskState


@dataclass(frozen=True, slots=True)
class Plan:
    """A task list: from a plan file, or from the database."""

    origin: str
    """`plans/<file>` or `session_plans` / `session_todos`."""
    tasks: tuple[Task, ...]
    updated: str = ""
    """As written."""
    text: str = ""
    """The whole Markdown, when it comes from a file."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session as the list of sessions shows it."""

    id: str
    title: str
    """The first human line, or empty."""
    created_at: int | None
    updated_at: int | None
    """Unix seconds; None where only records or offloads are left."""
    messages: int
    tokens: int
    """Estimated, bytes/4, over the stored rows; the system prompt is not stored."""
    database: Path | None
    """Where the rows are; None where only records or offloads are left."""
    records: Path | None = None
    """The file of its compaction records, if there is one."""
    offloads: int = 0
    """Tool results on disk."""
    belongs: bool = True
    """Whether something ties the session to the opened project; the home store holds all."""
    tie: str = ""
    """What ties it, or that nothing does."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All sessions in reach, those of the project first, newest first; and what was unreadable."""

    sessions: tuple[SessionInfo, ...]
    damage: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """Everything the disk says about one session."""

    info: SessionInfo
    rows: tuple[Row, ...]
    records: Records
    offloads: tuple[OffloadFile, ...]
    plans: tuple[Plan, ...]
    account: Reconstruction
    """What the rows and records still prove about each compaction."""
    damage: tuple[Damage, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(row.message for row in self.rows)

    @property
    def generation(self) -> Generation:
        return self.account.generation

    @property
    def generation_reason(self) -> str:
        return self.account.generation_reason
