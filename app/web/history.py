"""The history of a session."""

from __future__ import annotations

from flask import Blueprint, Response

from app.web.navigation import Place
from app.web.render import render, services

bp = Blueprint("history", __name__)


@bp.get("/sessions/<session_id>/history")
def page(session_id: str) -> Response:
    """To come."""
    session = services().workspace.session(session_id)
    place = Place(session.info.title, session_id, "history")
    return render("history/page.html", "editor", place, view=session)
