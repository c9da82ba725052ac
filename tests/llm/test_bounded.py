"""Waiting is bounded: by the deadline, by a cancel, and by whoever stops listening."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from threading import Event

import pytest

from app.llm.bounded import BoundedSummariser, Deadline, watched
from app.llm.failures import Cancelled, TimedOut
from compaction import (
    SAFE,
    Anchor,
    Memory,
    Message,
    Ports,
    Settings,
    SummaryRequest,
    Tier,
    compact,
)
from tests.compaction.generators import Answers, said


def test_items_arrive_in_order() -> None:
    def three() -> Generator[int, None, None]:
        yield from (1, 2, 3)

    assert list(watched(three, Deadline(30), Event())) == [1, 2, 3]


def test_what_the_producer_raises_is_raised_here() -> None:
    def broken() -> Generator[int, None, None]:
        yield 1
        raise KeyError("mine")

    arriving = watched(broken, Deadline(30), Event())

    assert next(arriving) == 1
    with pytest.raises(KeyError, match="mine"):
        next(arriving)


def test_silence_ends_at_the_deadline() -> None:
    release = Event()

    def silent() -> Generator[int, None, None]:
        release.wait()
        yield 1

    with pytest.raises(TimedOut, match=r"within 0\.1 s"):
        next(watched(silent, Deadline(0.1), Event()))
    release.set()


def test_a_producer_that_never_ends_does_not_outlast_the_deadline() -> None:
    def endless() -> Generator[int, None, None]:
        while True:
            yield 1

    with pytest.raises(TimedOut):
        for _ in watched(endless, Deadline(0.1), Event()):
            pass


def test_a_cancel_that_came_first_lets_nothing_start_to_arrive() -> None:
    cancel = Event()
    cancel.set()

    with pytest.raises(Cancelled):
        next(watched(lambda: (n for n in [1]), Deadline(30), cancel))


def test_a_producer_that_nobody_listens_to_is_closed() -> None:
    closed = Event()

    def watching() -> Generator[int, None, None]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    with closing(watched(watching, Deadline(30), Event())) as arriving:
        next(arriving)

    assert closed.wait(30)


def test_a_summariser_that_never_answers_costs_no_more_than_its_deadline_and_no_anchor() -> None:
    ended = Event()

    class Asleep:
        def summarise(self, _request: SummaryRequest) -> Message | None:
            ended.wait()
            return None

    messages = said(("system", "S"), ("user", "go"), *[("assistant", "@rep(w,2000)")] * 20)
    known = Memory("before", (Anchor("user_intent", "port it"),))
    ports = Ports(BoundedSummariser(Asleep(), seconds=0.1))

    result = compact(messages, Settings(12_000, rules=SAFE), ports, known)
    ended.set()

    assert result.tier is Tier.FULL
    assert "no answer within 0.1 s" in result.record.error
    assert (result.memory.summary, result.memory.anchors) == (known.summary, known.anchors)
    assert result.record.tokens_after < 12_000 * 0.60


def test_a_bounded_summariser_passes_on_the_answer_and_the_failure_of_the_other() -> None:
    model = Answers(["short", None])
    bounded = BoundedSummariser(model, seconds=30)

    assert bounded.summarise(SummaryRequest(())) == Message("assistant", "short")
    with pytest.raises(ConnectionError, match="no model today"):
        bounded.summarise(SummaryRequest(()))
