"""A web server on this machine alone, in threads of its own, that can be stopped."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

from waitress.server import create_server

from app.errors import UsageError

HOST = "127.0.0.1"
_THREADS = 32
"""A stream of events holds one for as long as its window is open; with a few they run out."""
_PATIENCE = 1.0
"""Seconds that requests under way are given to end."""

WSGIApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Server:
    """`app`, served from the moment this is made until it is closed."""

    def __init__(self, app: WSGIApplication, port: int = 0) -> None:
        """Listen on `port`, or on any free one for 0.

        Raises UsageError when the port cannot be had.
        """
        try:
            listener = socket.create_server((HOST, port))
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise UsageError(
                f"Port {port} cannot be used: {why}; port 0 takes a free one."
            ) from error
        # It warns whenever a request waits for a thread, and of streams that are open at the end.
        logging.getLogger("waitress").setLevel(logging.ERROR)
        self._server = create_server(
            app,
            sockets=[listener],
            threads=_THREADS,
            ident=None,
            # So that it goes on reading from a client it is sending to, and sees it hang up.
            channel_request_lookahead=1,
        )
        self.port: int = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._server.run, name="server", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where it answers, without a slash at the end."""
        return f"http://{HOST}:{self.port}"

    def close(self) -> None:
        """Hang up on everybody and give the port back; may be called twice."""
        if not self._thread.is_alive():
            return
        # Its sockets belong to the thread that waits on them, so that thread closes them.
        self._server.trigger.pull_trigger(self._hang_up)
        self._thread.join()
        # Idle threads end at once; one in a stream ends with the next thing it tries to send.
        self._server.task_dispatcher.shutdown(timeout=_PATIENCE)

    def _hang_up(self) -> None:
        for channel in list(self._server.active_channels.values()):
            channel.handle_close()
        self._server.close()
