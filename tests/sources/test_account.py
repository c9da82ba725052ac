"""On real sessions, every compaction that was saved is rebuilt and its numbers agree."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from app.sources import open_folder
from app.sources.model import Session
from compaction.messages import Message
from compaction.provenance import violations
from compaction.reconstruct import Evidence, Generation
from compaction.tokens import message_bytes
from tests.sources.test_untouched import PROJECTS

VIEW = {
    "206aaf97": {"verified": 11},
    "383b43d3": {"verified": 48},
    "44fcc8eb": {"verified": 4},
    "b20de592": {"verified": 18, "unavailable": 8},
    "e28514f6": {"verified": 2},
    "25535960": {"verified": 10},
    "011cb1e9": {"verified": 5},
    "d1e43dcc": {"verified": 1},
    "e68522e0": {"verified": 11},
    "1baad9fc": {"verified": 5},
}
CLASSIC: dict[str, dict[str, int]] = {"9a210579": {}, "803d2987": {}}
WRITE_BACK = {
    "25fc1d5b": {"verified": 1, "unverified": 1, "unavailable": 22},
    "e8dc148e": {"unverified": 1, "unavailable": 29},
    "6884d300": {"unverified": 1, "unavailable": 26},
    "b74c803d": {"verified": 3},
}
ALL = VIEW | CLASSIC | WRITE_BACK


def session_of(corpus: Path, short: str) -> tuple[Session, int]:
    """A session of the corpus, and the window it was run with."""
    for name, (project, home) in PROJECTS.items():
        for about in json.loads((corpus / name / "SESSIONS.json").read_text("utf-8")):
            if about["session"].startswith(short):
                workspace = open_folder(corpus / name / project, corpus / name / home)
                return workspace.session(workspace.resolve(short)), about["window"]
    raise LookupError(short)


@pytest.mark.parametrize("short", ALL)
def test_as_much_is_proven_as_can_be(corpus: Path, short: str) -> None:
    session, _ = session_of(corpus, short)

    found = Counter(verdict.evidence.value for verdict in session.account.verdicts)

    assert found == ALL[short]


@pytest.mark.parametrize("short", ALL)
def test_the_generation_is_told_from_the_data(corpus: Path, short: str) -> None:
    session, _ = session_of(corpus, short)

    kind = "view" if short in VIEW else "classic" if short in CLASSIC else "write-back"
    assert session.generation is Generation(kind)


@pytest.mark.parametrize("short", [*VIEW, *WRITE_BACK])
def test_the_window_is_within_its_bounds(corpus: Path, short: str) -> None:
    session, window = session_of(corpus, short)

    assert session.account.window is not None
    assert session.account.window.low <= window <= session.account.window.high


@pytest.mark.parametrize("short", [*VIEW, *WRITE_BACK])
def test_every_view_is_lawful_and_weighs_what_its_record_says(corpus: Path, short: str) -> None:
    session, _ = session_of(corpus, short)
    system = session.account.system
    assert system is not None

    for verdict in session.account.verdicts:
        view = verdict.view()
        if view is None:
            continue

        def tokens(messages: tuple[Message, ...]) -> range:
            size = sum(map(message_bytes, messages))
            return range((system.low + size) // 4, (system.high + size) // 4 + 1)

        assert violations(view.draft, view.before) == []
        assert len(view.before) == verdict.record.msgs_before
        assert len(view.draft.slots) == verdict.record.msgs_after
        assert verdict.record.tokens_after in tokens(view.draft.messages)
        if verdict.evidence is Evidence.VERIFIED:
            assert view.unknown == {0}
            assert verdict.record.tokens_before in tokens(view.before)


def test_the_records_of_a_lost_run_are_recognised(corpus: Path) -> None:
    session, _ = session_of(corpus, "b20de592")

    lost, kept = session.account.verdicts[:8], session.account.verdicts[8:]

    assert {verdict.evidence for verdict in lost} == {Evidence.UNAVAILABLE}
    assert all("never saved" in verdict.reason for verdict in lost)
    assert {verdict.evidence for verdict in kept} == {Evidence.VERIFIED}


def test_failed_summaries_are_rebuilt_too(corpus: Path) -> None:
    session, _ = session_of(corpus, "383b43d3")

    failed = [one for one in session.account.verdicts if "summary failed" in one.record.error]

    assert [one.evidence for one in failed] == [Evidence.VERIFIED] * 2
    assert [one.record.msgs_before - one.record.msgs_after for one in failed] == [0, 10]
