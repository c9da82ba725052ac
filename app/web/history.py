"""A session's messages, window by window, and the long parts of one."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.services.history import history_page, message_part
from app.web.navigation import Crumb, Place
from app.web.render import render, services

bp = Blueprint("history", __name__, url_prefix="/sessions/<session_id>")


@bp.get("/")
def session(session_id: str) -> BaseResponse:
    """A session's own address is that of its history."""
    return redirect(url_for(".page", session_id=session_id))


@bp.get("/history")
def page(session_id: str) -> Response:
    """Messages around `?at=`, or the newest."""
    at = request.args.get("at", type=int)
    view = history_page(services().session(session_id), at)
    return render(
        "history/page.html", "editor", Place(view.title, session_id, "history"), view=view
    )


@bp.get("/messages/<int:number>/<what>")
def part(session_id: str, number: int, what: str) -> Response:
    """A bounded stretch of one message's text, raw form, original or tool call."""
    start = request.args.get("start", 0, type=int)
    found = services().session(session_id)
    view = message_part(found, number, what, start, services().workspace.original_of)
    crumbs = (Crumb(f"{view.heading} of message {number}"),)
    place = Place(view.title, session_id, "history", crumbs=crumbs)
    return render("history/part.html", "chunk", place, view=view)
