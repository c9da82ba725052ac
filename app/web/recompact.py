"""The what-if form: one compaction with other settings. Reading only, so a page has a plain URL."""

from __future__ import annotations

from gettext import gettext as _
from urllib.parse import urlencode

from flask import Blueprint, Response, request, url_for

from app.services.recompact import RecompactPage, opened, recompact_page
from app.web.navigation import Crumb, Place
from app.web.render import render, services

bp = Blueprint("recompact", __name__)

_OURS = ("n", "at", "first", "last", "fate")


@bp.get("/sessions/<session_id>/recompact")
def form(session_id: str) -> Response:
    """The form, and the outcome for the values in the URL."""
    view = _page(session_id)
    query = {**request.args, "n" if view.n else "at": str(view.n or view.at)}
    link = f"{url_for('recompact.fold', session_id=session_id)}?{urlencode(query)}&"
    place = Place(_("Re-compact"), session_id, "recompact")
    status = 422 if view.problems else 200
    return render("recompact/form.html", "editor", place, status=status, view=view, link=link)


@bp.get("/sessions/<session_id>/recompact/fold")
def fold(session_id: str) -> Response:
    """The messages behind a fold of the outcome's diff: the run is made again, being pure."""
    view = _page(session_id)
    first, last = (request.args.get(name, -1, int) for name in ("first", "last"))
    rows, left = opened(view, first, last, request.args.get("fate", "kept"))
    title = _("Messages %(first)s to %(last)s") % {"first": first, "last": last}
    query = {k: v for k, v in request.args.items() if k not in ("first", "last", "fate")}
    back = f"{url_for('recompact.form', session_id=session_id)}?{urlencode(query)}"
    place = Place(title, session_id, "recompact", crumbs=(Crumb(title),))
    return render(
        "compactions/fold.html",
        "opened",
        place,
        rows=rows,
        left=left,
        session_id=session_id,
        back=back,
    )


def _page(session_id: str) -> RecompactPage:
    values = {name: value for name, value in request.args.items() if name not in _OURS}
    return recompact_page(
        services().session(session_id),
        values,
        n=request.args.get("n", type=int),
        at=request.args.get("at", type=int),
    )
