"""The pages of one project being served: what has to be opened for that, and closed again."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from app.desktop.server import Server
from app.services import build
from app.web import create_app


@contextmanager
def serving(folder: Path, home: Path | None, port: int = 0) -> Iterator[str]:
    """Serve the project in `folder` and give the first URL, which carries this launch's key.

    Raises UsageError when there is no such folder, or the port cannot be had.
    """
    token = secrets.token_urlsafe(32)
    with (
        closing(build(folder, home)) as services,
        closing(Server(create_app(services, token), port)) as server,
        # Closed first: the server's threads are in the streams that it ends.
        closing(services.live) as live,
    ):
        live.start()
        yield f"{server.address}/?token={token}"
