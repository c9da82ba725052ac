"""Every view in a real browser, judged by axe: nothing that shuts a person out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Open, serving

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

AXE = (Path(__file__).parent / "vendor/axe-core/axe.min.js").read_text("utf-8")
RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target} ${node.failureSummary}`))
"""

LOOPING = "/sessions/383b43d3-ec49-4793-89e5-c64337493ea3"
PLANNED = "/sessions/206aaf97-7700-4557-8a76-e3dc11b2d0b0"
VIEWS = (
    "/",
    "/problems",
    f"{LOOPING}/history",
    f"{LOOPING}/compactions",
    f"{LOOPING}/compactions/1",
    f"{LOOPING}/compactions/12",
    f"{LOOPING}/compactions/20",
    f"{LOOPING}/compactions/48",
    f"{LOOPING}/compactions/12/fold?first=62&last=70&fate=kept",
    f"{LOOPING}/anchors",
    f"{LOOPING}/offloads",
    f"{LOOPING}/offload?call=call_0047",
    f"{LOOPING}/plan",
    f"{LOOPING}/findings",
    f"{LOOPING}/recompact?n=12",
    f"{LOOPING}/recompact?n=12&window=none",
    f"{PLANNED}/plan",
    "/sessions/nobody/history",
)


@pytest.fixture(scope="module")
def address(corpus: Path) -> Iterator[str]:
    """The app over a real project, in place of the small one."""
    root = corpus / "coding-home"
    with serving(root / "project", root / "home") as address:
        yield address


def violations(page: Page) -> list[str]:
    """What axe holds to be serious or critical, element by element."""
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN)
    return [re.sub(r"\s+", " ", one) for one in found]


BUSIEST = (
    "/problems",
    f"{LOOPING}/history",
    f"{LOOPING}/compactions/12",
    f"{LOOPING}/offloads",
    f"{LOOPING}/recompact?n=12",
)
"""Those with the most colours, for the themes that are built from the same ones."""


@pytest.mark.parametrize(
    ("scheme", "contrast", "views"),
    [
        ("dark", "no-preference", VIEWS),
        ("light", "no-preference", VIEWS),
        ("dark", "more", BUSIEST),
        ("light", "more", BUSIEST),
    ],
    ids=["dark", "light", "high contrast, dark", "high contrast, light"],
)
def test_no_view_has_a_serious_barrier(
    opened: Open, scheme: str, contrast: str, views: tuple[str, ...]
) -> None:
    window = opened(color_scheme=scheme, contrast=contrast)
    found = {}

    for path in views:
        window.page.goto(window.address + path)
        window.page.wait_for_load_state("networkidle")
        found[path] = violations(window.page)
    # Answers of 404 and 422 are part of the walk; the browser reports them on its console.
    window.faults[:] = [fault for fault in window.faults if "the server responded" not in fault]

    assert {path: faults for path, faults in found.items() if faults} == {}


def test_axe_runs_and_sees_a_barrier(opened: Open) -> None:
    window = opened()

    window.page.evaluate("document.querySelector('#main a').replaceChildren()")

    assert any(fault.startswith("link-name") for fault in violations(window.page))
