"""Records that no harness9 would write: every view still answers, in bounded size."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from compaction.anchors import Anchor
from compaction.records import CompactionRecord, OffloadEntry
from tests.builders import SESSION, SessionData, call, human, record, result, says
from tests.web.conftest import Opened
from tests.web.pages import Page, walk

MEGABYTE = 2**20
HUGE = 10**17
HERE = f"/sessions/{SESSION}"
VIEWS = ("compactions", "compactions/1", "anchors", "offloads", "recompact?n=1", "timeline")
TURN = (human("go"), says("", call("c1")), result("c1", "x" * 5000), says("done"))

ODD_RECORDS = {
    "unknown tiers": [record(tier=tier) for tier in (7, -1, HUGE, -HUGE)],
    "negative numbers": [
        record(tier=3, tokens_before=-5, tokens_after=-9, msgs_before=-3, msgs_after=-9),
        record(tier=3, summarized=-4, preserved_tail=-7, duration=-(10**12), compression_ratio=-1),
    ],
    "huge numbers": [
        record(tier=3, tokens_before=1, tokens_after=HUGE, msgs_before=HUGE, msgs_after=HUGE),
        record(tier=3, summarized=HUGE, preserved_tail=HUGE, duration=100 * HUGE),
    ],
    "fewer messages than are stored": [record(tier=3, msgs_before=2, msgs_after=1, summarized=1)],
    "more messages than are stored": [record(tier=3, msgs_before=99, msgs_after=9, summarized=90)],
    "no window fits all": [record(tokens_before=10**9), record(tier=4, tokens_before=1)],
    "anchors twice and of no kind": [
        record(
            tier=3, anchors=tuple(Anchor(k, "v") for k in ("user_intent", "user_intent", "", "?"))
        )
    ],
    "the record of another session": [record(session_id="../evil"), record(session_id="")],
    "times that are none": [record(timestamp=t) for t in ("", "<b>", "9999-12-31T23:59:59Z")],
    "files twice and nowhere": [
        record(
            tier=2,
            offloaded=(
                OffloadEntry("c1", "bash", "/x", 5000, 1),
                OffloadEntry("c1", "bash", "/x", 5000, 1),
                OffloadEntry("", "\0", "a\0b", -1, HUGE),
            ),
        )
    ],
}


@pytest.mark.parametrize("records", ODD_RECORDS.values(), ids=ODD_RECORDS)
def test_odd_records_are_shown_in_every_view(
    opened: Opened, records: list[CompactionRecord]
) -> None:
    client = opened(SessionData(runs=(TURN,), records=records))

    for url, answer in walk(client, *(f"{HERE}/{view}" for view in VIEWS), alike=2):
        assert answer.status_code == 200, url
        assert Page(answer.text).faults == [], url


@pytest.mark.parametrize("runs", [(TURN,), ()], ids=["with messages", "with records only"])
def test_a_giant_record_makes_no_giant_page(opened: Opened, runs: tuple[object, ...]) -> None:
    giant = record(
        tier=3,
        anchors=(Anchor("user_intent", "a" * MEGABYTE), Anchor("user_intent", "b" * MEGABYTE)),
        summary_text="s" * MEGABYTE,
        error="e" * MEGABYTE,
    )
    client = opened(SessionData(runs=runs, records=[giant]))  # type: ignore[arg-type]

    for view in VIEWS:
        answer = client.get(f"{HERE}/{view}")

        assert answer.status_code == 200, view
        assert len(answer.data) < 150_000, view


def test_what_is_cut_of_an_anchor_is_counted(opened: Opened) -> None:
    long = record(tier=3, anchors=(Anchor("user_intent", "a" * 100_000),))
    client = opened(SessionData(runs=(TURN,), records=[long]))

    text = Page(client.get(f"{HERE}/anchors").text).text

    assert "and 96,000 more characters" in text


@pytest.mark.parametrize("what", ["9" * 5000, "٣" * 5000], ids=["ASCII", "Arabic"])
def test_a_number_too_long_to_read_is_not_found(client: FlaskClient, what: str) -> None:
    answer = client.get(f"{HERE}/messages/1/{quote(what)}")

    assert answer.status_code == 404


ODD_VALUES = ("", "NaN", "1" + "0" * 400, "-" + "9" * 5000, "٣", "²", "1.5", "\0", "x" * 100_000)
ASKED_FOR = {
    "history": ("at",),
    "compactions": ("from",),
    "compactions/1": ("expanded",),
    "compactions/1/fold": ("first", "last", "fate"),
    "recompact": ("n", "at", "tier", "summariser", "system_bytes", "context_window", "warn"),
    "recompact/fold": ("n", "at", "first", "last", "fate", "warn"),
    "offload": ("call", "offset"),
    "messages/1/text": ("start",),
    "timeline": ("n",),
}


@pytest.mark.parametrize("view", ASKED_FOR)
def test_odd_values_in_an_address_are_refused_or_ignored(client: FlaskClient, view: str) -> None:
    for name in ASKED_FOR[view]:
        for value in ODD_VALUES:
            for query in ({name: value}, {name: [value, "1"], f"{name}[]": "2"}):
                answer = client.get(f"{HERE}/{view}", query_string=query)

                assert answer.status_code in (200, 404, 422), (name, value[:20])
