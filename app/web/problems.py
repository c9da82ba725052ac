"""What in the folder's data could not be read, and what went wrong in its sessions."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response

from app.services.findings import findings_of
from app.web.navigation import Place
from app.web.render import render, services

bp = Blueprint("problems", __name__)


@bp.get("/problems")
def page() -> Response:
    """What cannot be read, with file and line; then the findings, session by session."""
    view = services().overview()
    place = Place(_("Problems"), activity="problems")
    return render("problems/page.html", "editor", place, view=view, problems=view.problems)


@bp.get("/sessions/<session_id>/findings")
def findings(session_id: str) -> Response:
    """What `anchorline check` finds in one session."""
    view = findings_of(services().session(session_id))
    place = Place(_("Findings"), session_id, "findings")
    return render("problems/findings.html", "found", place, view=view)
