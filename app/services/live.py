"""The folder while it is being written to: what changed, told to the open windows by name.

The names are made of a topic and, where one session is meant, of its key: `messages-1f0c…`. A topic
alone means every session. Pages say which names they listen to; what they show then, they fetch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from app.background.hub import Hub
from app.sources.changes import Changes, Sight, changes, sight_of
from app.sources.workspace import Workspace
from compaction.utf8 import encoded

if TYPE_CHECKING:
    from app.background.watch import Seen, State, Watcher

FOLDER = "folder"
"""Something in the folder changed: the list of sessions, its counts, the problems."""
MESSAGES = "messages"
COMPACTIONS = "compactions"
OFFLOADS = "offloads"
PLANS = "plans"
WATCH = "watch"
"""The way in which changes are noticed is another."""


def topic(name: str, session_id: str) -> str:
    """The signal `name` for one session. Ids may hold anything; a signal is a plain word."""
    return f"{name}-{key_of(session_id)}"


def key_of(session_id: str) -> str:
    """A plain word that stands for a session id."""
    return hashlib.sha256(encoded(session_id)).hexdigest()[:16]


def signals(found: Changes) -> Iterator[str]:
    """The names to tell the windows for what was found; none for no change."""
    if not found:
        return
    yield FOLDER
    yield from (topic(MESSAGES, one) for one in sorted(found.messages))
    yield from (topic(COMPACTIONS, one) for one in sorted(found.compactions))
    yield from (topic(OFFLOADS, one) for one in sorted(found.offloads))
    if found.unexplained:
        yield MESSAGES
    # Plans are kept in files and in the database, and are small.
    if found.plans or found.unexplained or found.messages:
        yield PLANS


class Live:
    """Hub and watcher of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        """Nothing is watched until `start`."""
        self.hub = Hub()
        self._workspace = workspace
        self._watcher: Watcher | None = None
        self._sight = Sight()
        self._doubtful: frozenset[str] = frozenset()

    @property
    def state(self) -> State | None:
        """How changes are noticed; None before `start`."""
        return self._watcher.state if self._watcher else None

    def start(self, make: Callable[..., Watcher] | None = None) -> None:
        """Watch from now on; `make` makes the watcher, usually a `Watcher`."""
        # Only a program that stays open needs watchdog loaded.
        from app.background.watch import Place, Watcher  # noqa: PLC0415
        from app.sources.stores import NAME  # noqa: PLC0415

        self._sight = sight_of(self._workspace)
        places = dict.fromkeys((self._workspace.folder, self._workspace.home))
        self._watcher = (make or Watcher)(
            tuple(Place(folder, NAME) for folder in places),
            self._look,
            lambda _state: self.hub.publish(WATCH),
        )

    def close(self) -> None:
        """Stop watching and end every stream; may be called twice."""
        if self._watcher:
            self._watcher.close()
        self.hub.close()

    def _look(self) -> Seen:
        from app.background.watch import Seen  # noqa: PLC0415

        now = sight_of(self._workspace, self._sight)
        found = changes(self._sight, now)
        # A session that is replaced is deleted first, in a transaction of its own: half a moment
        # later its new rows are there. One that is still empty at the second look is believed.
        if found.emptied - self._doubtful:
            self._doubtful |= found.emptied
            return Seen.UNSETTLED
        self._doubtful = frozenset()
        self._sight = now
        self.hub.publish(*signals(found))
        if any(not one.is_current for one in now.databases.values()):
            return Seen.UNSETTLED
        return Seen.CHANGE if found else Seen.NOTHING
