"""A window in a process of its own, and the person's browser where there can be none.

A missing display, or Chromium started as root, ends a process: nothing is raised that could be
caught. So the window is given a process that may die, and what it said last is the reason.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import webbrowser
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path
from queue import Empty, SimpleQueue

from app import paths
from app.desktop.signals import on_stop

_WIDTH, _HEIGHT = 1280, 800
_UNTIL_SHOWN = 60.0
"""Seconds after which a window that has not appeared is given up."""
_UNTIL_CLOSED = 2.5
"""Seconds that its process is given to end once asked."""
_REMEMBERED = 50
"""Lines of its errors."""
_SHOWN_OF_ERRORS = 160
"""Characters: the reason is half of one line."""


class Event(Enum):
    """What may happen while the pages are on show."""

    SHOWN = "the window has appeared"
    ENDED = "the window's process is gone"
    STOP = "the program is asked to end"


def show(url: str, title: str) -> None:
    """Show `url` in a window until it is closed, or in the browser until the program is stopped."""
    events: SimpleQueue[Event] = SimpleQueue()
    with on_stop(lambda: events.put(Event.STOP)):
        why_not = _no_display() or _in_window(url, title, events)
        if why_not:
            _in_browser(url, why_not)
            _until_stopped(events)


def wait_for_stop(started: Callable[[], None]) -> None:
    """Call `started`, then wait until the program is asked to end."""
    events: SimpleQueue[Event] = SimpleQueue()
    with on_stop(lambda: events.put(Event.STOP)):
        started()
        _until_stopped(events)


def _in_window(url: str, title: str, events: SimpleQueue[Event]) -> str:
    """Why there was no window, or none to the end; empty when the person has seen enough."""
    window = WindowProcess(url, title, events.put)
    try:
        event = _next(events, _UNTIL_SHOWN)
        if event is None:
            return f"no window appeared within {_UNTIL_SHOWN:.0f} seconds"
        if event is Event.SHOWN:
            event = _next(events)
        return "" if event is Event.STOP or window.was_closed else window.last_words()
    finally:
        window.close()


def _in_browser(url: str, why_not: str) -> None:
    # Without a display only browsers for the terminal are left, and they would take this one.
    openable = not _no_display() or "BROWSER" in os.environ
    what = f"opening {url} in your browser" if openable else f"open {url} in a browser"
    print(f"anchorline: no window ({why_not}); {what}; Ctrl+C ends it", file=sys.stderr, flush=True)
    if openable:
        # Some browsers keep their caller waiting until they are closed.
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _next(events: SimpleQueue[Event], timeout: float | None = None) -> Event | None:
    """The next event; None when `timeout` seconds have passed."""
    while True:
        try:
            # In slices: on Windows a wait without end would not notice Ctrl+C.
            return events.get(timeout=timeout or 0.5)
        except Empty:
            if timeout:
                return None


def _until_stopped(events: SimpleQueue[Event]) -> None:
    # A window that was given up still tells of its end.
    while _next(events) is not Event.STOP:
        pass


def _no_display() -> str:
    if sys.platform in ("win32", "darwin"):
        return ""
    named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    offscreen = os.environ.get("QT_QPA_PLATFORM", "") in ("offscreen", "minimal")
    return "" if named or offscreen else "there is no display here"


class WindowProcess:
    """The process that `window.py` runs in, and what it said."""

    def __init__(self, url: str, title: str, tell: Callable[[Event], None]) -> None:
        """Start it; `tell` is called from another thread."""
        self.was_closed = False
        """Whether the person, or we, closed the window: it did not just die."""
        self._tell = tell
        self._missing: str | None = None
        """What it lacks to show a web page; empty when all of it."""
        self._errors: deque[str] = deque(maxlen=_REMEMBERED)
        self._process = subprocess.Popen(
            # -P: the folder we were started in may well hold a package by the name of one of ours.
            [sys.executable, "-P", str(Path(__file__).with_name("window.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            # Ctrl+C in the terminal is for us; and a group of its own can be ended as a whole.
            start_new_session=True,
        )
        self._listeners = [
            threading.Thread(target=listen, name=f"window {name}", daemon=True)
            for name, listen in (("answers", self._hear_answers), ("errors", self._hear_errors))
        ]
        for listener in self._listeners:
            listener.start()
        icon = paths.assets_dir() / "static" / "icon.svg"
        order = {"url": url, "title": title, "width": _WIDTH, "height": _HEIGHT, "icon": str(icon)}
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()

    def last_words(self) -> str:
        """Why the process ended by itself, as half a sentence; waits until it has."""
        if self._missing == "":
            return "no web view is installed: pip install 'anchorline[desktop]'"
        if self._missing:
            return f"its web view cannot be loaded: {self._missing[:_SHOWN_OF_ERRORS]}"
        code = self._process.wait()
        self.close()
        said = [line for line in self._errors if line]
        telling = [line for line in said if "display" in line or "cannot open" in line]
        words = (telling or said[-1:] or ["it said nothing"])[0]
        return f"its process ended with code {code}: {words[:_SHOWN_OF_ERRORS]}"

    def close(self) -> None:
        """Close the window and end its process with all that it started; may be called twice."""
        assert self._process.stdin
        if self._process.stdin.closed:
            return
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_UNTIL_CLOSED)
        self._kill()
        self._process.wait()
        for listener in self._listeners:
            listener.join()
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe
            pipe.close()

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
        else:
            # Helpers of a web view that died may linger, and hold on to the pipes.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _hear_answers(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            match line.split(maxsplit=1):
                case ["SHOWN"]:
                    self._tell(Event.SHOWN)
                case ["CLOSED"]:
                    self.was_closed = True
                case ["NO-WEB-VIEW", *missing]:
                    self._missing = "".join(missing).strip()
        self._tell(Event.ENDED)

    def _hear_errors(self) -> None:
        assert self._process.stderr
        for line in self._process.stderr:
            self._errors.append(line.strip())
