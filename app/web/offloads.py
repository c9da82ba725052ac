"""The offloaded tool results of a session, listed and read page by page."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response, request

from app.services.offloads import offload_list, offload_page
from app.text import shortened
from app.web.navigation import Crumb, Place
from app.web.render import render, services

bp = Blueprint("offloads", __name__, url_prefix="/sessions/<session_id>")


@bp.get("/offloads")
def index(session_id: str) -> Response:
    """All of them."""
    view = offload_list(services().session(session_id))
    place = Place(_("Offloads"), session_id, "offloads")
    return render("offloads/index.html", "editor", place, view=view)


@bp.get("/offload")
def page(session_id: str) -> Response:
    """The file of `?call=`, from byte `?offset=` on.

    The call's id is a query value: as a step of the path, an id like `..` would be resolved away.
    """
    call_id = request.args.get("call", "")
    offset = request.args.get("offset", 0, type=int)
    view = offload_page(services().session(session_id), call_id, offset)
    name = shortened(call_id, 32)
    title = _("Offload %(name)s") % {"name": name}
    place = Place(title, session_id, "offloads", tab=name, crumbs=(Crumb(name),))
    return render("offloads/page.html", "editor", place, view=view)
