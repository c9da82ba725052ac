"""Signals to the open windows: names of what changed, never what it changed to.

A lost signal costs nothing, because every signal is an invitation to look again. So each window has
a short queue in which a name stands once; when it overflows it is cleared, and the window is told
to look at everything (RESYNC).
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass

RESYNC = "resync"
"""Told to a window that may have missed something: look at everything again."""
MOST_WINDOWS = 24
"""Each holds one of the server's 32 threads; the rest answer requests."""
_MOST_WAITING = 64


@dataclass(frozen=True, slots=True)
class Heard:
    """What a window was told."""

    names: tuple[str, ...]
    """In the order in which they were published first; empty when the wait was in vain."""
    seen: str
    """How far the window is now: what it gives when it connects again."""


class Window:
    """The queue of one open window. Made by `Hub.open`."""

    def __init__(self, hub: Hub, most_waiting: int) -> None:
        self._hub = hub
        self._most = most_waiting
        self._waiting: dict[str, None] = {}
        self.closed = False
        """Whether there is nothing more to come."""

    def next(self, timeout: float) -> Heard:
        """Wait up to `timeout` seconds for signals, and take all that have come."""
        until = time.monotonic() + timeout
        with self._hub.changed:
            while not self._waiting and not self.closed:
                if not self._hub.changed.wait(max(0.0, until - time.monotonic())):
                    break
            names = tuple(self._waiting)
            self._waiting.clear()
            return Heard(names, self._hub.seen)

    def close(self) -> None:
        """Leave the hub; may be called twice."""
        self._hub.forget(self)

    def put(self, name: str) -> None:
        """Queue `name`. The hub calls this, and holds its lock meanwhile."""
        if RESYNC in self._waiting:
            return
        if name == RESYNC or (name not in self._waiting and len(self._waiting) >= self._most):
            self._waiting.clear()
            name = RESYNC
        self._waiting[name] = None


class Hub:
    """All open windows. Every method may be called from any thread."""

    def __init__(self, most_windows: int = MOST_WINDOWS, most_waiting: int = _MOST_WAITING) -> None:
        self.changed = threading.Condition()
        """Guards everything here; notified when there is something to take."""
        self._launch = secrets.token_hex(4)
        self._count = 0
        self._windows: set[Window] = set()
        self._most_windows = most_windows
        self._most_waiting = most_waiting
        self._is_closed = False

    @property
    def seen(self) -> str:
        """The state of things as one word: equal to an earlier one if nothing was published."""
        return f"{self._launch}.{self._count}"

    @property
    def windows(self) -> int:
        """How many are open."""
        return len(self._windows)

    def publish(self, *names: str) -> None:
        """Tell every window; nothing at all is done without a name. Never waits for a window."""
        if not names:
            return
        with self.changed:
            self._count += 1
            for window in self._windows:
                for name in names:
                    window.put(name)
            self.changed.notify_all()

    def open(self, seen: str = "") -> Window | None:
        """A new window that shows what was published up to `seen`; None when there are too many.

        One that has missed something, or comes from another launch, is told RESYNC first.
        """
        with self.changed:
            if self._is_closed or len(self._windows) >= self._most_windows:
                return None
            window = Window(self, self._most_waiting)
            if seen != self.seen:
                window.put(RESYNC)
            self._windows.add(window)
            return window

    def forget(self, window: Window) -> None:
        """Tell `window` nothing more."""
        with self.changed:
            window.closed = True
            self._windows.discard(window)
            self.changed.notify_all()

    def close(self) -> None:
        """End every window's wait; may be called twice."""
        with self.changed:
            self._is_closed = True
            windows = tuple(self._windows)
        for window in windows:
            self.forget(window)
