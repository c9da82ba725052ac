"""Who may talk to the server: one browser that was given the token, and nobody else's page.

Any web page the person has open can send requests to 127.0.0.1, and a DNS name can be pointed
there. So every request, static files included, has to carry the cookie that only the first URL
hands out, a `Host` that is ours, and, where the browser names its origin, our own.
"""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import quote, urlencode

from flask import Flask, Response, abort, redirect, request
from werkzeug.wrappers import Response as BaseResponse

QUERY_KEY = "token"

_FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_OUR_FETCHES = frozenset({"", "same-origin", "none"})

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)

_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    # Not `no-referrer`: under it browsers send `Origin: null` with a plain form's POST, which
    # could then not be told from a foreign one. Other origins are told nothing either way.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def install(app: Flask, token: str) -> None:
    """Put the guard in front of every request of `app`."""
    proof = _proof(token)

    @app.before_request
    def guard() -> BaseResponse | None:
        _check_host()
        _check_origin()
        _check_form()
        offered = request.args.get(QUERY_KEY)
        if offered is not None and _same(offered, token):
            return _admitted(proof)
        if not _same(request.cookies.get(cookie_name(), ""), proof):
            abort(403, "This address needs the key that Anchorline printed or opened it with.")
        return None

    @app.after_request
    def headers(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        if request.endpoint != "static":
            response.headers["Cache-Control"] = "no-store"
        return response


def cookie_name() -> str:
    """Cookies do not tell ports apart, so the name has to: two windows must not share one."""
    return f"anchorline-{request.environ['SERVER_PORT']}"


def _proof(token: str) -> str:
    # What the cookie holds is not the token: the cookie also reaches other ports of this machine.
    return hmac.new(token.encode(), b"anchorline cookie", hashlib.sha256).hexdigest()


def _same(offered: str, expected: str) -> bool:
    return hmac.compare_digest(offered.encode("utf-8", "replace"), expected.encode())


def _admitted(proof: str) -> BaseResponse:
    """The same page without the token, so that it stays out of the history and the Referer."""
    rest = [pair for pair in request.args.items(multi=True) if pair[0] != QUERY_KEY]
    # A path that begins with two slashes would be a link to another host.
    path = "/" + quote(request.path.lstrip("/\\"))
    response = redirect(path + ("?" + urlencode(rest) if rest else ""), 303)
    response.set_cookie(cookie_name(), proof, httponly=True, samesite="Strict", path="/")
    return response


def _check_host() -> None:
    port = request.environ["SERVER_PORT"]
    ours = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    if request.environ.get("HTTP_HOST", "") not in ours:
        abort(403, "This server answers only to the address it was opened with.")


def _check_origin() -> None:
    origin = request.environ.get("HTTP_ORIGIN")
    foreign = origin is not None and origin != f"http://{request.environ['HTTP_HOST']}"
    if foreign or request.headers.get("Sec-Fetch-Site", "") not in _OUR_FETCHES:
        abort(403, "Another site may not use this server.")
    sent_by_a_page = origin is not None or "Sec-Fetch-Site" in request.headers
    if request.method not in ("GET", "HEAD") and not sent_by_a_page:
        abort(403, "A change needs a request from Anchorline's own pages.")


def _check_form() -> None:
    if request.method == "POST" and request.mimetype not in _FORMS:
        abort(415, "Only forms can be sent here.")
