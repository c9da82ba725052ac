"""Plan files: Markdown task lists that the agent keeps beside a session."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from app.sources.folder import opened
from app.sources.model import Plan, Task, TaskState
from compaction.utf8 import decoded

_LONGEST = 1024 * 1024
_TASK = re.compile(r"\s*[-*] \[(?P<mark>.)\] ?(?P<text>.*)")
_MARKS = {
    " ": TaskState.PENDING,
    ">": TaskState.IN_PROGRESS,
    "x": TaskState.COMPLETED,
    "X": TaskState.COMPLETED,
    "-": TaskState.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan and the session it says it belongs to."""

    plan: Plan
    session_id: str
    """As its `session:` line has it, else the first eight characters, from the file's name."""

    def is_of(self, session_id: str) -> bool:
        if len(self.session_id) > 8:
            return session_id == self.session_id
        return bool(self.session_id) and session_id.startswith(self.session_id)


def task_state(status: str) -> TaskState:
    """The state that a `status` column or field names."""
    try:
        return TaskState(status)
    except ValueError:
        return TaskState.UNKNOWN


def read_plan(path: Path) -> PlanFile:
    """The plan in the file at `path`; a file over 1 MiB is read up to there.

    Raises SourceUnreadable.
    """
    with opened(path) as file:
        text = decoded(file.read(_LONGEST))
    tasks = tuple(
        Task(match["text"].strip(), _MARKS.get(match["mark"], TaskState.UNKNOWN))
        for line in text.splitlines()
        if (match := _TASK.fullmatch(line))
    )
    plan = Plan(f"plans/{path.name}", tasks, _header(text, "updated"), text)
    return PlanFile(plan, _header(text, "session") or path.stem.partition("-")[2][:8])


def _header(text: str, name: str) -> str:
    match = re.search(rf"^{name}:[ \t]*(.*)$", text, re.MULTILINE)
    return match[1].strip() if match else ""
