"""What a person does with an opened folder, one module per thing; views ask here and only here."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from app.services.explorer import FEW, Overview, overview
from app.services.live import Live
from app.services.recent import Recent
from app.services.vitals import Badge, badge_of
from app.sources import Workspace, open_folder
from app.sources.model import Session, SessionInfo

_SESSIONS = 4
"""Sessions held in memory: the one that is looked at, and those it is compared with."""


@dataclass(frozen=True, slots=True)
class Services:
    """What the app is made of, built once."""

    workspace: Workspace
    live: Live
    _sessions: Recent[Session] = field(default_factory=lambda: Recent(_SESSIONS), compare=False)
    _badges: Recent[Badge] = field(default_factory=lambda: Recent(FEW), compare=False)
    _overviews: Recent[Overview] = field(default_factory=lambda: Recent(1), compare=False)

    def session(self, session_id: str) -> Session:
        """Everything the disk says about one session.

        Raises NotFound when there is none.
        """
        stamp = self.workspace.stamp()
        return self._sessions.get(session_id, stamp, lambda: self.workspace.session(session_id))

    def overview(self) -> Overview:
        """The folder's sessions, as the explorer lists them."""
        # Ages are told to the minute, so an overview is not kept longer than that.
        stamp = self.workspace.stamp(), int(time.time()) // 60
        return self._overviews.get("", stamp, lambda: overview(self.workspace, self._badge))

    def badge(self, session_id: str) -> Badge:
        """The generation of a session's data. Raises NotFound when there is no such session."""
        return badge_of(self.session(session_id))

    def _badge(self, info: SessionInfo) -> Badge:
        return self._badges.get(info.id, info, lambda: badge_of(self.workspace.session(info.id)))

    def close(self) -> None:
        """Let go of everything; may be called twice."""
        self.live.close()


def build(folder: Path, home: Path | None = None) -> Services:
    """The services over the project in `folder`.

    `home` is the folder that holds the home `.harness9`; None means the person's own.

    Nothing is watched yet: that is for `live.start()`, where the pages stay open.

    Raises NotFound when there is no such folder.
    """
    workspace = open_folder(folder, home)
    return Services(workspace, Live(workspace))
