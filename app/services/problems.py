"""What went wrong in a session: the anti-patterns, and what its files could not tell."""

from __future__ import annotations

from app.services.recompact import default_choice
from app.sources.model import Damage, Session
from compaction.antipatterns import (
    Problem,
    Severity,
    in_messages,
    in_records,
    in_session,
    in_settings,
)


def problems(session: Session) -> list[Problem]:
    """Everything found, the worst first; within one severity in the order of the rules."""
    records, messages = session.records.records, session.messages
    found = [*in_records(records), *in_messages(messages), *in_session(messages, records)]
    if records:
        # Without records nothing tells which settings were in force.
        found += in_settings(default_choice(session).settings)
    found += [_damaged(damage) for damage in (*session.damage, *session.records.damage)]
    return sorted(found, key=lambda problem: problem.severity is not Severity.ERROR)


def _damaged(damage: Damage) -> Problem:
    place = f"{damage.path.name}, line {damage.line}" if damage.line else damage.path.name
    return Problem(
        "damaged-data",
        Severity.WARNING,
        f"{place}: {damage.says}",
        "What could be read is shown; the rest of this is not.",
    )
