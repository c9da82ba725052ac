from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.errors import NotFound
from app.services import Services, build
from app.services.anchors import Change, anchor_histories, anchors_view
from app.services.compactions import entries, listing, record_text, step
from app.services.timeline import timeline_view
from compaction.anchors import HEADINGS, Anchor
from tests.builders import SESSION, SessionData, human, make_store, record

PROJECTS = {
    "coding-home": ("coding-home/project", "coding-home/home"),
    "research-zh": ("research-zh", "research-zh"),
    "lost-runs": ("lost-runs", "lost-runs"),
    "writeback-home": ("writeback-home/project", "writeback-home/home"),
}


@pytest.fixture(params=PROJECTS)
def project(request: pytest.FixtureRequest, corpus: Path) -> Services:
    folder, home = PROJECTS[request.param]
    return build(corpus / folder, corpus / home)


def test_every_recorded_compaction_of_the_corpus_can_be_stepped_through(project: Services) -> None:
    for info in project.workspace.sessions():
        session = project.session(info.id)
        every = entries(session)

        for n, entry in enumerate(every, start=1):
            page = step(session, n)

            assert page.entry == entry
            assert (page.previous or 0, page.next or len(every) + 1) == (n - 1, n + 1)
            assert (page.diff is None) == (entry.evidence == "unavailable")
            assert entry.reason


def test_a_verified_diff_adds_up_to_what_the_record_reports(project: Services) -> None:
    for info in project.workspace.sessions():
        session = project.session(info.id)
        for entry in entries(session):
            diff = step(session, entry.n).diff
            if diff is None or entry.evidence != "verified":
                continue

            assert (diff.tokens_before, diff.tokens_after) == (
                entry.tokens_before,
                entry.tokens_after,
            )
            assert (diff.messages_before, diff.messages_after) == (
                entry.msgs_before,
                entry.msgs_after,
            )


def test_the_list_and_the_chart_hold_every_record(project: Services) -> None:
    for info in project.workspace.sessions():
        session = project.session(info.id)

        page, chart = listing(session), timeline_view(session).chart

        assert sum(len(episode.entries) for episode in page.episodes) == page.total
        assert sum(count.count for count in page.evidence) == page.total
        assert len(chart.markers) <= page.total
        assert bool(chart.markers) == bool(page.total)
        assert page.episodes or page.none_says


def test_a_number_that_is_not_there_is_not_found(project: Services) -> None:
    session = project.session(project.workspace.sessions()[0].id)

    for n in (0, -1, 10_000):
        with pytest.raises(NotFound, match=str(n)):
            step(session, n)


def test_a_long_list_comes_in_pages_that_hold_each_compaction_once(tmp_path: Path) -> None:
    data = SessionData(runs=((human("hi"),),), records=[record() for _ in range(450)])
    make_store(tmp_path, [data])
    session = build(tmp_path, tmp_path).session(SESSION)

    seen: list[int] = []
    start: int | None = 1
    while start:
        page = listing(session, start)
        seen += [entry.n for episode in page.episodes for entry in episode.entries]
        start = page.later

    assert seen == list(range(1, 451))
    assert listing(session, 10**9).first == 450
    assert listing(session, -5).first == 1


def test_a_giant_record_can_be_read_in_full_a_chunk_at_a_time(tmp_path: Path) -> None:
    giant = record(tier=3, summary_text="详" * 40_000 + "the end")
    make_store(tmp_path, [SessionData(runs=((human("hi"),),), records=[record(), giant])])
    session = build(tmp_path, tmp_path).session(SESSION)

    text, start = "", 0
    while True:
        page = record_text(session, 2, start)
        text += page.excerpt.text
        start = page.excerpt.end
        if not page.excerpt.rest:
            break

    assert json.loads(text)["summary_text"] == giant.summary_text
    assert page.line == 2


def anchors(**texts: str) -> tuple[Anchor, ...]:
    return tuple(Anchor(kind, texts.get(kind, "N/A")) for kind in HEADINGS)


def test_an_anchor_is_set_carried_changed_and_erased() -> None:
    records = [
        record(tier=3, anchors=anchors(user_intent="port it")),
        record(tier=1),
        record(tier=3, anchors=anchors(user_intent="port it")),
        record(tier=2, anchors=anchors(user_intent="port it to CSV")),
        record(tier=2, anchors=anchors(user_intent="- N/A")),
    ]

    intent, *others = anchor_histories(records)

    assert [(v.change, v.first, v.last) for v in intent.versions] == [
        (Change.SET, 1, 3),
        (Change.CHANGED, 4, 4),
        (Change.ERASED, 5, 5),
    ]
    assert (intent.erasures, intent.ever_set) == (1, True)
    assert not any(other.ever_set for other in others)


def test_the_anchors_page_says_why_there_are_none(project: Services) -> None:
    for info in project.workspace.sessions():
        page = anchors_view(project.session(info.id))

        assert bool(page.compactions) or bool(page.none_says)
        assert len(page.anchors) == len(HEADINGS)
