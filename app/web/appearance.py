"""How the workbench looks: the four themes, and the cookie that remembers the choice.

A cookie and not the browser's local storage: the port changes with every start, and storage is
kept per port.
"""

from __future__ import annotations

from dataclasses import dataclass
from gettext import gettext as _
from urllib.parse import urlsplit

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from app.errors import UsageError

bp = Blueprint("appearance", __name__)

COOKIE = "anchorline-theme"
_YEAR = 365 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Theme:
    """One choice in the theme menu."""

    key: str
    """Ends in the colour scheme it wants, if it wants one."""
    label: str
    scheme: str
    """For `<meta name="color-scheme">`."""
    contrast_media: str
    """When the high-contrast colours apply, as a media query."""


THEMES = (
    Theme("auto", _("As the system"), "light dark", "(prefers-contrast: more)"),
    Theme("dark", _("Dark"), "dark", "not all"),
    Theme("light", _("Light"), "light", "not all"),
    Theme("hc-dark", _("High contrast, dark"), "dark", "all"),
    Theme("hc-light", _("High contrast, light"), "light", "all"),
)


def current_theme() -> Theme:
    """The theme this browser chose; the first one, which follows the system, if it chose none."""
    chosen = request.cookies.get(COOKIE)
    return next((theme for theme in THEMES if theme.key == chosen), THEMES[0])


@bp.post("/theme")
def choose() -> Response:
    """Remember a theme and go back to the page it was chosen on."""
    key = request.form.get("theme", "")
    if key not in {theme.key for theme in THEMES}:
        raise UsageError(f"There is no theme {key[:40]!r}; choose one from the menu.")
    response = redirect(_page_left(), 303)
    response.set_cookie(COOKIE, key, max_age=_YEAR, samesite="Strict", path="/")
    return response


def _page_left() -> str:
    left = urlsplit(request.headers.get("Referer", ""))
    if left.netloc != request.host:
        return url_for("explorer.home")
    path = "/" + left.path.lstrip("/\\")
    return f"{path}?{left.query}" if left.query else path
