"""The stream of signals to one open window: names of what changed, never what it changed to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from gettext import gettext as _

from flask import Blueprint, Response, abort, request

from app.background.hub import Window
from app.web.render import services

bp = Blueprint("events", __name__)

HEARTBEAT = 15.0
"""Seconds of silence after which a sign of life is sent."""
_STEP = 1.0
"""Seconds between two questions whether the window is still there."""


@bp.get("/events")
def stream() -> Response:
    """Server-sent events. `?seen=` is what the page that asks was made of, or heard last."""
    window = services().live.hub.open(request.args.get("seen", ""))
    if window is None:
        abort(503, _("Too many windows are open for this one to be kept up to date."))
    # The server may tell when the client has gone; otherwise only sending something does.
    gone = request.environ.get("waitress.client_disconnected", lambda: False)
    response = Response(_events(window, gone), mimetype="text/event-stream")
    response.call_on_close(window.close)
    return response


def _events(
    window: Window, gone: Callable[[], bool], clock: Callable[[], float] = time.monotonic
) -> Iterator[str]:
    yield "event: beat\ndata: -\n\n"
    silent_since = clock()
    while not window.closed and not gone():
        heard = window.next(_STEP)
        if heard.names:
            yield f"id: {heard.seen}\ndata: {' '.join(heard.names)}\n\n"
        elif clock() - silent_since >= HEARTBEAT:
            yield "event: beat\ndata: -\n\n"
        else:
            continue
        silent_since = clock()
