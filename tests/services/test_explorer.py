from __future__ import annotations

from pathlib import Path

from app.services import build
from app.services.explorer import FEW, overview
from app.services.vitals import badge_of, vitals_of
from tests.builders import STARTED, SessionData, human, make_store, record, result, says
from tests.services.conftest import Opened


def test_a_session_is_called_by_its_first_human_line(opened: Opened) -> None:
    services = opened(
        SessionData(
            runs=([says("hello"), result("x", "no human"), human("\n  Port the\treport \nmore")],)
        )
    )

    (row,) = services.overview().groups[0].sessions

    assert row.title == "Port the report"


def test_a_session_without_a_human_line_is_called_by_its_id(opened: Opened) -> None:
    (row,) = (
        opened(SessionData(id="deadbeef-1", runs=([says("hi")],))).overview().groups[0].sessions
    )

    assert row.title == "Session deadbeef"


def test_compactions_are_counted_by_tier_and_drawn_newest_last(opened: Opened) -> None:
    tiers = [1] * 9 + [2, 4, 3]
    records = tuple(record(tier=tier, error="failed" if tier == 4 else "") for tier in tiers)

    seen = opened(SessionData(runs=([human("go")],), records=records)).overview()
    (row,) = seen.groups[0].sessions

    assert [(tier.key, tier.count) for tier in row.tiers] == [
        ("warn", 9),
        ("soft", 1),
        ("full", 1),
        ("emergency", 1),
    ]
    assert row.marks == ("warn",) * 7 + ("soft", "emergency", "full")
    assert (row.compactions, row.errors) == (12, 1)
    assert seen.tiers == row.tiers


def test_a_damaged_record_file_is_a_problem_with_its_line(opened: Opened) -> None:
    seen = opened(SessionData(runs=([human("go")],), records=b"{broken\n")).overview()

    (problem,) = seen.problems
    (row,) = seen.groups[0].sessions
    assert problem.line == 1
    assert problem.path.endswith(".jsonl")
    assert (row.errors, row.errors_say) == (1, "1 line of the record file cannot be read")


def test_what_nothing_ties_to_the_folder_stands_apart(tmp_path: Path) -> None:
    make_store(tmp_path / "home", [SessionData(runs=([human("elsewhere")],))])
    (tmp_path / "project" / ".harness9").mkdir(parents=True)

    seen = build(tmp_path / "project", tmp_path / "home").overview()

    assert [(group.key, group.is_open) for group in seen.groups] == [("home", True)]
    assert seen.sessions == 0


def test_ages_are_reckoned_from_now(opened: Opened) -> None:
    services = opened(SessionData(runs=([human("go")],)))
    now = STARTED + 60 + 3 * 86_400

    seen = overview(services.workspace, lambda info: badge_of(services.session(info.id)), now)

    (row,) = seen.groups[0].sessions
    assert (row.updated, row.updated_short) == ("3 days ago", "3 d")


def test_a_change_on_disk_is_seen_at_once(tmp_path: Path) -> None:
    data = SessionData(runs=([human("go")],), records=(record(),))
    root = make_store(tmp_path / "project", [data])
    services = build(root)
    first = services.session(data.id)
    assert services.session(data.id) is first

    path = root / ".harness9" / "compaction_records" / f"{data.id}.jsonl"
    path.write_bytes(path.read_bytes() * 2)

    assert len(services.session(data.id).records.lines) == 2
    assert services.overview().compactions == 2


def test_a_long_list_comes_without_badges(opened: Opened) -> None:
    many = [SessionData(id=f"{number:08}-x", runs=([human("go")],)) for number in range(FEW + 1)]

    rows = opened(*many).overview().groups[0].sessions

    assert {row.badge for row in rows} == {None}


def test_the_context_window_is_solved_from_the_records(corpus: Path) -> None:
    services = build(corpus / "coding-home/project", corpus / "coding-home/home")

    vitals = vitals_of(services.session("383b43d3-ec49-4793-89e5-c64337493ea3"))

    assert (vitals.badge.key, vitals.window) == ("view", "39.4K")
    assert vitals.share is not None
    assert 1.2 < vitals.share < 1.25


def test_a_window_that_no_record_tells_is_left_open(opened: Opened) -> None:
    data = SessionData(runs=([human("go")],))

    vitals = vitals_of(opened(data).session(data.id))

    assert (vitals.window, vitals.share) == ("", None)
