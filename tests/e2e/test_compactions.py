"""Real sessions in a real browser: from compaction to compaction, and what if."""

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


def test_f8_goes_from_compaction_to_compaction_and_the_timeline_follows(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/11")

    page.keyboard.press("F8")
    expect(page).to_have_url(f"{page.url.rpartition('/')[0]}/12")
    page.keyboard.press("F8")
    expect(page).to_have_url(f"{page.url.rpartition('/')[0]}/13")
    page.keyboard.press("Shift+F8")

    expect(page).to_have_title("Compaction 12 of 48 · project · Anchorline")
    expect(page.locator(".timeline-marker.is-current")).to_have_attribute(
        "href", f"{LOOPING}/compactions/12"
    )


def test_a_fold_opens_in_place_on_both_sides(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")
    before = page.locator("#diff article").count()
    fold = page.locator(".diff-fold.wide")

    fold.click()

    expect(fold).to_have_count(0)
    expect(page.locator("#diff article")).to_have_count(before + 2 * 57)
    assert page.url.endswith("/compactions/12")


def test_a_fold_of_summarised_messages_opens_beside_its_summary(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")
    band = page.locator(".band-summarised")

    band.locator(".diff-fold").click()

    expect(band.locator("article")).to_have_count(54)


def test_the_summary_stands_beside_what_it_swallowed(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/25")

    band = page.locator(".band-summarised").bounding_box()
    summary = page.locator(".right.is-compaction").bounding_box()

    assert band is not None
    assert summary is not None
    assert band["y"] == pytest.approx(summary["y"], abs=1)
    assert band["x"] + band["width"] <= summary["x"] + 1


def test_a_message_in_the_diff_leads_to_its_place_in_the_history(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")

    page.locator("#diff").get_by_role("link", name="54", exact=True).click()

    expect(page.locator("#m54")).to_be_in_viewport()


def test_the_keyboard_goes_from_change_to_change(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")

    page.keyboard.press("Alt+F5")
    expect(page.locator(".band-summarised")).to_be_focused()
    page.keyboard.press("Alt+F5")

    expect(page.locator(".band-dropped")).to_be_focused()


def test_another_threshold_is_tried_from_the_step(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")

    page.get_by_role("link", name="Re-compact").last.click()
    page.get_by_label("Soft at").fill("75")
    page.get_by_role("button", name="Compact", exact=True).click()

    row = page.get_by_role("row", name="Tier")
    expect(row.get_by_role("cell").nth(0)).to_have_text("Soft")
    expect(row.get_by_role("cell").nth(1)).to_have_text("Warn")
    expect(page.locator(".is-modified")).to_contain_text("was 70")
    assert "soft=75" in page.url


def test_every_anchor_is_there_with_its_versions(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/anchors")

    expect(page.locator("section.anchor")).to_have_count(5)
    page.locator("section.anchor").first.get_by_role("link", name="#11").click()

    expect(page).to_have_title("Compaction 11 of 48 · project · Anchorline")


def test_a_long_message_is_opened_with_the_keyboard_and_never_scrolls_by_itself(
    opened: Open,
) -> None:
    page = go(opened, f"{LOOPING}/compactions/12")
    text = page.locator("#diff .message-text:has(+ .whole)").first
    cut_short = text.evaluate("(one) => one.clientHeight")

    text.locator("+ .whole summary").press("Enter")

    assert text.evaluate("(one) => one.clientHeight") > cut_short
    assert text.evaluate("(one) => one.scrollHeight - one.clientHeight") == 0
    assert text.evaluate("(one) => getComputedStyle(one).overflowY") == "visible"


def test_an_offloaded_result_leads_to_its_file_and_to_its_message(opened: Open) -> None:
    page = go(opened, f"{LOOPING}/compactions/5")
    row = page.locator(".section tbody tr")
    in_history = row.get_by_role("link", name="message").get_attribute("href")

    page.locator("#diff").get_by_role("link", name="Open the file").first.click()
    expect(page.locator("#main .lines")).to_be_visible()

    assert in_history is not None
    assert in_history.startswith(f"{LOOPING}/history?at=")


def test_without_scripts_a_fold_is_a_page_with_a_way_back(opened: Open) -> None:
    window = opened(java_script_enabled=False)
    page = window.page
    page.goto(f"{window.address}{LOOPING}/recompact?n=12&soft=65")
    before = page.url

    page.locator(".diff-fold").first.click()
    expect(page.locator("#main article").first).to_be_visible()
    page.get_by_role("link", name="Back to the comparison").click()

    expect(page).to_have_url(before)


@pytest.mark.parametrize("view", ["compactions", "compactions/12", "recompact?n=12", "offloads"])
def test_nothing_is_cut_off_in_a_narrow_window(opened: Open, view: str) -> None:
    window = opened(width=900)
    window.page.goto(f"{window.address}{LOOPING}/{view}")

    beyond = window.page.locator("#editor").evaluate("(one) => one.scrollWidth - one.clientWidth")

    assert beyond <= 0
