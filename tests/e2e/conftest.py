"""The app on a real port, and a real browser that tells on every page."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from waitress import create_server

from app.services import build
from app.web import create_app
from tests.builders import TODOS_SCHEMA, SessionData, call, human, make_store, record, result, says

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

TOKEN = "the-token-of-this-launch"

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@contextmanager
def serving(folder: Path, home: Path) -> Iterator[str]:
    """The app over `folder`; yields the address, without the token."""
    app = create_app(build(folder, home), TOKEN)
    server = create_server(app, host="127.0.0.1", port=0, threads=8)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()
        thread.join(5)


SESSIONS = (
    SessionData(
        id="11111111-0000-4000-8000-000000000001",
        runs=(
            (
                human("Port the billing report to CSV. Keep the header row."),
                says("I'll read the writer.", call("c1", "read_file", '{"path":"src/writer.py"}')),
                result("c1", "class ReportWriter:\n    ...\n" * 400),
                says("Now the test.", call("c2", "bash", '{"command":"pytest -q"}')),
                result("c2", "3 passed"),
                says("Done: the header row stays."),
            ),
            (human("Good. Next, the monthly totals."), says("On it.")),
        ),
        records=(record(tier=1), record(tier=2), record(tier=3, error="LLM summary failed")),
        files={"c1": "class ReportWriter:\n    ...\n" * 2000},
    ),
    SessionData(
        id="22222222-0000-4000-8000-000000000002",
        runs=([human("修复导入器：保留表头行"), says("好的。")] * 150,),
    ),
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("walk")
    make_store(root / "billing", SESSIONS, TODOS_SCHEMA)
    with serving(root / "billing", root / "nobody") as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@dataclass
class Witness:
    """A page, and everything that it did which it should not have."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self._heard(message.type, message.text))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("requestfailed", lambda request: self._lost(request.url, request.failure))

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.faults.append(f"{kind}: {text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address + "/", "data:")):
            self.faults.append(f"asked elsewhere: {url}")

    def _lost(self, url: str, why: str) -> None:
        # What a page still loads when it is left is given up, which is no fault.
        if why != "net::ERR_ABORTED":
            self.faults.append(f"lost: {url}: {why}")


Open = Callable[..., Witness]


@pytest.fixture
def opened(chromium: Browser, address: str) -> Iterator[Open]:
    """Opens the first URL in a fresh window; afterwards no window may have misbehaved."""
    contexts: list[BrowserContext] = []
    witnesses: list[Witness] = []

    def open_window(width: int = 1280, height: int = 800, **options: object) -> Witness:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            **options,  # type: ignore[arg-type]
        )
        context.set_default_timeout(10_000)
        contexts.append(context)
        witness = Witness(context.new_page(), address)
        witnesses.append(witness)
        witness.page.goto(f"{address}/?token={TOKEN}")
        return witness

    yield open_window

    for context in contexts:
        context.close()
    assert [fault for witness in witnesses for fault in witness.faults] == []
