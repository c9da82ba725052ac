"""Opens folders made of the given sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.services import Services, build
from app.sources.model import Session
from tests.builders import SessionData, make_store

Opened = Callable[..., Services]
Read = Callable[[SessionData], Session]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """The services over a folder of the given sessions."""

    def open_with(*sessions: SessionData, schema: str = "") -> Services:
        return build(make_store(tmp_path / "project", sessions, schema))

    return open_with


@pytest.fixture
def read(opened: Opened) -> Read:
    """The one session of a folder."""
    return lambda data: opened(data).session(data.id)
