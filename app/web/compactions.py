"""A session's recorded compactions: the list, the stepper, and what its folds open to."""

from __future__ import annotations

from gettext import gettext as _

from flask import Blueprint, Response, request, url_for

from app.services.compactions import listing, opened_of, record_text, step
from app.web.navigation import Crumb, Place
from app.web.render import render, services

bp = Blueprint("compactions", __name__)


@bp.get("/sessions/<session_id>/compactions")
def index(session_id: str) -> Response:
    """A page of them, alike ones together."""
    view = listing(services().session(session_id), request.args.get("from", 1, int))
    place = Place(_("Compactions"), session_id, "compactions")
    return render("compactions/index.html", "editor", place, view=view)


@bp.get("/sessions/<session_id>/compactions/<int:n>")
def step_page(session_id: str, n: int) -> Response:
    """One of them, as a diff of complete history against compacted view."""
    view = step(services().session(session_id), n, expanded="expanded" in request.args)
    title = _("Compaction %(n)s of %(total)s") % {"n": n, "total": view.total}
    place = Place(title, session_id, "compactions", tab=title, crumbs=(Crumb(str(n)),))
    link = url_for("compactions.fold", session_id=session_id, n=n) + "?"
    return render("compactions/step.html", "editor", place, view=view, link=link)


@bp.get("/sessions/<session_id>/compactions/<int:n>/fold")
def fold(session_id: str, n: int) -> Response:
    """The messages behind a fold of the diff."""
    first, last = (request.args.get(name, -1, int) for name in ("first", "last"))
    rows, left = opened_of(
        services().session(session_id), n, first, last, request.args.get("fate", "kept")
    )
    title = _("Messages %(first)s to %(last)s") % {"first": first, "last": last}
    back = url_for("compactions.step_page", session_id=session_id, n=n)
    place = Place(title, session_id, "compactions", crumbs=(Crumb(str(n), back), Crumb(title)))
    return render(
        "compactions/fold.html",
        "opened",
        place,
        rows=rows,
        left=left,
        session_id=session_id,
        back=back,
    )


@bp.get("/sessions/<session_id>/compactions/<int:n>/record")
def record(session_id: str, n: int) -> Response:
    """The record itself, a chunk at a time."""
    view = record_text(services().session(session_id), n, request.args.get("start", 0, int))
    title = _("Record %(n)s") % {"n": n}
    back = url_for("compactions.step_page", session_id=session_id, n=n)
    place = Place(title, session_id, "compactions", crumbs=(Crumb(str(n), back), Crumb(title)))
    return render("compactions/record.html", "chunk", place, view=view, back=back)
