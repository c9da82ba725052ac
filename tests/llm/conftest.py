"""What the tests of the live summariser share: a server on this machine, and nobody's real key."""

from __future__ import annotations

import os
from collections.abc import Iterator

import anthropic  # noqa: F401 - slow to import: not within a test's deadline
import pytest

from app.llm.access import Access
from tests.fake_api import FakeApi


@pytest.fixture(autouse=True)
def _no_real_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("ANTHROPIC_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as api:
        yield api


@pytest.fixture
def access(api: FakeApi) -> Access:
    return Access(api.key, base_url=api.url)
