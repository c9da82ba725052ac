"""From a write in the folder to the names that the open windows hear."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.background.hub import Window
from app.background.watch import Mode
from app.services.live import Live, key_of, signals, topic
from app.sources import open_folder
from app.sources.changes import Changes
from tests.builders import SESSION, SessionData, human, make_store, record, write_records

PATIENCE = 20.0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_store(tmp_path / "project", [SessionData(runs=([human("hello")],))])


@pytest.fixture
def live(project: Path) -> Iterator[Live]:
    with closing(Live(open_folder(project))) as live:
        live.start()
        yield live


@pytest.fixture
def window(live: Live) -> Window:
    window = live.hub.open(live.hub.seen)
    assert window
    return window


def heard(window: Window, name: str) -> set[str]:
    """All that is heard until `name` is; fails when it never is."""
    names: set[str] = set()
    until = time.monotonic() + PATIENCE
    while name not in names:
        assert time.monotonic() < until, f"never heard {name}, only {names}"
        names.update(window.next(0.5).names)
    return names


def test_a_message_saved_is_heard_as_one_of_its_session(project: Path, window: Window) -> None:
    with closing(sqlite3.connect(project / ".harness9" / "sessions.db")) as db:
        db.execute(
            "INSERT INTO messages (session_id, role, content, created_at)"
            " VALUES (?, 'user', 'x', 1)",
            (SESSION,),
        )
        db.commit()

        names = heard(window, topic("messages", SESSION))

    assert "folder" in names
    assert topic("compactions", SESSION) not in names


def test_a_record_appended_is_heard_as_a_compaction(project: Path, window: Window) -> None:
    write_records(project / ".harness9", SessionData(records=[record()]))

    heard(window, topic("compactions", SESSION))


def test_a_store_made_while_the_folder_is_open_is_heard_of(tmp_path: Path) -> None:
    project = tmp_path / "new"
    project.mkdir()
    with closing(Live(open_folder(project))) as live:
        live.start()
        window = live.hub.open(live.hub.seen)
        assert window

        make_store(project, [SessionData(runs=([human("hello")],))])

        heard(window, topic("messages", SESSION))


def test_a_session_deleted_and_written_again_is_never_told_of_while_it_is_empty(
    project: Path, window: Window
) -> None:
    with closing(sqlite3.connect(project / ".harness9" / "sessions.db")) as db:
        db.execute("DELETE FROM messages")
        db.commit()
        while_empty = window.next(0.2).names
        db.execute(
            "INSERT INTO messages (session_id, role, content, created_at)"
            " VALUES (?, 'user', '[Context Compaction]', 1)",
            (SESSION,),
        )
        db.commit()

        heard(window, topic("messages", SESSION))

    assert topic("messages", SESSION) not in while_empty


def test_a_session_that_stays_empty_is_believed(project: Path, window: Window) -> None:
    with closing(sqlite3.connect(project / ".harness9" / "sessions.db")) as db:
        db.execute("DELETE FROM messages")
        db.commit()

        heard(window, topic("messages", SESSION))


def test_the_state_tells_whether_it_is_watched(project: Path) -> None:
    live = Live(open_folder(project))
    before = live.state
    live.start()
    hub = live.hub
    window = hub.open("")
    assert window
    heard(window, "resync")
    during = live.state
    live.close()

    assert before is None
    assert during is not None
    assert live.state is not None
    assert live.state.mode is Mode.NOT


@pytest.mark.parametrize("session_id", ["a b\nc", "../x", "", "\udcff", "会话"])
def test_a_signal_is_a_plain_word_whatever_the_id(session_id: str) -> None:
    assert topic("messages", session_id).replace("-", "").isalnum()
    assert topic("messages", session_id).isascii()
    assert key_of(session_id) != key_of(session_id + "x")


def test_what_is_not_explained_may_concern_every_session() -> None:
    assert set(signals(Changes(unexplained=True))) == {"folder", "messages", "plans"}
    assert list(signals(Changes())) == []
