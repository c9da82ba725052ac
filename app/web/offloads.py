"""The offloads of a session."""

from __future__ import annotations

from flask import Blueprint, Response

from app.web.navigation import Place
from app.web.render import render, services

bp = Blueprint("offloads", __name__)


@bp.get("/sessions/<session_id>/offloads")
def index(session_id: str) -> Response:
    """To come."""
    session = services().workspace.session(session_id)
    place = Place(session.info.title, session_id, "offloads")
    return render("history/page.html", "editor", place, view=session)
