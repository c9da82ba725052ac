"""What in the folder's data could not be read."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response

from app.web.navigation import Place
from app.web.render import render, services

bp = Blueprint("problems", __name__)


@bp.get("/problems")
def page() -> Response:
    """All problems, with file and line."""
    view = services().overview()
    place = Place(_("Problems"), activity="problems")
    return render("problems/page.html", "editor", place, problems=view.problems)
