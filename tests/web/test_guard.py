from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.services import build
from app.web import create_app
from tests.web.conftest import ORIGIN, PORT, TOKEN, admitted, stranger

PATHS = ("/", "/problems", "/static/css/tokens.css", "/nothing/here")

STRANGE_HOSTS = (
    "",
    "rebind.example",
    f"rebind.example:{PORT}",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost",
    f"localhost.:{PORT}",
    f"LOCALHOST:{PORT}",
    f"127.0.0.1.:{PORT}",
    f"127.1:{PORT}",
    f"2130706433:{PORT}",
    f"0.0.0.0:{PORT}",
    f"[::ffff:127.0.0.1]:{PORT}",
    f"::1:{PORT}",
    f"127.0.0.1:{PORT}:{PORT}",
    f"127.0.0.1:0{PORT}",
    f"127.0.0.1:{PORT}.rebind.example",
    f"rebind.example@127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT},rebind.example",
    f" 127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT} ",
)

STRANGE_ORIGINS = (
    "https://evil.example",
    "null",
    "",
    f"https://127.0.0.1:{PORT}",
    f"http://127.0.0.1:{PORT + 1}",
    f"http://127.0.0.1:{PORT}/",
    f"http://localhost:{PORT}",  # ours, but not the one that this request went to
    f"http://127.0.0.1:{PORT}.evil.example",
    f"HTTP://127.0.0.1:{PORT}",
)


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_served_without_the_cookie(app: Flask, path: str) -> None:
    answer = stranger(app).get(path)

    assert answer.status_code == 403
    assert b"billing" not in answer.data


def test_the_first_url_hands_out_a_cookie_that_pages_cannot_read(app: Flask) -> None:
    answer = stranger(app).get("/", query_string={"token": TOKEN})

    cookie = answer.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert cookie.startswith(f"anchorline-{PORT}=")
    assert TOKEN not in cookie


def test_the_token_leaves_the_address_at_once(app: Flask) -> None:
    query = {"token": TOKEN, "from": "7", "q": "a&b"}
    answer = stranger(app).get("/sessions/x y/history", query_string=query)

    assert answer.status_code == 303
    assert answer.headers["Location"] == "/sessions/x%20y/history?from=7&q=a%26b"


def test_the_token_cannot_send_the_browser_elsewhere(app: Flask) -> None:
    answer = stranger(app).get("//evil.example/", query_string={"token": TOKEN})

    assert not answer.headers.get("Location", "/").startswith(("//", "http"))


@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\u0130"])
def test_a_wrong_token_opens_nothing(app: Flask, token: str) -> None:
    answer = stranger(app).get("/", query_string={"token": token})

    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("cookie", ["", "x", TOKEN])
def test_a_wrong_cookie_opens_nothing(app: Flask, cookie: str) -> None:
    client = stranger(app)
    client.set_cookie(f"anchorline-{PORT}", cookie, domain="127.0.0.1")

    answer = client.get("/")

    assert answer.status_code == 403


def test_the_cookie_of_another_launch_opens_nothing(app: Flask, project: Path) -> None:
    cookie = admitted(app).get_cookie(f"anchorline-{PORT}", domain="127.0.0.1")
    assert cookie is not None
    client = stranger(create_app(build(project), "another-token"))
    client.set_cookie(cookie.key, cookie.value, domain="127.0.0.1")

    answer = client.get("/")

    assert answer.status_code == 403


@pytest.mark.parametrize("host", STRANGE_HOSTS)
def test_a_foreign_host_gets_no_data(client: FlaskClient, host: str) -> None:
    answer = client.get("/", environ_overrides={"HTTP_HOST": host})

    assert answer.status_code == 403
    assert b"billing" not in answer.data


def test_a_forwarded_host_is_not_believed(client: FlaskClient) -> None:
    headers = {"X-Forwarded-Host": f"127.0.0.1:{PORT}", "Forwarded": f"host=127.0.0.1:{PORT}"}
    answer = client.get("/", headers=headers, environ_overrides={"HTTP_HOST": "evil.example"})

    assert answer.status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_our_own_names_are_served_without_cors(app: Flask, host: str) -> None:
    here = {"HTTP_HOST": f"{host}:{PORT}", "SERVER_PORT": str(PORT)}
    client = app.test_client(use_cookies=False)
    first = client.get("/", query_string={"token": TOKEN}, environ_overrides=here)
    cookie = first.headers["Set-Cookie"].split(";")[0]

    answer = client.get("/", headers={"Cookie": cookie}, environ_overrides=here)

    assert answer.status_code == 200
    assert not [name for name, _ in answer.headers if name.startswith("Access-Control-")]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("origin", STRANGE_ORIGINS)
def test_a_foreign_origin_is_refused_whatever_it_asks(
    client: FlaskClient, method: str, origin: str
) -> None:
    answer = client.open("/", method=method, headers={"Origin": origin})

    assert answer.status_code == 403
    assert b"billing" not in answer.data


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Same-Origin", "nonsense"])
def test_a_fetch_from_another_site_is_refused(client: FlaskClient, site: str) -> None:
    answer = client.get("/", headers={"Sec-Fetch-Site": site})

    assert answer.status_code == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_fetches_are_served(client: FlaskClient, site: str) -> None:
    answer = client.get("/", headers={"Sec-Fetch-Site": site})

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/json", "text/plain; charset=utf-8", ""]
)
def test_a_post_that_is_no_form_is_refused(client: FlaskClient, kind: str) -> None:
    answer = client.post(
        "/theme", data='{"theme": "dark"}', content_type=kind, headers={"Origin": ORIGIN}
    )

    assert answer.status_code == 415
    assert "Set-Cookie" not in answer.headers


def test_a_simple_post_from_another_site_has_no_effect(client: FlaskClient) -> None:
    headers = {"Origin": "https://evil.example"}
    answer = client.post(
        "/theme", data='{"theme": "dark"}', content_type="text/plain", headers=headers
    )

    assert answer.status_code in (403, 415)
    assert "Set-Cookie" not in answer.headers


def test_a_post_has_to_say_where_it_comes_from(client: FlaskClient) -> None:
    answer = client.post("/theme", data={"theme": "dark"})

    assert answer.status_code == 403


def test_our_own_form_is_taken(client: FlaskClient) -> None:
    headers = {"Origin": ORIGIN, "Referer": f"{ORIGIN}/problems?a=b"}
    answer = client.post("/theme", data={"theme": "hc-dark"}, headers=headers)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/problems?a=b")
    assert b'data-theme="hc-dark"' in client.get("/").data


def test_a_form_does_not_send_the_browser_elsewhere(client: FlaskClient) -> None:
    headers = {"Origin": ORIGIN, "Referer": f"{ORIGIN}//evil.example/x"}
    answer = client.post("/theme", data={"theme": "dark"}, headers=headers)

    assert answer.headers["Location"] == "/evil.example/x"


def test_an_oversized_form_is_refused(client: FlaskClient) -> None:
    answer = client.post("/theme", data={"theme": "x" * 2_000_000}, headers={"Origin": ORIGIN})

    assert answer.status_code == 413


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_policy(client: FlaskClient, app: Flask, path: str) -> None:
    for asker in (client, stranger(app)):
        answer = asker.get(path)

        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"


def test_pages_are_never_kept(client: FlaskClient) -> None:
    assert client.get("/").headers["Cache-Control"] == "no-store"


def test_the_token_is_not_in_any_page(client: FlaskClient) -> None:
    assert TOKEN.encode() not in client.get("/").data
