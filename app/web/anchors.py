"""The five anchors of a session over its compactions."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response

from app.services.anchors import anchors_view
from app.web.navigation import Place
from app.web.render import render, services

bp = Blueprint("anchors", __name__)


@bp.get("/sessions/<session_id>/anchors")
def index(session_id: str) -> Response:
    """Every version of every anchor, newest first."""
    view = anchors_view(services().session(session_id))
    place = Place(_("Anchors"), session_id, "anchors")
    return render("anchors/index.html", "editor", place, view=view)
