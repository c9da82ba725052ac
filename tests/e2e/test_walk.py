"""The workbench in a real browser: the main walk, the keys, and life without script."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Open

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

FIRST = "Port the billing report"
SECOND = "修复导入器"


def go_to_history(page: Page) -> None:
    page.get_by_role("link", name=FIRST).first.click()
    expect(page.get_by_role("article").first).to_contain_text(FIRST)


def test_the_token_is_gone_from_the_address(opened: Open) -> None:
    page = opened().page

    assert "token" not in page.url
    expect(page).to_have_title("Sessions · billing · Anchorline")


def test_a_followed_link_changes_the_main_part_and_keeps_the_rest(opened: Open) -> None:
    window = opened()
    page = window.page
    page.evaluate("document.getElementById('side-bar').dataset.mine = 'yes'")

    go_to_history(page)

    assert page.url.endswith("/history")
    expect(page).to_have_title(f"{FIRST} to CSV. Keep the header row. · billing · Anchorline")
    expect(page.locator("#side-bar")).to_have_attribute("data-mine", "yes")
    expect(page.locator("[role=treeitem][aria-current=page]")).to_contain_text("History")
    page.reload()
    expect(page.get_by_role("article").first).to_contain_text(FIRST)


def test_going_back_shows_the_page_before(opened: Open) -> None:
    page = opened().page
    go_to_history(page)

    page.go_back()

    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    assert page.url.endswith("/")


def test_a_long_result_opens_and_more_of_it_is_fetched_in_place(opened: Open) -> None:
    page = opened().page
    go_to_history(page)
    result = page.locator("#m3")

    result.locator("summary").first.click()
    result.get_by_role("link", name="Show more").click()

    expect(result.locator("pre")).to_have_count(2)
    expect(result.get_by_role("link", name="Show more")).to_have_count(0)


def test_the_raw_message_is_fetched_when_it_is_asked_for(opened: Open) -> None:
    page = opened().page
    go_to_history(page)

    page.locator("#m5").get_by_text("Raw").click()

    expect(page.locator("#m5 .message-raw pre")).to_contain_text('"tool_call_id": "c2"')


def test_a_call_leads_to_its_result(opened: Open) -> None:
    page = opened().page
    go_to_history(page)

    page.locator("#m4").get_by_role("link", name="result 5").click()

    expect(page.locator("#m5.is-target")).to_be_in_viewport()


def test_a_long_session_is_paged_and_keeps_the_place(opened: Open) -> None:
    page = opened().page
    page.get_by_role("link", name=SECOND).first.click()
    expect(page.locator("#m300")).to_be_attached()
    expect(page.locator("#m200")).not_to_be_attached()

    page.get_by_role("link", name="Earlier messages").click()

    expect(page.locator("#m200")).to_be_in_viewport()
    assert page.get_by_role("article").count() <= 200


def test_an_offloaded_file_is_read_page_by_page(opened: Open) -> None:
    page = opened().page
    go_to_history(page)

    page.get_by_role("navigation", name="Views of this session").get_by_text("Offloads").click()
    page.get_by_role("link", name="c1").click()
    page.get_by_role("link", name="Next page").first.click()

    expect(page.locator(".line-number").first).to_have_text("401")
    page.get_by_role("link", name="Show in the history").click()
    expect(page.locator("#m3.is-target")).to_be_in_viewport()


def test_the_tree_is_worked_with_the_arrow_keys(opened: Open) -> None:
    page = opened().page
    page.keyboard.press("Control+Shift+E")
    focused = page.locator(":focus")

    page.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    expect(focused).to_contain_text("History")
    page.keyboard.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-level", "1")
    page.keyboard.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("End")
    expect(focused).to_contain_text(SECOND)
    page.keyboard.press("Enter")
    expect(page.get_by_role("article").first).to_contain_text(SECOND)


def test_sessions_are_filtered_and_sorted(opened: Open) -> None:
    page = opened().page
    rows = page.locator("#side-scroll [aria-level='1']:visible")

    page.get_by_role("searchbox", name="Filter sessions").fill("表头")
    expect(rows).to_have_count(1)
    page.get_by_role("searchbox", name="Filter sessions").fill("nothing like it")
    expect(page.get_by_text("No session matches.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(rows).to_have_count(2)
    page.locator("[title='Sort sessions']").click()
    page.get_by_role("button", name="Title").click()
    expect(rows.first).to_contain_text(FIRST)


def test_quick_open_finds_sessions_views_and_commands(opened: Open) -> None:
    page = opened().page

    page.keyboard.press("Control+p")
    page.keyboard.type("billing offloads")
    page.keyboard.press("Enter")
    expect(page.get_by_role("table", name="Offloaded tool results")).to_be_visible()
    page.keyboard.press("Control+Shift+P")
    page.keyboard.type("side bar")
    page.keyboard.press("Enter")
    expect(page.locator("#side-bar")).to_be_hidden()


def test_parts_of_the_window_are_hidden_and_stay_so(opened: Open) -> None:
    page = opened().page

    page.keyboard.press("Control+b")
    expect(page.locator("#side-bar")).to_be_hidden()
    page.reload()
    expect(page.locator("#side-bar")).to_be_hidden()
    page.keyboard.press("Control+b")
    expect(page.locator("#side-bar")).to_be_visible()


def test_a_splitter_is_moved_with_the_mouse_and_the_keys(opened: Open) -> None:
    page = opened().page
    splitter = page.get_by_role("separator", name="Side bar width")
    width = page.locator("#side-bar").bounding_box()["width"]  # type: ignore[index]

    splitter.press("ArrowRight")
    splitter.press("ArrowRight")
    assert page.locator("#side-bar").bounding_box()["width"] == width + 32  # type: ignore[index]
    splitter.dblclick()
    assert page.locator("#side-bar").bounding_box()["width"] == width  # type: ignore[index]


def test_the_parts_are_gone_round_with_f6(opened: Open) -> None:
    page = opened().page
    part = "document.activeElement.closest('[data-part], #editor')?.className ?? ''"
    seen = []

    for _ in range(6):
        page.keyboard.press("F6")
        seen.append(page.evaluate(part).split(" ")[0])

    assert {"title-bar", "activity-bar", "side-bar", "tab-strip", "editor"} <= set(seen)


@pytest.mark.parametrize(
    ("theme", "key", "colour"),
    [
        ("Light", "light", "rgb(255, 255, 255)"),
        ("High contrast, dark", "hc-dark", "rgb(0, 0, 0)"),
        ("High contrast, light", "hc-light", "rgb(255, 255, 255)"),
        ("Dark", "dark", "rgb(32, 35, 41)"),
    ],
)
def test_a_theme_is_chosen_and_stays(opened: Open, theme: str, key: str, colour: str) -> None:
    page = opened().page

    page.locator("[title='Colour theme']").click()
    page.get_by_role("button", name=theme, exact=True).click()

    expect(page.locator("html")).to_have_attribute("data-theme", key)
    expect(page.locator("body")).to_have_css("background-color", colour)
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", key)


def test_the_system_decides_while_no_theme_is_chosen(opened: Open) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"

    dark = opened(color_scheme="dark").page.evaluate(ground)
    light = opened(color_scheme="light").page.evaluate(ground)

    assert dark != light == "rgb(255, 255, 255)"


def test_everything_can_be_read_without_script(opened: Open) -> None:
    page = opened(java_script_enabled=False).page

    page.get_by_role("table").get_by_role("link", name=FIRST).click()
    expect(page.get_by_role("article").first).to_contain_text(FIRST)
    page.locator("#m3 summary").first.click()
    page.locator("#m3").get_by_role("link", name="Show more").click()
    expect(page.locator("pre")).to_contain_text("class ReportWriter")
    page.get_by_role("link", name="Show in the history").click()
    page.get_by_role("navigation", name="Views of this session").get_by_text("Plan").click()
    expect(page.get_by_role("heading", name="No plan")).to_be_visible()
    page.locator("[title='Colour theme']").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    expect(page.get_by_role("heading", name="No plan")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1440, 900), (900, 700), (700, 560)])
def test_nothing_sticks_out_of_the_window(opened: Open, width: int, height: int) -> None:
    page = opened(width, height).page
    go_to_history(page)

    size = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    )
    inner = page.evaluate(
        "(e => [e.scrollWidth <= e.clientWidth, e.clientWidth > 300])"
        "(document.getElementById('editor'))"
    )

    assert size == [width, height]
    assert inner == [True, True]


def test_a_server_that_is_gone_is_told_in_the_status_bar(opened: Open, address: str) -> None:
    window = opened()
    page = window.page
    page.route("**/problems", lambda route: route.abort())

    page.get_by_role("link", name="Problems").first.click()

    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    window.faults.clear()


def test_a_page_that_is_not_there_says_so_in_place(opened: Open, address: str) -> None:
    window = opened()
    page = window.page
    page.evaluate(
        "a = document.createElement('a'); a.href = '/sessions/nobody/history';"
        "a.textContent = 'lost'; document.getElementById('editor').append(a); htmx.process(a);"
    )

    page.get_by_role("link", name="lost").click()

    expect(page.get_by_role("alert").filter(has_text="There is no session")).to_be_visible()
    expect(page.locator("#side-bar")).to_be_visible()
    assert [fault for fault in window.faults if "404" not in fault] == []
    window.faults.clear()
