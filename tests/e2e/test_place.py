"""The reader's place: the stretch of a page that is looked at, and where the keys go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Open, serving

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

LOOPING = "/sessions/383b43d3-ec49-4793-89e5-c64337493ea3"


@pytest.fixture(scope="module")
def address(corpus: Path) -> Iterator[str]:
    """The app over a real project, in place of the small one."""
    root = corpus / "coding-home"
    with serving(root / "project", root / "home") as address:
        yield address


def go(opened: Open, path: str) -> Page:
    window = opened()
    window.page.goto(window.address + path)
    return window.page


def arrived(page: Page, title: str) -> None:
    """Wait until the page of that title has come to life: the timeline is what comes last."""
    expect(page).to_have_title(title)
    expect(page.locator(".timeline-marker[tabindex='0']")).to_have_count(1)


def scrolled_to(page: Page) -> int:
    return int(page.locator("#editor").evaluate("(editor) => editor.scrollTop"))


def test_going_back_puts_every_page_where_it_was(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/history")
    history = page.title()
    page.locator("#editor").evaluate("(editor) => { editor.scrollTop = 3000; }")
    tabs = page.get_by_role("navigation", name="Views of this session")
    tabs.get_by_text("Compactions").click()
    expect(page).to_have_title("Compactions · project · Anchorline")
    page.locator("#editor").evaluate("(editor) => { editor.scrollTop = 120; }")
    tabs.get_by_text("Anchors").click()
    expect(page).to_have_title("Anchors · project · Anchorline")

    page.go_back()
    arrived(page, "Compactions · project · Anchorline")
    list_place = scrolled_to(page)
    page.go_back()
    arrived(page, history)

    assert list_place == 120
    assert scrolled_to(page) == 3000


def test_the_keys_go_back_and_forward_where_there_is_no_button_for_it(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")
    page.keyboard.press("F8")
    expect(page).to_have_title("Compaction 13 of 48 · project · Anchorline")

    page.keyboard.press("Alt+ArrowLeft")
    arrived(page, "Compaction 12 of 48 · project · Anchorline")
    page.keyboard.press("Alt+ArrowRight")

    expect(page).to_have_title("Compaction 13 of 48 · project · Anchorline")


def test_reloading_keeps_the_place_also_after_a_link_to_a_message(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/history?at=95#m95")
    page.locator("#editor").evaluate("(editor) => { editor.scrollTop = 1500; }")

    page.reload()
    arrived(page, page.title())

    assert scrolled_to(page) == 1500


@pytest.mark.parametrize("place", ["?at=95#m95", "#m95", "?at=95"])
def test_a_message_that_is_linked_to_is_not_behind_the_head_of_the_page(
    opened: Open, place: str
) -> None:
    page = go(opened, f"{LOOPING}/history{place}")

    message = page.locator("#m95.is-target")
    expect(message).to_be_in_viewport()
    top = message.evaluate("(one) => one.getBoundingClientRect().top")
    head = page.locator(".page-head").evaluate("(one) => one.getBoundingClientRect().bottom")

    assert top >= head


def test_the_keys_scroll_a_page_as_soon_as_it_is_there(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/history")

    page.keyboard.press("End")

    expect(page.locator("#m188")).to_be_in_viewport()


def test_what_is_fetched_in_place_takes_the_focus_over(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/history?at=13")

    page.locator("#m13").get_by_role("link", name="Show original").press("Enter")
    expect(page.locator("#m13").locator(".output-chunk")).to_be_visible()

    assert page.locator("#m13").evaluate("(one) => one.contains(document.activeElement)")


def test_an_opened_fold_takes_the_focus_over(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")

    page.locator(".diff-fold.wide").press("Enter")
    expect(page.locator(".diff-fold.wide")).to_have_count(0)

    assert page.locator("#diff").evaluate("(one) => one.contains(document.activeElement)")


def test_the_markers_of_the_timeline_are_one_stop_and_gone_along_with_the_arrows(
    opened: Open,
) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")
    stops = page.locator(".timeline-marker[tabindex='0']")
    expect(stops).to_have_count(1)

    stops.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    expect(page).to_have_title("Compaction 13 of 48 · project · Anchorline")


def test_f6_goes_to_what_is_current_in_each_part(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/anchors")
    current = []

    for _ in range(7):
        page.keyboard.press("F6")
        current.append(page.locator(":focus").inner_text().strip().split("\n")[0])

    assert current.count("Anchors") == 3, (
        "the row of the tree, the tab, and the editor by its heading"
    )
    assert "Timeline" in current
