"""What a person does with an opened folder, one module per thing; views ask here and only here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.sources import Workspace, open_folder
from app.sources.model import Session


@dataclass(frozen=True, slots=True)
class Services:
    """What the app is made of, built once."""

    workspace: Workspace

    def session(self, session_id: str) -> Session:
        """Everything the disk says about one session. Raises NotFound when there is none."""
        return self.workspace.session(session_id)

    def close(self) -> None:
        """Let go of everything; may be called twice."""


def build(folder: Path, home: Path | None = None) -> Services:
    """The services over the project in `folder`.

    `home` is the folder that holds the home `.harness9`; None means the person's own.

    Raises NotFound when there is no such folder.
    """
    return Services(open_folder(folder, home))
