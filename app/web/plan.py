"""The task lists of a session."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response

from app.services.plan import plans_of
from app.web.navigation import Place
from app.web.render import render, services

bp = Blueprint("plan", __name__)


@bp.get("/sessions/<session_id>/plan")
def page(session_id: str) -> Response:
    """All of them, each with how far it has got."""
    view = plans_of(services().session(session_id))
    return render("plan/page.html", "editor", Place(_("Plan"), session_id, "plan"), view=view)
