"""Turns a view's values into HTML: the page, its main part, or the one block that is asked for.

A template extends `layout` (a variable, not a name) and fills the block `editor`. The same template
then serves three kinds of request:

- a plain one gets the whole workbench;
- a followed link (htmx, boosted) gets the main part, and the bits of the shell that depend on it;
- any other htmx request gets the single block that the view names.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from flask import Response, current_app, render_template, request

from app.services import Services
from app.web.navigation import Place, Shell, shell_for


class Wanted(Enum):
    """How much of a page a request asks for."""

    PAGE = auto()
    MAIN = auto()
    BLOCK = auto()


_LAYOUTS = {Wanted.PAGE: "layout.html", Wanted.MAIN: "_main.html"}


def services() -> Services:
    """What the app is made of; `create_app` was given it."""
    found: Services = current_app.extensions["services"]
    return found


def wanted() -> Wanted:
    """How much of a page the current request asks for."""
    headers = request.headers
    if "HX-Request" not in headers or "HX-History-Restore-Request" in headers:
        return Wanted.PAGE
    return Wanted.MAIN if "HX-Boosted" in headers else Wanted.BLOCK


def render(template: str, block: str, place: Place, *, status: int = 200, **view: Any) -> Response:
    """The answer to the current request, out of `template`.

    `block` is what an htmx request that is not a followed link gets; `place` says where in the
    workbench the page belongs; `view` is what the template shows.
    """
    want = wanted()
    if want is Wanted.BLOCK:
        body = _block(template, block, place=place, **view)
    else:
        shell: Shell = shell_for(services(), place)
        body = render_template(template, layout=_LAYOUTS[want], place=place, shell=shell, **view)
    response = Response(body, status, mimetype="text/html")
    response.headers["Vary"] = "HX-Request, HX-Boosted, HX-History-Restore-Request"
    return response


def _block(template: str, block: str, **view: Any) -> str:
    found = current_app.jinja_env.get_template(template)
    current_app.update_template_context(view)
    return "".join(found.blocks[block](found.new_context(view)))
