"""What `problems` found in a session, as its page shows it: by severity, with links to evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.services.explorer import title_of
from app.services.problems import problems
from app.sources.model import Session
from compaction.antipatterns import Problem, Severity

SHOWN = 12
"""Places linked of one finding; an emergency loop may have thousands."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding with the places it was seen at."""

    rule: str
    says: str
    advice: str
    of: str
    """`compaction`, `message`, or empty for the settings or the files."""
    where: tuple[int, ...]
    """The first places, 1-based."""
    more: int
    """Places beyond those."""


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of one session."""

    session_id: str
    title: str
    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]

    @property
    def count(self) -> int:
        """How many, of both severities."""
        return len(self.errors) + len(self.warnings)


def findings_of(session: Session) -> Findings:
    """What went wrong in `session`, by severity."""
    found = problems(session)
    return Findings(
        session.info.id,
        title_of(session.info),
        _of(Severity.ERROR, found),
        _of(Severity.WARNING, found),
    )


def _of(severity: Severity, found: Iterable[Problem]) -> tuple[Finding, ...]:
    return tuple(_finding(problem) for problem in found if problem.severity is severity)


def _finding(problem: Problem) -> Finding:
    where = problem.where[:SHOWN]
    more = len(problem.where) - len(where)
    return Finding(problem.rule, problem.says, problem.advice, problem.of, where, more)
