"""The landing page: every session of the folder, and what happened to it."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response

from app.services.explorer import overview
from app.web.navigation import Place
from app.web.render import render, services

bp = Blueprint("explorer", __name__)


@bp.get("/")
def home() -> Response:
    """The table of sessions, or what to do when there are none."""
    view = overview(services().workspace)
    return render("explorer/home.html", "editor", Place(_("Sessions")), view=view)
