from __future__ import annotations

from app.services.findings import SHOWN, findings_of
from app.services.problems import problems
from tests.builders import SessionData, human, record
from tests.services.conftest import Opened


def test_findings_are_those_of_the_check_errors_and_warnings_apart(opened: Opened) -> None:
    records = tuple(record(tier=4, msgs_after=2) for _ in range(30))
    services = opened(SessionData(id="s1", runs=([human("go")],), records=records))
    session = services.session("s1")

    seen = findings_of(session)

    assert seen.count == len(problems(session))
    assert {finding.rule for finding in seen.errors} >= {"emergency-loop"}
    assert all(finding.rule for finding in seen.warnings)


def test_of_many_places_the_first_are_shown_and_the_rest_counted(opened: Opened) -> None:
    records = tuple(record(tier=4, msgs_after=2) for _ in range(SHOWN + 5))
    session = opened(SessionData(id="s1", runs=([human("go")],), records=records)).session("s1")

    loop = next(f for f in findings_of(session).errors if f.rule == "emergency-loop")

    assert len(loop.where) == SHOWN
    assert loop.where[0] == 1
    assert loop.more == 5
