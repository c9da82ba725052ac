"""The server: many streams at once, this machine alone, and an end that is an end."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from app.desktop.server import Server
from app.errors import UsageError
from tests.programs import PATIENCE, status_of

STREAMS = 20


class Streams:
    """An app: `/stream` says a line and goes on until it is let go, all else answers at once."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.ended = threading.Semaphore(0)

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return self._lines() if environ["PATH_INFO"] == "/stream" else [b"at once"]

    def _lines(self) -> Iterator[bytes]:
        try:
            while True:
                yield b"still here\n"
                self.let_go.wait(0.1)
        finally:
            self.ended.release()


@pytest.fixture
def app() -> Streams:
    return Streams()


@pytest.fixture
def server(app: Streams) -> Iterator[Server]:
    with closing(Server(app)) as server:
        yield server


def stream(server: Server) -> socket.socket:
    """A client that reads a stream and has got its first line."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    client.sendall(b"GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    heard = b""
    while b"still here" not in heard:
        heard += client.recv(4096)
    return client


def test_requests_are_answered_while_twenty_streams_are_open(server: Server) -> None:
    with ExitStack() as clients:
        for _ in range(STREAMS):
            clients.enter_context(stream(server))

        status = status_of(server.address)

    assert status == 200


def test_a_stream_ends_when_its_client_is_gone(server: Server, app: Streams) -> None:
    stream(server).close()

    assert app.ended.acquire(timeout=PATIENCE)


def test_closing_hangs_up_on_streams_and_gives_the_port_back(server: Server, app: Streams) -> None:
    with stream(server) as client:
        server.close()

        while client.recv(4096):
            pass

    assert app.ended.acquire(timeout=PATIENCE)
    with socket.create_server(("127.0.0.1", server.port)):
        pass


def test_closing_twice_is_closing_once(server: Server) -> None:
    server.close()

    server.close()

    with pytest.raises(OSError, match="refused"):
        status_of(server.address)


def test_a_port_in_use_is_bad_usage(server: Server, app: Streams) -> None:
    with pytest.raises(UsageError, match=f"Port {server.port} cannot be used"):
        Server(app, server.port)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127/8 for itself")
def test_only_the_loopback_address_is_bound(server: Server) -> None:
    # Would be taken if the server listened on all addresses.
    with socket.create_server(("127.0.0.2", server.port)) as other:
        assert other.getsockname()[1] == server.port
