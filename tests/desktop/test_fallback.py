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
    ("wanted", "reason"),
    [
        # What a system without the libraries of a Qt that is installed says.
        ("", "its web view cannot be loaded: libEGL.so.1: cannot open shared object file"),
        ("gtk", "no web view is installed: pip install 'anchorline[desktop]'"),
    ],
    ids=["a library is missing", "nothing is installed"],
)
def test_a_missing_web_view_is_told_apart_from_a_missing_display(
    wanted: str, reason: str, tmp_path: Path
) -> None:
    broken = "raise ImportError('libEGL.so.1: cannot open shared object file')\n"
    for name in ("qtpy", "gi"):
        (tmp_path / f"{name}.py").write_text(broken)
    modules = os.pathsep.join(map(str, (tmp_path, CHECKOUT)))

    with program(
        tmp_path, DISPLAY=":9999", BROWSER="true", PYTHONPATH=modules, PYWEBVIEW_GUI=wanted
    ) as anchorline:
        line = complained(anchorline)

        assert line.startswith(f"anchorline: no window ({reason}); opening http")
        assert stopped(anchorline) == 0
