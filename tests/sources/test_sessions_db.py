"""Session databases of every schema and state are read, and nothing in their folder changes."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import SourceBusy, SourceUnreadable
from app.sources import sessions_db
from app.sources.model import Task, TaskState
from app.sources.sessions_db import overviews, stored
from app.sources.untouched import Access, access, look, reading
from compaction.tokens import estimate
from tests.builders import (
    PLANS_SCHEMA,
    SESSION,
    STARTED,
    TODOS_SCHEMA,
    SessionData,
    call,
    human,
    make_database,
    result,
    says,
    traces,
)
from tests.sources.conftest import Writer

TALK = (
    human("\n  Mend the bridge 🌉\nplease"),
    says("I will look.", call("c1", "read_file", '{"path":"\\u003cx\\u003e","n":1.0}')),
    result("c1", "漢字 and more"),
    says("Done."),
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make_database(tmp_path / "a b#c?%20" / "sessions.db", [SessionData(runs=[TALK])])


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def messages(path: Path, session_id: str = SESSION) -> tuple[object, ...]:
    found = stored(path, session_id)
    assert found is not None
    return tuple(row.message for row in found.rows)


def test_rows_are_read_as_they_are_stored(database: Path) -> None:
    found = stored(database, SESSION)

    assert found is not None
    assert tuple(row.message for row in found.rows) == TALK
    assert {row.created_at for row in found.rows} == {STARTED}
    assert found.damage == ()


def test_the_overview_counts_bytes_and_names_the_first_human_line(database: Path) -> None:
    (found,) = overviews(database)

    assert (found.id, found.title, found.messages) == (SESSION, "Mend the bridge 🌉", 4)
    assert found.tokens == estimate(TALK)


def test_a_compaction_message_is_no_title(tmp_path: Path) -> None:
    run = (human("[Context Compaction]\n## Anchors"), human("And now?"))
    path = make_database(tmp_path / "sessions.db", [SessionData(runs=[run])])

    assert [one.title for one in overviews(path)] == ["And now?"]


def test_rows_are_ordered_by_id_whatever_their_time(database: Path) -> None:
    execute(database, "UPDATE messages SET created_at = 100 - id")

    assert messages(database) == TALK


def test_an_unknown_session_is_none(database: Path) -> None:
    assert stored(database, "../../etc/passwd") is None


OLD_AND_PARTIAL = {
    "no sessions table": "DROP TABLE sessions",
    "no tool_calls": "ALTER TABLE messages DROP COLUMN tool_calls",
    "no created_at": "ALTER TABLE messages DROP COLUMN created_at",
    "an unknown column": "ALTER TABLE messages ADD COLUMN is_error INTEGER",
    "an unknown table": "CREATE VIRTUAL TABLE messages_fts USING fts5(session_id, role, content)",
}


@pytest.mark.parametrize("change", OLD_AND_PARTIAL.values(), ids=OLD_AND_PARTIAL.keys())
def test_what_is_there_is_read(database: Path, change: str) -> None:
    execute(database, change)

    found = stored(database, SESSION)

    assert found is not None
    assert [row.message.content for row in found.rows] == [m.content for m in TALK]
    assert [one.messages for one in overviews(database)] == [4]


@pytest.mark.parametrize("tables", ["DROP TABLE messages", "DROP TABLE sessions"])
def test_a_database_with_half_of_its_tables_still_lists_the_session(
    database: Path, tables: str
) -> None:
    execute(database, "PRAGMA foreign_keys = OFF", tables)

    assert [one.id for one in overviews(database)] == [SESSION]


def test_a_foreign_database_holds_no_sessions(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    execute(path, "CREATE TABLE missions (id TEXT)", "CREATE VIEW messages AS SELECT 1 AS role")

    assert overviews(path) == ()
    assert stored(path, SESSION) is None


def test_an_empty_file_holds_no_sessions(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.touch()

    assert overviews(path) == ()


def test_invalid_utf8_loses_no_byte(database: Path) -> None:
    execute(database, "UPDATE messages SET content = CAST(x'61ff62' AS TEXT) WHERE id = 1")

    assert messages(database)[0] == human("a\udcffb")


def test_a_malformed_call_cell_is_damage_of_that_row_only(database: Path) -> None:
    execute(database, "UPDATE messages SET tool_calls = '[{' WHERE id = 2")

    found = stored(database, SESSION)

    assert found is not None
    assert [bool(row.damage) for row in found.rows] == [False, True, False, False]
    assert found.rows[1].message == says("I will look.")
    assert "Message 2 in sessions.db" in found.damage[0].says


def test_todos_and_plans_are_read(tmp_path: Path) -> None:
    path = make_database(
        tmp_path / "sessions.db", [SessionData(runs=[TALK])], TODOS_SCHEMA + PLANS_SCHEMA
    )
    execute(
        path,
        f"INSERT INTO session_todos VALUES ('b', '{SESSION}', 'second', 'done?', 1)",
        f"INSERT INTO session_todos VALUES ('a', '{SESSION}', 'first', 'completed', 0)",
        f"""INSERT INTO session_plans VALUES ('{SESSION}',
            '[{{"content": "third", "status": "in_progress"}}]', 7)""",
    )

    found = stored(path, SESSION)

    assert found is not None
    assert [(plan.origin, plan.tasks) for plan in found.plans] == [
        (
            "session_todos",
            (Task("first", TaskState.COMPLETED), Task("second", TaskState.UNKNOWN)),
        ),
        ("session_plans", (Task("third", TaskState.IN_PROGRESS),)),
    ]


def test_an_unreadable_plan_is_damage(tmp_path: Path) -> None:
    path = make_database(tmp_path / "sessions.db", [SessionData(runs=[TALK])], PLANS_SCHEMA)
    execute(path, f"INSERT INTO session_plans VALUES ('{SESSION}', '{{', 7)")

    found = stored(path, SESSION)

    assert found is not None
    assert found.plans == ()
    assert len(found.damage) == 1


def test_something_else_than_a_database_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes(b"not a database" * 100)

    with pytest.raises(SourceUnreadable, match=r"sessions\.db cannot be read"):
        overviews(path)


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable):
        overviews(tmp_path / "sessions.db")

    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sessions.db")

    with pytest.raises(SourceUnreadable):
        overviews(tmp_path / "sessions.db")


def test_rows_before_a_damaged_page_are_kept(tmp_path: Path) -> None:
    run = tuple(human(f"{n} " + "x" * 900) for n in range(200))
    path = make_database(tmp_path / "sessions.db", [SessionData(runs=[run])])
    with path.open("r+b") as file:
        file.seek(30 * 4096)
        file.write(b"\xee" * 4096)

    found = look(path, lambda db: sessions_db._rows(db, path, SESSION))

    assert 0 < len(found[0]) < 200
    assert "is damaged after" in found[1][0].says


def test_at_rest_nothing_is_touched(database: Path) -> None:
    before = traces(database.parent)

    how = access(database)
    found = messages(database)

    assert (how, found) == (Access.AT_REST, TALK)
    assert traces(database.parent) == before


def test_a_live_writers_commits_are_seen_and_nothing_is_touched(
    database: Path, writer: Callable[[Path], Writer]
) -> None:
    agent = writer(database)
    agent.wish("add")
    before = traces(database.parent)

    how = access(database)
    found = messages(database)

    assert (how, found) == (Access.COPY, (*TALK, human("added")))
    assert traces(database.parent) == before
    assert agent.is_running


def test_what_a_crashed_writer_left_is_read_and_stays(
    database: Path, writer: Callable[[Path], Writer]
) -> None:
    agent = writer(database)
    agent.wish("add")
    agent.wish("crash")
    before = traces(database.parent)

    found = messages(database)

    assert found == (*TALK, human("added"))
    assert traces(database.parent) == before
    assert database.with_name("sessions.db-wal").stat().st_size > 0


def test_a_hot_rollback_journal_is_rolled_back_in_the_copy_only(tmp_path: Path) -> None:
    path = make_database(tmp_path / "x" / "sessions.db", [SessionData(runs=[TALK])])
    execute(path, "PRAGMA journal_mode = DELETE")
    torn = tmp_path / "y" / "sessions.db"
    torn.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN")
        db.execute("UPDATE messages SET content = hex(randomblob(90000))")
        for name in ("sessions.db", "sessions.db-journal"):
            (torn.parent / name).write_bytes(path.with_name(name).read_bytes())
    before = traces(torn.parent)

    found = messages(torn)

    assert found == TALK
    assert traces(torn.parent) == before


def test_a_database_too_large_to_copy_is_read_in_place(
    database: Path, writer: Callable[[Path], Writer]
) -> None:
    agent = writer(database)
    agent.wish("add")

    how = access(database, largest_copy=10)
    with reading(database, largest_copy=10) as db:
        count = db.execute("SELECT count(*) FROM messages").fetchone()

    assert (how, count) == (Access.SHARED, (5,))


def test_a_change_during_the_look_is_noticed(database: Path) -> None:
    with pytest.raises(SourceBusy), reading(database):
        execute(database, "DELETE FROM messages")


def test_under_a_busy_writer_every_answer_is_a_committed_state(
    database: Path, writer: Callable[[Path], Writer]
) -> None:
    agent = writer(database)
    agent.wish("race")
    answers = 0

    while answers < 30:
        try:
            found = stored(database, SESSION)
        except SourceBusy:
            continue
        assert found is not None
        pairs = Counter(
            row.message.content for row in found.rows if row.message.content.startswith("pair")
        )
        assert set(pairs.values()) <= {2}
        answers += 1
