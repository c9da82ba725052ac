"""The budget cut and the forced cut: against a slow and obvious way of doing the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction import Draft, Message, estimate
from compaction.budget import OVER_BUDGET, cut_to_budget, forced_cut
from compaction.repair import repair
from compaction.rules import ForcedCut
from tests.compaction.generators import CONVERSATIONS, said


def _slow_cut(messages: list[Message], limit: int, tail: int) -> list[Message]:
    """Drop the newest of the head, one by one, weighing everything again each time."""
    limit, tail = limit if limit > 0 else 160_000, tail if tail > 0 else 6
    if estimate(messages) <= limit or not messages or messages[0].role != "system":
        return messages
    rest = messages[1:]
    if len(rest) <= tail:
        return messages
    for end in range(len(rest) - tail, -1, -1):
        candidate = [messages[0], *rest[:end], *rest[len(rest) - tail :]]
        if estimate(candidate) <= limit or end == 0:
            return list(repair(Draft.of(candidate)).messages)
    raise AssertionError("unreachable")


@given(CONVERSATIONS, st.integers(-1, 400), st.integers(-1, 8))
def test_the_budget_cut_equals_the_quadratic_one(
    messages: list[Message], limit: int, tail: int
) -> None:
    assert list(cut_to_budget(Draft.of(messages), limit, tail).messages) == _slow_cut(
        messages, limit, tail
    )


def test_the_newest_of_the_head_goes_first_and_the_drops_say_why() -> None:
    messages = said(("system", "S"), *[("user", "@rep(x,40)")] * 10)

    draft = cut_to_budget(Draft.of(messages), 50, 3)

    assert [slot.sources for slot in draft.slots] == [(0,), (1,), (2,), (8,), (9,), (10,)]
    assert {drop.reason for drop in draft.drops} == {OVER_BUDGET}


def test_system_and_tail_stay_even_where_they_alone_are_over_budget() -> None:
    messages = said(("system", "@rep(s,900)"), *[("user", "@rep(x,400)")] * 5)

    draft = cut_to_budget(Draft.of(messages), 10, 2)

    assert [slot.sources for slot in draft.slots] == [(0,), (4,), (5,)]


def _slow_task_and_newest(messages: list[Message], limit: int) -> list[Message]:
    """The released Emergency in its own words, index by index."""
    limit = limit if limit > 0 else 160_000
    if len(messages) <= 2 or messages[0].role != "system":
        return messages
    task, later = messages[1], list(enumerate(messages))[2:]
    left = limit - estimate([messages[0], task])
    chosen = []
    for index, message in reversed(later):
        if estimate([message]) <= left:
            left -= estimate([message])
            chosen.append((index, message))
    survivors = [messages[0], task, *(message for _, message in reversed(chosen))]
    return list(repair(Draft.of(survivors)).messages)


@given(CONVERSATIONS, st.integers(-1, 400))
def test_the_released_emergency_keeps_the_task_and_the_newest_that_fit(
    messages: list[Message], limit: int
) -> None:
    cut = forced_cut(Draft.of(messages), ForcedCut.TASK_AND_NEWEST, limit)

    assert list(cut.messages) == _slow_task_and_newest(messages, limit)


@given(CONVERSATIONS, st.integers(1, 400))
def test_the_released_emergency_fits_its_budget_but_for_what_it_must_keep(
    messages: list[Message], limit: int
) -> None:
    cut = forced_cut(Draft.of(messages), ForcedCut.TASK_AND_NEWEST, limit)

    chosen = [slot.message for slot in cut.slots if slot.sources and slot.sources[0] > 1]
    if len(messages) > 2 and messages[0].is_system:
        room = max(limit - estimate(messages[:2]), 0)
        assert sum(estimate([message]) for message in chosen) <= room


def test_the_released_emergency_skips_one_giant_and_goes_on_with_older_ones() -> None:
    messages = said(
        ("system", "S"),
        ("user", "the task"),
        ("assistant", "", "c1"),
        ("result", "c1", "small"),
        ("assistant", "", "c2"),
        ("result", "c2", "@rep(z,4000)"),
        ("assistant", "so"),
    )

    cut = forced_cut(Draft.of(messages), ForcedCut.TASK_AND_NEWEST, 200)

    assert [m.content for m in cut.messages[:4]] == ["S", "the task", "", "small"]
    assert cut.messages[5].content.startswith("[工具结果不可用")
    assert [drop.source for drop in cut.drops] == [5]


def test_in_the_released_emergency_what_fits_exactly_fits() -> None:
    messages = said(
        ("system", "@rep(s,40)"), ("user", "@rep(t,40)"), ("user", ""), ("user", "@rep(n,80)")
    )

    assert len(forced_cut(Draft.of(messages), ForcedCut.TASK_AND_NEWEST, 40).slots) == 4
    assert len(forced_cut(Draft.of(messages), ForcedCut.TASK_AND_NEWEST, 39).slots) == 3


def test_the_released_emergency_keeps_the_task_even_where_nothing_fits() -> None:
    messages = said(("system", "@rep(s,400)"), ("user", "@rep(t,400)"), ("user", "n"), ("user", ""))

    cut = forced_cut(Draft.of(messages), ForcedCut.TASK_AND_NEWEST, 10)

    assert [slot.sources for slot in cut.slots] == [(0,), (1,)]


def test_the_older_emergency_keeps_the_newest_message_alone() -> None:
    messages = said(("system", "S"), ("user", "the task"), ("assistant", "a"), ("user", "now"))

    cut = forced_cut(Draft.of(messages), ForcedCut.NEWEST)

    assert [m.content for m in cut.messages] == ["S", "now"]
