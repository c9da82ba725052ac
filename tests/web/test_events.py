"""The stream of signals: guarded like every page, bounded, alive, and ended when it should be."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.background.hub import MOST_WINDOWS, Hub
from app.desktop.server import Server
from app.services import Services, build
from app.web import create_app, events
from tests.web.conftest import TOKEN, admitted, stranger

PATIENCE = 20.0


@pytest.fixture
def services(project: Path) -> Iterator[Services]:
    with closing(build(project, project / "nobody")) as services:
        yield services


@pytest.fixture
def client(services: Services) -> FlaskClient:
    return admitted(create_app(services, TOKEN))


def pieces(client: FlaskClient, seen: str) -> Iterator[str]:
    """What comes through a stream, piece by piece; ends it when it is not read on."""
    answer = client.get("/events", query_string={"seen": seen}, buffered=False)
    assert answer.status_code == 200
    with closing(answer):
        for piece in answer.response:
            yield piece if isinstance(piece, str) else piece.decode()


def test_a_stream_carries_names_and_how_far_they_go(
    services: Services, client: FlaskClient
) -> None:
    hub = services.live.hub
    stream = pieces(client, hub.seen)
    beat = next(stream)

    hub.publish("folder", "messages-0123")

    assert beat == "event: beat\ndata: -\n\n"
    assert next(stream) == f"id: {hub.seen}\ndata: folder messages-0123\n\n"


def test_a_page_that_is_behind_is_told_so_at_once(services: Services, client: FlaskClient) -> None:
    seen = services.live.hub.seen
    services.live.hub.publish("folder")

    stream = pieces(client, seen)
    next(stream)

    assert "data: resync\n" in next(stream)


def test_a_stream_is_not_kept_by_anybody(client: FlaskClient, services: Services) -> None:
    answer = client.get("/events", buffered=False)

    with closing(answer):
        assert answer.mimetype == "text/event-stream"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Content-Length" not in answer.headers


def test_a_stranger_gets_no_stream(services: Services) -> None:
    answer = stranger(create_app(services, TOKEN)).get("/events")

    assert answer.status_code == 403
    assert services.live.hub.windows == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebind.example"},
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_page_gets_no_stream(
    services: Services, client: FlaskClient, headers: dict[str, str]
) -> None:
    overrides = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}

    answer = client.get("/events", environ_overrides=overrides)

    assert answer.status_code == 403
    assert services.live.hub.windows == 0


def test_there_are_only_so_many_streams(services: Services, client: FlaskClient) -> None:
    windows = [services.live.hub.open() for _ in range(MOST_WINDOWS)]
    assert all(windows)

    answer = client.get("/events")

    assert answer.status_code == 503


def test_a_silent_stream_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_STEP", 0.0)
    hub = Hub()
    window = hub.open(hub.seen)
    assert window
    time = iter(range(0, 1000, 5))

    stream = events._events(window, lambda: False, lambda: float(next(time)))
    beats = [next(stream) for _ in range(3)]

    assert beats == ["event: beat\ndata: -\n\n"] * 3
    assert next(time) > 2 * events.HEARTBEAT


def test_an_answered_stream_that_is_let_go_leaves_the_hub(
    services: Services, client: FlaskClient
) -> None:
    answer = client.get("/events", buffered=False)
    during = services.live.hub.windows

    answer.close()

    assert (during, services.live.hub.windows) == (1, 0)


@pytest.fixture
def server(services: Services) -> Iterator[Server]:
    with closing(Server(create_app(services, TOKEN))) as server:
        yield server


def connected(server: Server) -> http.client.HTTPResponse:
    """The stream of a client that was let in, of which the beginning was read."""
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    client.request("GET", f"/?token={TOKEN}")
    answer = client.getresponse()
    answer.read()
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    client.request("GET", "/events", headers={"Cookie": cookie})
    stream = client.getresponse()
    assert stream.readline() == b"event: beat\n"
    return stream


def test_a_window_that_hangs_up_is_noticed(server: Server, services: Services) -> None:
    stream = connected(server)
    during = services.live.hub.windows

    stream.close()
    for _ in range(int(PATIENCE * 10)):
        if services.live.hub.windows == 0:
            break
        threading.Event().wait(0.1)

    assert (during, services.live.hub.windows) == (1, 0)


def test_closing_the_hub_ends_the_streams(server: Server, services: Services) -> None:
    stream = connected(server)

    services.live.close()

    assert stream.read().startswith(b"data: -\n\n")
    assert services.live.hub.windows == 0
