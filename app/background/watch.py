"""Notices that files changed: by the system's notices where they come, else by looking regularly.

What changed, and whether anything did, is the business of the `look` that is called; it runs on the
watcher's own thread, never twice at once. Nothing here opens a file, and nothing is written.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

_LOG = logging.getLogger(__name__)

# Not opened, closed or touched: looking at a file causes these, and we would answer ourselves.
_TELLING: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
]


# One may be lost to a folder that was not watched yet when it appeared.
_MOST_MISSING = 2


class Seen(Enum):
    """What a look found."""

    NOTHING = "nothing changed"
    CHANGE = "something changed"
    UNSETTLED = "somebody is in the middle of a change: look again soon"


class Mode(Enum):
    """How changes are noticed."""

    WATCHING = "watching"
    POLLING = "polling"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class State:
    """How changes are noticed, and why not better."""

    mode: Mode
    why: str = ""
    """Half a sentence; empty when watching."""
    seconds: float = 0.0
    """Between two looks when polling."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which a folder `name` is watched, or may appear."""

    folder: Path
    name: str


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds."""

    quiet: float = 0.1
    """Without a further notice, before a look."""
    latest: float = 0.3
    """From the first notice to the look, however busy the writer is."""
    settle: float = 0.3
    """Until a change that was half done is looked at again."""
    poll: float = 1.0
    backstop: float = 2.0
    """Between looks nobody asked for, which find out whether notices come at all."""
    grace: float = 0.5
    """How late a notice may be before it counts as missing."""


class Watcher:
    """Watches from the moment it is made until it is closed."""

    def __init__(
        self,
        places: Sequence[Place],
        look: Callable[[], Seen],
        told: Callable[[State], None] = lambda _state: None,
        observer: Callable[[], BaseObserver] = Observer,
        pace: Pace | None = None,
    ) -> None:
        """Call `look` whenever files in `places` may have changed, `told` when the state does."""
        self._places = tuple(places)
        self._look = look
        self._told = told
        self._make_observer = observer
        self._pace = pace or Pace()
        self._observer: BaseObserver | None = None
        self._watched: frozenset[_Target] = frozenset()
        self._first = self._last = 0.0
        """When the first and the last notice came that have not been looked into; 0 for none."""
        self._noticed = self._missing = 0
        self._due = 0.0
        self._wake = threading.Condition()
        self._closing = False
        self.state = State(Mode.NOT, "starting")
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching; a look under way is waited for. May be called twice."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            is_new = self._fit()
            self._looked(is_new)
            while self._wait():
                was_new, is_new = is_new, self._fit()
                self._turn(was_new, is_new)
        finally:
            self._stop_observing()
            self._say(State(Mode.NOT, "stopped"))

    def _turn(self, was_new: bool, is_new: bool) -> None:
        """One look, and what follows from whether a notice had asked for it."""
        with self._wake:
            # Nothing tells of what happened while the observer was being made.
            was_told, noticed = was_new or is_new or self._first > 0, self._noticed
            self._first = self._last = 0.0
        found = self._looked(is_new)
        if was_told or found is not Seen.CHANGE or self.state.mode is not Mode.WATCHING:
            self._missing = 0 if was_told else self._missing
        elif not self._comes_late(noticed):
            self._missing += 1
            if self._missing >= _MOST_MISSING:
                self._poll("the file system sends no notices of changes")

    def _comes_late(self, noticed: int) -> bool:
        """Whether the notice of a change that is known already comes after all."""
        with self._wake:
            return self._wake.wait_for(
                lambda: self._closing or self._noticed != noticed, self._pace.grace
            )

    def _looked(self, is_new: bool) -> Seen:
        try:
            found = self._look()
        except Exception:
            # What is wrong with the data is no reason to stop looking at it.
            _LOG.exception("looking for changes failed")
            found = Seen.NOTHING
        is_soon = is_new or found is Seen.UNSETTLED
        self._due = time.monotonic() + (self._pace.settle if is_soon else self._usual_wait())
        return found

    def _usual_wait(self) -> float:
        return self._pace.backstop if self.state.mode is Mode.WATCHING else self._pace.poll

    def _wait(self) -> bool:
        """Until a look is due. False when closing."""
        with self._wake:
            while not self._closing:
                left = self._when() - time.monotonic()
                if left <= 0:
                    return True
                self._wake.wait(left)
        return False

    def _when(self) -> float:
        if not self._first:
            return self._due
        asked = min(self._last + self._pace.quiet, self._first + self._pace.latest)
        return min(asked, self._due)

    def _notice(self) -> None:
        with self._wake:
            self._noticed += 1
            self._last = time.monotonic()
            self._first = self._first or self._last
            self._wake.notify()

    def _fit(self) -> bool:
        """Watch what is there now: a folder that appeared, one put in place of another.

        Whether anything had to be done for that.
        """
        if self.state.mode is Mode.POLLING:
            return False
        wanted = _targets(self._places)
        alive = self._observer is not None and all(e.is_alive() for e in self._observer.emitters)
        if alive and wanted == self._watched:
            return False
        self._stop_observing()
        try:
            self._observe(wanted)
        except (OSError, RuntimeError) as error:
            self._stop_observing()
            number = getattr(error, "errno", None)
            self._poll(os.strerror(number).lower() if number else str(error))
        else:
            self._watched = wanted
            self._say(State(Mode.WATCHING))
        return True

    def _observe(self, wanted: frozenset[_Target]) -> None:
        self._observer = self._make_observer()
        for target in wanted:
            handler = _Handler(self._notice, target.only)
            self._observer.schedule(
                handler, str(target.path), recursive=not target.only, event_filter=_TELLING
            )
        self._observer.start()

    def _stop_observing(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None and observer.is_alive():
            observer.stop()
            observer.join()

    def _poll(self, why: str) -> None:
        self._stop_observing()
        self._say(State(Mode.POLLING, why, self._pace.poll))
        self._due = min(self._due, time.monotonic() + self._pace.poll)

    def _say(self, state: State) -> None:
        if state != self.state:
            self.state = state
            self._told(state)


@dataclass(frozen=True, slots=True)
class _Target:
    """A folder to watch as it is now: one made anew in its place is another."""

    path: Path
    only: str
    """The one entry that matters; empty for all, with everything below."""
    identity: tuple[int, int]


def _targets(places: Sequence[Place]) -> frozenset[_Target]:
    found = set()
    for place in places:
        for path, only in ((place.folder, place.name), (place.folder / place.name, "")):
            try:
                # A `.harness9` may be a link to where the data lies.
                real = path.resolve(strict=True)
                stat = real.stat()
            except (OSError, RuntimeError):
                continue
            if real.is_dir():
                found.add(_Target(real, only, (stat.st_dev, stat.st_ino)))
    return frozenset(found)


class _Handler(FileSystemEventHandler):
    """Passes on that something happened; called on the observer's thread."""

    def __init__(self, notice: Callable[[], None], only: str) -> None:
        self._notice = notice
        self._only = only

    def dispatch(self, event: FileSystemEvent) -> None:
        if not self._only or self._only in map(_name, (event.src_path, event.dest_path)):
            self._notice()


def _name(path: bytes | str) -> str:
    return Path(os.fsdecode(path)).name
