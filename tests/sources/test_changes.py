"""What changed between two looks: the session and the kind, and nothing where nothing did."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from app.sources import Workspace, open_folder
from app.sources.changes import Changes, Sight, changes, sight_of
from tests.builders import (
    SESSION,
    SessionData,
    human,
    insert_session,
    make_store,
    record,
    traces,
    write_files,
    write_records,
)

OTHER = "2c0ffee2-0000-4000-8000-000000000002"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    both = [
        SessionData(runs=([human("one")],), records=[record()], files={"c1": "a"}),
        SessionData(id=OTHER, runs=([human("two")],)),
    ]
    return open_folder(make_store(tmp_path / "project", both))


@pytest.fixture
def store(workspace: Workspace) -> Path:
    return workspace.folder / ".harness9"


def execute(store: Path, *statements: str) -> None:
    with closing(sqlite3.connect(store / "sessions.db")) as db:
        for one in statements:
            db.execute(one, (SESSION,))
        db.commit()


def found_after(workspace: Workspace, act: Callable[[], object]) -> Changes:
    before = sight_of(workspace)
    act()
    return changes(before, sight_of(workspace, before))


ADD = "INSERT INTO messages (session_id, role, content, created_at) VALUES (?, 'user', 'more', 1)"
CLEAR = "DELETE FROM messages WHERE session_id = ?"


def test_two_looks_at_the_same_files_find_nothing(workspace: Workspace) -> None:
    assert not found_after(workspace, lambda: None)


def test_looking_leaves_no_trace(workspace: Workspace) -> None:
    before = traces(workspace.folder)

    sight_of(workspace, sight_of(workspace))

    assert traces(workspace.folder) == before


def test_a_new_message_is_a_change_of_its_session_alone(workspace: Workspace, store: Path) -> None:
    found = found_after(workspace, lambda: execute(store, ADD))

    assert found == Changes(messages=frozenset({SESSION}))


def test_rows_replaced_by_as_many_others_are_a_change(workspace: Workspace, store: Path) -> None:
    found = found_after(workspace, lambda: execute(store, CLEAR, ADD))

    assert found == Changes(messages=frozenset({SESSION}))


def test_a_session_that_lost_its_rows_is_told_apart(workspace: Workspace, store: Path) -> None:
    found = found_after(workspace, lambda: execute(store, CLEAR))

    assert found.emptied == {SESSION}


def test_a_new_record_is_a_change_of_compactions(workspace: Workspace, store: Path) -> None:
    data = SessionData(records=[record(), record(id="r2")])

    found = found_after(workspace, lambda: write_records(store, data))

    assert found == Changes(compactions=frozenset({SESSION}))


def test_half_a_record_is_a_change_too(workspace: Workspace, store: Path) -> None:
    def append() -> None:
        with (store / "compaction_records" / f"{SESSION}.jsonl").open("ab") as file:
            file.write(b'{"id":"r2"')

    assert found_after(workspace, append).compactions == {SESSION}


def test_a_new_offload_is_a_change_of_offloads(workspace: Workspace, store: Path) -> None:
    data = SessionData(id=OTHER, files={"c9": "a result"})

    found = found_after(workspace, lambda: write_files(store, data))

    assert found == Changes(offloads=frozenset({OTHER}))


def test_a_plan_is_a_change_of_plans(workspace: Workspace, store: Path) -> None:
    def plan() -> None:
        (store / "plans").mkdir()
        (store / "plans" / "p.md").write_text("- [ ] one\n")

    assert found_after(workspace, plan) == Changes(plans=True)


def test_a_commit_that_changes_no_rows_may_concern_every_session(
    workspace: Workspace, store: Path
) -> None:
    reword = "UPDATE messages SET content = 'other' WHERE session_id = ?"

    assert found_after(workspace, lambda: execute(store, reword)) == Changes(unexplained=True)


def test_the_commits_of_an_open_writer_are_seen(workspace: Workspace, store: Path) -> None:
    with closing(sqlite3.connect(store / "sessions.db", isolation_level=None)) as writer:
        before = sight_of(workspace)
        writer.execute(ADD, (SESSION,))
        first = sight_of(workspace, before)
        writer.execute(ADD, (SESSION,))
        second = sight_of(workspace, first)

    assert changes(before, first).messages == changes(first, second).messages == {SESSION}


def test_a_commit_that_is_rolled_back_changes_nothing(workspace: Workspace, store: Path) -> None:
    with closing(sqlite3.connect(store / "sessions.db", isolation_level=None)) as writer:
        writer.execute(ADD, (SESSION,))
        before = sight_of(workspace)
        writer.execute("BEGIN")
        writer.execute(ADD, (SESSION,))
        writer.execute("ROLLBACK")

        found = changes(before, sight_of(workspace, before))

    assert not found.messages


def test_a_store_that_appears_brings_its_sessions(tmp_path: Path) -> None:
    project = tmp_path / "new"
    project.mkdir()
    workspace = open_folder(project)
    data = SessionData(runs=([human("one")],), records=[record()])

    found = found_after(workspace, lambda: make_store(project, [data]))

    assert found.messages == found.compactions == {SESSION}


def test_a_database_that_becomes_garbage_concerns_all_that_were_in_it(
    workspace: Workspace, store: Path
) -> None:
    found = found_after(workspace, lambda: (store / "sessions.db").write_bytes(b"no database" * 99))

    assert found.messages == {SESSION, OTHER}


def test_nothing_is_read_again_that_looks_the_same(workspace: Workspace, store: Path) -> None:
    first = sight_of(workspace)
    write_files(store, SessionData(files={"c9": "a result"}))

    second = sight_of(workspace, first)

    assert second.databases[store / "sessions.db"] is first.databases[store / "sessions.db"]
    assert sight_of(workspace, Sight()).databases == first.databases


def test_a_session_of_an_odd_id_is_one_like_any_other(workspace: Workspace, store: Path) -> None:
    odd = "a/../b\n\x00 ü"

    def add() -> None:
        with closing(sqlite3.connect(store / "sessions.db")) as db:
            insert_session(db, SessionData(id=odd, runs=([human("x")],)))
            db.commit()

    assert found_after(workspace, add).messages == {odd}
