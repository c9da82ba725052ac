"""The timeline chart in the bottom panel."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response, request

from app.services.timeline import timeline_view
from app.web.navigation import Crumb, Place
from app.web.render import render, services

bp = Blueprint("timeline", __name__)


@bp.get("/sessions/<session_id>/timeline")
def panel(session_id: str) -> Response:
    """Tokens over the session's life against the tier lines."""
    view = timeline_view(services().session(session_id), request.args.get("n", 0, int))
    place = Place(_("Timeline"), session_id, "compactions", crumbs=(Crumb(_("Timeline")),))
    return render("timeline/panel.html", "timeline", place, view=view)
