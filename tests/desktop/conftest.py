"""A screen of our own for windows to appear on, and hands to close them with."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import pytest

from tests.programs import PATIENCE


@dataclass(frozen=True)
class Screen:
    """An X server that nobody sees."""

    name: str
    """As in DISPLAY."""

    def window(self, title: str) -> int:
        """The id of the visible window of that title, once there is one."""
        found = self._xdotool("search", "--sync", "--onlyvisible", "--name", f"^{title}$")
        return int(found.split()[-1])

    def titles(self) -> list[str]:
        """The titles of all visible windows."""
        ids = self._xdotool("search", "--onlyvisible", "--name", ".").split()
        return [self._xdotool("getwindowname", one).strip() for one in ids]

    def size(self, window: int) -> tuple[int, int]:
        """Width and height of a window."""
        lines = self._xdotool("getwindowgeometry", "--shell", str(window)).splitlines()
        values = dict(line.split("=") for line in lines)
        return int(values["WIDTH"]), int(values["HEIGHT"])

    def ask_to_close(self, window: int) -> None:
        """What the cross in a window's corner does: there is no window manager here to do it."""
        x = ctypes.CDLL(ctypes.util.find_library("X11"))
        x.XOpenDisplay.restype = ctypes.c_void_p
        display = ctypes.c_void_p(x.XOpenDisplay(self.name.encode()))
        event = _ClientMessage(
            type=33,
            display=display,
            window=window,
            message_type=x.XInternAtom(display, b"WM_PROTOCOLS", 0),
            format=32,
        )
        event.data[0] = x.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
        x.XSendEvent(display, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(event))
        x.XCloseDisplay(display)

    def _xdotool(self, *arguments: str) -> str:
        done = subprocess.run(
            ["xdotool", *arguments],
            check=False,  # finding nothing is an answer
            env={**os.environ, "DISPLAY": self.name},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        return done.stdout


class _ClientMessage(ctypes.Structure):
    """XClientMessageEvent, filled up to the size of an XEvent."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
        ("rest", ctypes.c_long * 24),
    )


@pytest.fixture
def screen() -> Iterator[Screen]:
    """A fresh one for each test: a window of the test before may take a moment to go."""
    if sys.platform != "linux":
        pytest.skip("windows are tested on an X server")
    for program in ("Xvfb", "xdotool"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not on this machine")
    if find_spec("qtpy") is None:
        pytest.skip("the desktop extra is not installed")
    ours, theirs = os.pipe()
    # It takes a free number by itself, and says which once it is ready.
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=[theirs],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    with server, os.fdopen(ours) as number:
        try:
            yield Screen(f":{number.readline().strip()}")
        finally:
            server.terminate()
