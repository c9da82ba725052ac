"""Everything in an inspected folder may have been written by an attacker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.services import build
from app.web import create_app
from compaction.anchors import Anchor
from compaction.records import OffloadEntry
from tests.builders import (
    TODOS_SCHEMA,
    SessionData,
    call,
    human,
    make_store,
    record,
    result,
    says,
)
from tests.web.conftest import TOKEN, Opened, admitted
from tests.web.pages import BLOCK, BOOSTED, Page, walk

BREAKOUT = '"><svg onload=alert(3)>'
SCRIPT = "</script><script>alert(5)</script>"
LINK = "[click](javascript:alert(1)) <img src=x onerror=alert(2)>"
TEMPLATE = "{{ 7 * 7 }}{% raw %}<!-- --!> ]]> &lt;"
DATA = "data:text/html,<script>alert(6)</script>"


@pytest.fixture
def hostile(tmp_path: Path) -> FlaskClient:
    """A folder with a payload in every field that is shown."""
    name = f"<img src=x onerror=alert(4)>{SCRIPT}"
    arguments = json.dumps({"<b>k</b>": SCRIPT, BREAKOUT: {"deep": [SCRIPT]}})
    data = SessionData(
        id="x'onload=alert(1) y=\"",
        runs=(
            (
                human(LINK + TEMPLATE),
                says(
                    f"<script>top.location='http://192.0.2.1/'</script>{TEMPLATE}",
                    call(BREAKOUT, name, arguments),
                    call("c2", name, json.dumps(SCRIPT)),
                ),
                result(BREAKOUT, DATA + SCRIPT * 4000),
                result("c2", SCRIPT),
                human(f"[Context Compaction]\n### User Intent\n{SCRIPT}\n## Summary\n{LINK}"),
                human("\u202e\x00\x1b]0;title\x07"),
            ),
        ),
        records=(
            record(
                anchors=tuple(Anchor(kind, SCRIPT) for kind in ("user_intent", BREAKOUT)),
                offloaded=(OffloadEntry(BREAKOUT, name, f"/{SCRIPT}", 12, 1),),
                summary_text=SCRIPT,
                error=LINK,
            ),
        ),
        files={BREAKOUT.replace("/", "_"): SCRIPT * 3000, "c2": SCRIPT},
    )
    root = make_store(tmp_path / "<b>folder", [data], TODOS_SCHEMA)
    plans = root / ".harness9" / "plans"
    plans.mkdir()
    (plans / f"20260101-{data.id[:8]}{BREAKOUT}.md").write_text(
        f"# {SCRIPT}\nsession: {data.id}\nupdated: {SCRIPT}\n\n- [>] {SCRIPT}\n", "utf-8"
    )
    return admitted(create_app(build(root), TOKEN))


def test_no_page_runs_or_loads_what_a_file_says(hostile: FlaskClient) -> None:
    pages = dict(walk(hostile))

    assert len(pages) > 10
    for url, answer in pages.items():
        assert answer.status_code == 200, url
        assert Page(answer.text).faults == [], url


@pytest.mark.parametrize("headers", [BOOSTED, BLOCK], ids=["followed link", "block"])
def test_no_part_of_a_page_does_either(hostile: FlaskClient, headers: dict[str, str]) -> None:
    for url, _ in walk(hostile):
        answer = hostile.get(url, headers=headers)

        page = Page(answer.text)
        assert answer.status_code == 200, url
        assert page.faults == [], url
        assert "script" not in page.elements, url


def test_all_of_it_is_there_to_be_read(hostile: FlaskClient) -> None:
    (history,) = (url for url, _ in walk(hostile) if url.endswith("/history"))
    text = Page(hostile.get(history).text).text

    for payload in (LINK, SCRIPT, TEMPLATE, DATA, BREAKOUT, "<b>k</b>"):
        assert payload in text


def test_what_cannot_be_sent_is_shown_for_what_it_is(hostile: FlaskClient) -> None:
    (history,) = (url for url, _ in walk(hostile) if url.endswith("/history"))

    text = Page(hostile.get(history).text).text

    assert "⟨U+202E⟩␀␛]0;title␇" in text


def test_no_answer_is_ever_large(opened: Opened) -> None:
    giant = '{"rows":[' + '"x",' * 50_000 + '"x"]}'
    client = opened(
        SessionData(runs=((human(giant), says(giant, call("c", "t", giant)), result("c", giant)),))
    )

    for url, answer in walk(client):
        assert len(answer.data) < 120_000, url


STRANGE_IDS = (
    "../../etc/passwd",
    "..%2f..%2fx",
    "%2e%2e%2f%2e%2e%2fx",
    "/abs",
    "C:\\x",
    ".",
    "..",
    "",
    "a%00b",
    "x" * 400,
    "%ff%fe",
    "1c0ffee1",  # a prefix is for people at a prompt, not for addresses
)


@pytest.mark.parametrize("session_id", STRANGE_IDS)
def test_an_id_that_is_no_session_is_not_found(client: FlaskClient, session_id: str) -> None:
    for view in ("history", "offloads", "plan", "messages/1/raw", "offload?call=c1"):
        answer = client.get(f"/sessions/{session_id}/{view}", follow_redirects=True)

        assert answer.status_code in (400, 404), view


@pytest.mark.parametrize("call_id", ["", "..", "../../x", "/etc/passwd", "c1.txt", "a\x00b", "C1"])
def test_a_call_id_is_looked_up_and_never_a_path(client: FlaskClient, call_id: str) -> None:
    session = next(url for url, _ in walk(client) if url.endswith("/offloads"))

    answer = client.get(session.removesuffix("s"), query_string={"call": call_id})

    assert answer.status_code == 404


@pytest.mark.parametrize("what", ["0/../raw", "text%00", "-1", "9", "1e0", "²", "original"])
def test_a_part_that_is_none_is_not_found(client: FlaskClient, what: str) -> None:
    session = next(url for url, _ in walk(client) if url.endswith("/history"))

    answer = client.get(f"{session.removesuffix('/history')}/messages/1/{what}")

    assert answer.status_code == 404


@pytest.mark.parametrize("number", ["0", "-1", "99", "x", "1" * 400])
def test_a_message_that_is_none_is_not_found(client: FlaskClient, number: str) -> None:
    session = next(url for url, _ in walk(client) if url.endswith("/history"))

    answer = client.get(f"{session.removesuffix('/history')}/messages/{number}/raw")

    assert answer.status_code == 404


@pytest.mark.parametrize("at", ["0", "-5", "99999999999999999999", "x", "1.5", ""])
def test_a_strange_place_in_the_history_shows_the_nearest(client: FlaskClient, at: str) -> None:
    session = next(url for url, _ in walk(client) if url.endswith("/history"))

    answer = client.get(session, query_string={"at": at})

    assert answer.status_code == 200
    assert "Port the billing report" in answer.text


def test_an_error_page_repeats_nothing_that_runs(client: FlaskClient) -> None:
    answer = client.get("/sessions/<script>alert(1)<%2fscript>/history")

    assert answer.status_code == 404
    assert Page(answer.text).faults == []
