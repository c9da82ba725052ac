"""The app over a small folder, and a client that was let in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.services import build
from app.web import create_app
from tests.builders import SessionData, call, human, make_store, record, result, says

PORT = 49152
TOKEN = "the-token-of-this-launch"
ORIGIN = f"http://127.0.0.1:{PORT}"

Opened = Callable[..., FlaskClient]


class Browser(FlaskClient):
    """A client that goes to our port when it is not told another."""

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        kwargs.setdefault("base_url", ORIGIN)
        # Read at once, so that the file behind a static answer is closed.
        kwargs.setdefault("buffered", True)
        return super().open(*args, **kwargs)


def stranger(app: Flask) -> FlaskClient:
    """A client of `app` that was not let in."""
    app.test_client_class = Browser
    return app.test_client()


def admitted(app: Flask) -> FlaskClient:
    """A client of `app` that has followed the first URL."""
    client = stranger(app)
    client.get("/", query_string={"token": TOKEN})
    return client


SMALL = SessionData(
    runs=(
        (
            human("Port the billing report to CSV"),
            says("I'll read the writer first.", call("c1", "read_file", '{"path":"src/w.py"}')),
            result("c1", "class ReportWriter: ..."),
            says("It is one class."),
        ),
    ),
    records=(record(tier=2), record(tier=3, error="LLM summary failed in TierFull")),
    files={"c1": "class ReportWriter: ...\n" * 400},
)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder with one session. To be read only."""
    return make_store(tmp_path_factory.mktemp("web") / "billing", [SMALL])


@pytest.fixture(scope="session")
def app(project: Path) -> Flask:
    """The app over the project; it keeps nothing of a request."""
    return create_app(build(project, project / "nobody"), TOKEN)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return admitted(app)


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Opens a folder made of the given sessions, as a client that was let in."""

    def open_with(*sessions: SessionData) -> FlaskClient:
        return admitted(create_app(build(make_store(tmp_path / "hostile", sessions)), TOKEN))

    return open_with
