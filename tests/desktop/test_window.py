"""The window: it appears, it ends with its program and its program with it, and never by itself."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue

import pytest

from app.desktop.host import serving
from app.desktop.launcher import Event, WindowProcess
from tests.desktop.conftest import Screen
from tests.programs import PATIENCE, URL, complained, program, status_of, stopped

pytestmark = pytest.mark.window

TITLE = "billing - Anchorline"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "billing"
    folder.mkdir()
    return folder


@pytest.fixture
def on_screen(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("DISPLAY", screen.name)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return screen


@contextmanager
def expected_to_end(*pids: int) -> Iterator[None]:
    """The processes that run before have ended afterwards, whoever is their parent by then."""
    with ExitStack() as handles:
        ends = []
        for pid in pids:
            with suppress(ProcessLookupError):
                ends.append(os.pidfd_open(pid))
                handles.callback(os.close, ends[-1])
        assert ends
        yield
        for end in ends:
            poll = select.poll()
            poll.register(end, select.POLLIN)
            assert poll.poll(PATIENCE * 1000)


def descendants(pid: int) -> list[int]:
    """All processes below one, the nearest first."""
    found = [pid]
    parents = dict(_parents())
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def _parents() -> Iterator[tuple[int, int]]:
    """Every process with its parent."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            # The name, in parentheses, may hold anything.
            fields = status.read_text("utf-8", "replace").rpartition(")")[2].split()
            yield int(status.parent.name), int(fields[1])


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_the_window_says_when_it_has_appeared(on_screen: Screen, folder: Path) -> None:
    events: SimpleQueue[Event] = SimpleQueue()

    with serving(folder, None) as url, closing(WindowProcess(url, TITLE, events.put)) as window:
        first = events.get(timeout=PATIENCE)
        window.close()

        assert (first, events.get(timeout=PATIENCE)) == (Event.SHOWN, Event.ENDED)
        assert window.was_closed
    assert TITLE not in on_screen.titles()


def test_closing_the_window_ends_the_program_with_success(on_screen: Screen, folder: Path) -> None:
    with program(folder) as anchorline:
        window = on_screen.window(TITLE)
        size = on_screen.size(window)

        on_screen.ask_to_close(window)

        code = anchorline.wait(PATIENCE)
        output = anchorline.communicate()
    assert code == 0
    assert output == ("", "")
    assert size == (1280, 800)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_stopping_the_program_closes_the_window(
    by: signal.Signals, on_screen: Screen, folder: Path
) -> None:
    with program(folder) as anchorline:
        on_screen.window(TITLE)

        with expected_to_end(*descendants(anchorline.pid)):
            code = stopped(anchorline, by)

    assert code == 0
    assert TITLE not in on_screen.titles()


def test_the_window_does_not_outlive_a_program_that_was_killed(
    on_screen: Screen, folder: Path
) -> None:
    with program(folder) as anchorline:
        on_screen.window(TITLE)

        with expected_to_end(*descendants(anchorline.pid)):
            anchorline.kill()

    assert TITLE not in on_screen.titles()


def test_the_key_stands_in_no_command_line(on_screen: Screen, folder: Path) -> None:
    with program(folder) as anchorline:
        on_screen.window(TITLE)

        lines = [command_line(one) for one in (anchorline.pid, *descendants(anchorline.pid))]

    assert any("window.py" in line for line in lines)
    assert not any("token" in line for line in lines)


def test_a_window_that_dies_leaves_the_pages_to_the_browser(
    on_screen: Screen, folder: Path
) -> None:
    with program(folder, BROWSER="true") as anchorline:
        on_screen.window(TITLE)

        os.kill(descendants(anchorline.pid)[0], signal.SIGKILL)

        line = complained(anchorline)
        assert "its process ended with code -9" in line
        assert status_of(URL.findall(line)[0]) in (200, 302, 303)
        assert stopped(anchorline) == 0


def test_a_display_that_cannot_be_reached_is_named(on_screen: Screen, folder: Path) -> None:
    with program(folder, DISPLAY=":9999", BROWSER="true") as anchorline:
        line = complained(anchorline)

        assert line.startswith("anchorline: no window (its process ended with code")
        assert ":9999" in line
        assert stopped(anchorline) == 0


def test_a_folder_may_hold_packages_named_like_ours(on_screen: Screen, folder: Path) -> None:
    for name in ("app", "json", "webview"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise SystemExit('the wrong one')")

    with program(".", cwd=folder) as anchorline:
        window = on_screen.window(TITLE)
        on_screen.ask_to_close(window)

        assert anchorline.wait(PATIENCE) == 0
