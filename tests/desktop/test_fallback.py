"""Where there can be no window: one clear line, the default browser, and the same pages."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.programs import CHECKOUT, PATIENCE, URL, complained, program, status_of, stopped

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is a display")

MISSING = "libEGL.so.1: cannot open shared object file"
NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}


@dataclass(frozen=True)
class Browser:
    """A browser that tells which address it was given."""

    command: str
    """As in BROWSER."""
    answers: int

    def opened(self) -> str:
        """The address, once it was given one."""
        ready, _, _ = select.select([self.answers], [], [], PATIENCE)
        return os.read(self.answers, 4096).decode().strip() if ready else ""


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    pipe, script = tmp_path / "pipe", tmp_path / "browser"
    os.mkfifo(pipe)
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" > "{pipe}"\n')
    script.chmod(0o700)
    answers = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    yield Browser(f"{script} %s", answers)
    os.close(answers)


def test_without_a_display_one_line_says_so_and_the_pages_are_served(tmp_path: Path) -> None:
    with program(tmp_path, **NO_DISPLAY, BROWSER="") as anchorline:
        line = complained(anchorline)
        status = status_of(URL.findall(line)[0])

        code = stopped(anchorline)
        rest = anchorline.communicate()

    assert line.startswith("anchorline: no window (there is no display here); open http://")
    assert status in (200, 302, 303)
    assert code == 0
    assert rest == ("", "")


def test_the_default_browser_gets_the_address_with_the_key(
    tmp_path: Path, browser: Browser
) -> None:
    with program(tmp_path, **NO_DISPLAY, BROWSER=browser.command) as anchorline:
        line = complained(anchorline)

        assert "in your browser" in line
        assert browser.opened() == URL.findall(line)[0]
        assert stopped(anchorline) == 0


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (("gi.py", "qtpy.py"), "no web view is installed: pip install 'anchorline[desktop]'"),
        (
            ("gi.py", "qtpy.py", "PySide6/QtWebEngineWidgets.py"),
            f"its web view cannot be loaded: {MISSING}",
        ),
    ],
    ids=["nothing is installed", "a library of the system is missing"],
)
def test_a_missing_web_view_is_told_apart_from_a_missing_display(
    broken: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    modules = tmp_path / "modules"
    (modules / "PySide6").mkdir(parents=True)
    for name in ("__init__", "QtWebEngineCore", "QtWebEngineWidgets"):
        (modules / "PySide6" / f"{name}.py").touch()
    for name in broken:
        (modules / name).write_text(f"raise ImportError({MISSING!r})\n")
    path = os.pathsep.join(map(str, (modules, CHECKOUT)))

    with program(tmp_path, DISPLAY=":9999", BROWSER="true", PYTHONPATH=path) as anchorline:
        line = complained(anchorline)

        assert line.startswith(f"anchorline: no window ({reason}); opening http")
        assert stopped(anchorline) == 0
