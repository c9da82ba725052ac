"""The landing page: every session of the folder, and what happened to it."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response

from app.web.navigation import Place
from app.web.render import render, services

bp = Blueprint("explorer", __name__)


@bp.get("/")
def home() -> Response:
    """The table of sessions, or what to do when there are none."""
    view = services().overview()
    return render("explorer/home.html", "editor", Place(_("Sessions")), view=view)


@bp.get("/sessions/<session_id>/badge")
def badge(session_id: str) -> Response:
    """The generation of one session's data, for its row in a long table."""
    view = services().badge(session_id)
    return render("explorer/badge.html", "badge", Place(_("Generation")), badge=view)
