"""What the person sees when something goes wrong: one sentence, in the page or in its place."""

from __future__ import annotations

import logging
from gettext import gettext as _

from flask import Flask, Response, render_template, request
from werkzeug.exceptions import HTTPException

from app.errors import AnchorlineError, NotFound, SourceBusy, UsageError
from app.web.appearance import current_theme
from app.web.render import Wanted, wanted

_LOG = logging.getLogger(__name__)

_TITLES = {
    400: _("That request makes no sense"),
    403: _("Not from here"),
    404: _("Nothing of that name is here"),
    405: _("That cannot be done here"),
    415: _("Only forms can be sent here"),
    422: _("That cannot be read"),
    503: _("Somebody else is writing"),
}

_TEMPLATES = {
    Wanted.PAGE: "errors/page.html",
    Wanted.MAIN: "errors/_main.html",
    Wanted.BLOCK: "errors/_notice.html",
}


def install(app: Flask) -> None:
    """Answer every error of `app` with a page or a fragment of our own."""

    @app.errorhandler(AnchorlineError)
    def ours(error: AnchorlineError) -> Response:
        return _answer(status_of(error), str(error))

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        # Only what the guard says itself is shown: Werkzeug's own texts are for programmers.
        own_words = error.code in (403, 415)
        return _answer(error.code or 500, (error.description or "") if own_words else "")

    @app.errorhandler(Exception)
    def unexpected(error: Exception) -> Response:
        _LOG.error("%s %s failed", request.method, request.path, exc_info=error)
        return _answer(500, _("Anchorline itself failed. The log of the program says where."))


def status_of(error: AnchorlineError) -> int:
    """The HTTP status that fits `error`."""
    match error:
        case NotFound():
            return 404
        case UsageError():
            return 400
        case SourceBusy():
            return 503
    return 422


def _answer(status: int, says: str) -> Response:
    template = _TEMPLATES[wanted()]
    title = _TITLES.get(status, _("Something went wrong"))
    body = render_template(template, status=status, title=title, says=says, theme=current_theme())
    return Response(body, status, mimetype="text/html")
