from __future__ import annotations

import pytest

from app.errors import NotFound
from app.services.diff import Cell, Fold, Gap, Sides, diff, opened
from app.services.messages import Kind
from compaction import HARNESS9_VIEW, Draft, Message, Ports, Settings, compact, estimate
from compaction.pairs import mend
from compaction.provenance import Fate
from compaction.tiers import Tier
from tests.builders import call, human, result, says
from tests.conformance import Script

SYSTEM = Message("system", "You help.")
TALK = (
    SYSTEM,
    human("port the report"),
    says("", call("c1")),
    result("c1", "x" * 40),
    *(says(f"step {n}") for n in range(20)),
)
ANSWER = "## Anchors\n\n### User Intent\nport the report\n\n## Summary\nunderway"


def summarised(tier: Tier = Tier.FULL) -> Sides:
    ports = Ports(Script([{"content": ANSWER}]))
    made = compact(TALK, Settings(10_000, rules=HARNESS9_VIEW), ports, tier=tier)
    return Sides(TALK, made.draft)


def test_a_summary_stands_beside_everything_it_swallowed() -> None:
    found = diff(summarised())

    (band,) = [row for row in found.rows if row.fate is Fate.SUMMARISED]
    first, _, fold, _ = band.left
    assert isinstance(first, Cell)
    assert first.body.text == "port the report"
    assert isinstance(fold, Fold)
    assert fold.count == 14
    assert band.right is not None
    assert band.right.kind is Kind.COMPACTION
    assert band.right.compaction is not None
    assert band.right.compaction.anchors[0].text.text == "port the report"


def test_totals_are_those_of_the_estimate() -> None:
    sides = summarised()

    found = diff(sides)

    assert found.tokens_before == estimate(TALK)
    assert found.tokens_after == estimate(sides.draft.messages)
    assert (found.messages_before, found.messages_after) == (24, 8)


def test_a_tool_result_is_never_shown_as_the_human() -> None:
    found = diff(Sides(TALK, Draft.of(TALK)), expanded=True)

    kinds = [row.left[0].kind for row in found.rows if isinstance(row.left[0], Cell)]
    assert kinds[:4] == [Kind.SYSTEM, Kind.HUMAN, Kind.ASSISTANT, Kind.RESULT]


def test_nothing_changed_has_no_change() -> None:
    found = diff(Sides(TALK, Draft.of(TALK)))

    assert found.changes == 0
    assert [row.fold.count for row in found.rows if row.fold] == [22]


def test_a_fold_opens_to_what_it_hides() -> None:
    sides = Sides(TALK, Draft.of(TALK))
    (fold,) = [row.fold for row in diff(sides).rows if row.fold]

    rows, left = opened(sides, fold.first, fold.last, "kept")

    assert len(rows) == fold.count
    assert left == ()


def test_a_fold_of_summarised_messages_opens_on_the_left_only() -> None:
    rows, left = opened(summarised(), 3, 16, "summarised")

    assert rows == ()
    assert [cell.number for cell in left] == list(range(3, 17))


@pytest.mark.parametrize(("first", "last"), [(-1, 3), (5, 2), (0, 24), (24, 24)])
def test_a_fold_that_is_not_there_is_not_found(first: int, last: int) -> None:
    with pytest.raises(NotFound):
        opened(summarised(), first, last, "kept")


def test_messages_that_are_gone_are_a_gap_and_are_not_counted() -> None:
    sides = summarised()
    gone = Sides(sides.before, sides.draft, unknown=dict.fromkeys(range(1, 18), "gone"))

    found = diff(gone)

    (band,) = [row for row in found.rows if row.fate is Fate.SUMMARISED]
    assert band.left == (Gap(17),)
    assert found.unknown == 17
    (tally,) = [tally for tally in found.tallies if tally.fate is Fate.SUMMARISED]
    assert not tally.is_known


def test_a_result_that_was_moved_to_its_call_stands_beside_itself() -> None:
    talk = (
        SYSTEM,
        human("count the lines"),
        says("", call("c1")),
        human("and hurry"),
        result("c1", "42"),
        says("42 lines"),
    )

    found = diff(Sides(talk, mend(Draft.of(talk))), expanded=True)

    pairs = [(row.left[0], row.right) for row in found.rows]
    assert all(left == right for left, right in pairs)
    numbers = [left.number for left, _ in pairs if isinstance(left, Cell)]
    assert numbers == [0, 1, 2, 4, 3, 5]
    assert [row.says for row in found.rows if row.is_change] == ["moved to its tool call"]
