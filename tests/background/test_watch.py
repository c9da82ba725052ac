"""The watcher, on real files: what a writer does is noticed, what we do ourselves is not."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from app.background.watch import Mode, Pace, Place, Seen, State, Watcher
from tests.builders import SessionData, human, make_store

NAME = ".harness9"
PATIENCE = 20.0
WRITER = Path(__file__).parents[1] / "sources" / "writer.py"

# Never looks unless it was told: what these tests see was noticed.
TOLD = Pace(quiet=0.02, latest=0.1, settle=0.02, backstop=3600)
BLIND = Pace(quiet=0.02, latest=0.1, poll=0.05, backstop=0.05, grace=0.05)


class Looks:
    """Stands for the look at the files: counts, and finds what it is told to find."""

    def __init__(self, finds: Callable[[], Seen] = lambda: Seen.CHANGE) -> None:
        self.finds = finds
        self.count = 0
        self._changed = threading.Condition()

    def __call__(self) -> Seen:
        with self._changed:
            self.count += 1
            self._changed.notify_all()
        return self.finds()

    def wait_past(self, count: int) -> bool:
        """Whether there were more than `count` before the patience ended."""
        with self._changed:
            return self._changed.wait_for(lambda: self.count > count, PATIENCE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_store(tmp_path / "project", [SessionData(runs=([human("hello")],))])


@pytest.fixture
def store(project: Path) -> Path:
    return project / NAME


@pytest.fixture
def looks() -> Looks:
    return Looks()


Started = Callable[..., Watcher]


@pytest.fixture
def started(looks: Looks) -> Iterator[Started]:
    """Starts a watcher over folders, and waits until it has taken its first look."""
    watchers: list[Watcher] = []

    def start(*folders: Path, pace: Pace = TOLD, **options: Any) -> Watcher:
        places = tuple(Place(folder, NAME) for folder in folders)
        watchers.append(Watcher(places, looks, pace=pace, **options))
        assert looks.wait_past(0)
        if pace is TOLD:
            settle(looks)
        return watchers[-1]

    yield start

    for one in watchers:
        one.close()


def settle(looks: Looks) -> None:
    """Wait until whatever was under way has been looked into."""
    count = -1
    while count != looks.count:
        count = looks.count
        time.sleep(0.25)


def noticed(looks: Looks, act: Callable[[], object]) -> bool:
    """Whether what `act` does leads to a look."""
    settle(looks)
    before = looks.count
    act()
    return looks.wait_past(before)


def test_an_append_is_noticed(started: Started, looks: Looks, store: Path) -> None:
    records = store / "compaction_records" / "a.jsonl"
    records.parent.mkdir()
    records.write_bytes(b"")
    watcher = started(store.parent)

    def append() -> None:
        with records.open("ab") as file:
            file.write(b'{"id":')

    assert watcher.state == State(Mode.WATCHING)
    assert noticed(looks, append)
    assert noticed(looks, append), "and the rest of the line too"


@pytest.mark.parametrize("way", ["truncate", "replace", "delete", "delete, and back"])
def test_every_way_of_changing_a_file_is_noticed(
    started: Started, looks: Looks, store: Path, way: str
) -> None:
    file = store / "plans" / "plan.md"
    file.parent.mkdir()
    file.write_text("- [ ] one\n")
    started(store.parent)

    def replace() -> None:
        beside = file.with_name("plan.new")
        beside.write_text("- [x] one\n")
        beside.replace(file)

    def delete_and_back() -> None:
        file.unlink()
        file.write_text("- [ ] one\n")

    ways: dict[str, Callable[[], object]] = {
        "truncate": lambda: os.truncate(file, 0),
        "replace": replace,
        "delete": file.unlink,
        "delete, and back": delete_and_back,
    }
    assert noticed(looks, ways[way])


def test_files_in_folders_made_later_are_noticed(
    started: Started, looks: Looks, store: Path
) -> None:
    started(store.parent)
    folder = store / "tool_results" / "some-session"

    assert noticed(looks, lambda: folder.mkdir(parents=True))
    assert noticed(looks, lambda: (folder / "c1.txt").write_text("a result"))


def test_a_store_made_later_is_watched_from_then_on(
    started: Started, looks: Looks, tmp_path: Path
) -> None:
    project = tmp_path / "new"
    project.mkdir()
    watcher = started(project)

    assert noticed(looks, (project / NAME).mkdir)
    settle(looks)
    assert noticed(looks, lambda: (project / NAME / "sessions.db").write_bytes(b"x"))
    assert watcher.state.mode is Mode.WATCHING


def test_a_store_deleted_and_made_again_is_still_watched(
    started: Started, looks: Looks, store: Path
) -> None:
    started(store.parent)

    assert noticed(looks, lambda: shutil.rmtree(store))
    assert noticed(looks, store.mkdir)
    settle(looks)
    assert noticed(looks, lambda: (store / "sessions.db").write_bytes(b"x"))


def test_a_store_replaced_by_another_is_watched(
    started: Started, looks: Looks, store: Path, tmp_path: Path
) -> None:
    other = make_store(tmp_path / "other", [SessionData(runs=([human("other")],))]) / NAME
    started(store.parent)

    def swap() -> None:
        store.rename(tmp_path / "gone")
        other.rename(store)

    assert noticed(looks, swap)
    settle(looks)
    assert noticed(looks, lambda: (store / "state.db").write_bytes(b"x"))


def test_what_happens_beside_the_store_is_not_looked_into(
    started: Started, looks: Looks, project: Path
) -> None:
    started(project)
    before = looks.count

    (project / "main.py").write_text("print()")
    (project / "src").mkdir()
    settle(looks)

    assert looks.count == before


def test_the_commits_of_another_process_are_noticed(
    started: Started, looks: Looks, store: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, str(WRITER), str(store / "sessions.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdin
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
        started(store.parent)

        def wish(what: str) -> Callable[[], object]:
            def act() -> None:
                assert writer.stdin
                assert writer.stdout
                print(what, file=writer.stdin, flush=True)
                assert writer.stdout.readline() == "done\n"

            return act

        assert noticed(looks, wish("add"))
        assert noticed(looks, wish("add")), "which only lengthens the -wal"
        assert noticed(looks, wish("checkpoint"))


def test_looking_at_the_files_is_no_change(started: Started, looks: Looks, store: Path) -> None:
    def look_closely() -> None:
        for path in store.rglob("*"):
            if path.is_file():
                path.read_bytes()
        uri = f"{(store / 'sessions.db').as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as db:
            db.execute("SELECT count(*) FROM messages").fetchone()

    started(store.parent)
    before = looks.count

    look_closely()
    settle(looks)

    assert looks.count == before


def test_a_busy_writer_does_not_put_the_look_off_for_ever(looks: Looks, store: Path) -> None:
    pace = Pace(quiet=5, latest=0.2, backstop=3600)
    with closing(Watcher((Place(store.parent, NAME),), looks, pace=pace)):
        assert looks.wait_past(0)
        before = looks.count
        until = time.monotonic() + PATIENCE
        while looks.count == before and time.monotonic() < until:
            (store / "state.db").write_bytes(b"again")
            time.sleep(0.01)

        assert looks.count > before


def test_a_change_half_done_is_looked_at_again(store: Path) -> None:
    looks = Looks(lambda: Seen.UNSETTLED)
    pace = Pace(quiet=0.02, latest=0.1, settle=0.02, backstop=3600)
    with closing(Watcher((Place(store.parent, NAME),), looks, pace=pace)):
        assert looks.wait_past(3)


def test_a_look_that_fails_does_not_end_the_watch(
    looks: Looks, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> Seen:
        raise ValueError("odd data")

    looks.finds = fail
    with closing(Watcher((Place(store.parent, NAME),), looks, pace=TOLD)):
        assert looks.wait_past(0)
        assert noticed(looks, lambda: (store / "state.db").write_bytes(b"x"))

    assert "odd data" in caplog.text


class Exhausted(BaseObserver):
    """An observer on a machine that has no watches left."""

    number = errno.ENOSPC

    def __init__(self) -> None:
        raise OSError(self.number, os.strerror(self.number))


class TooManyFiles(Exhausted):
    number = errno.EMFILE


@pytest.mark.parametrize("observer", [Exhausted, TooManyFiles])
def test_without_notices_the_files_are_looked_at_regularly(
    started: Started, looks: Looks, store: Path, observer: type[Exhausted]
) -> None:
    said: list[State] = []

    watcher = started(store.parent, observer=observer, pace=BLIND, told=said.append)

    assert looks.wait_past(looks.count + 3)
    expected = State(Mode.POLLING, os.strerror(observer.number).lower(), BLIND.poll)
    assert watcher.state == expected
    assert said == [expected]


def test_a_file_system_that_sends_no_notices_is_found_out(store: Path) -> None:
    def deaf() -> BaseObserver:
        observer = Observer()
        observer.schedule = lambda *_args, **_options: None  # type: ignore[assignment]
        return observer

    looks = Looks()
    with closing(
        Watcher((Place(store.parent, NAME),), looks, observer=deaf, pace=BLIND)
    ) as watcher:
        until = time.monotonic() + PATIENCE
        while watcher.state.mode is not Mode.POLLING and time.monotonic() < until:
            time.sleep(0.02)

        assert watcher.state.why == "the file system sends no notices of changes"


def test_a_folder_without_changes_is_never_suspected(
    started: Started, looks: Looks, store: Path
) -> None:
    looks.finds = lambda: Seen.NOTHING
    watcher = started(store.parent, pace=BLIND)

    assert looks.wait_past(looks.count + 5)
    assert watcher.state.mode is Mode.WATCHING


def test_closing_ends_it_and_may_be_done_twice(looks: Looks, store: Path) -> None:
    watcher = Watcher((Place(store.parent, NAME),), looks, pace=TOLD)
    assert looks.wait_past(0)

    watcher.close()
    watcher.close()
    count = looks.count
    (store / "state.db").write_bytes(b"x")
    settle(looks)

    assert looks.count == count
    assert watcher.state.mode is Mode.NOT
