from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import NotFound
from app.services import build
from app.services.recompact import (
    Writer,
    default_choice,
    input_for,
    read_choice,
    recompact,
    recompact_page,
)
from app.sources.model import Session
from compaction.provenance import violations
from compaction.settings import SettingsError
from compaction.tiers import Tier

LOOPING = "383b43d3-ec49-4793-89e5-c64337493ea3"
CLASSIC = "9a210579-50ad-450b-b8ca-746a69ebd912"


@pytest.fixture
def session(corpus: Path) -> Session:
    return build(corpus / "coding-home/project", corpus / "coding-home/home").session(LOOPING)


@pytest.fixture
def classic(corpus: Path) -> Session:
    return build(corpus / "coding-home/project", corpus / "coding-home/home").session(CLASSIC)


@pytest.mark.parametrize("n", [1, 12, 25, 40])
def test_unchanged_settings_repeat_the_recorded_decision(session: Session, n: int) -> None:
    choice = default_choice(session)
    given = input_for(session, choice, n=n)

    record = recompact(given, choice).result.record

    recorded = given.recorded
    assert recorded is not None
    assert (record.tier, record.tokens_before, record.msgs_before) == (
        recorded.tier,
        recorded.tokens_before,
        recorded.msgs_before,
    )
    assert record.preserved_tail == recorded.preserved_tail
    assert record.summarized == recorded.summarized


def test_a_warning_repeated_comes_out_to_the_token(session: Session) -> None:
    choice = default_choice(session)
    given = input_for(session, choice, n=1)

    record = recompact(given, choice).result.record

    assert given.recorded is not None
    assert record.tokens_after == given.recorded.tokens_after


def test_another_threshold_leads_to_another_tier(session: Session) -> None:
    base = default_choice(session)
    given = input_for(session, base, n=12)

    softer = read_choice({"soft": "75%"}, base)

    assert recompact(given, base).result.tier is Tier.SOFT
    assert recompact(given, softer).result.tier is Tier.WARN


def test_a_tier_can_be_forced_and_the_summary_withheld(session: Session) -> None:
    choice = read_choice({"tier": "full", "summariser": "none"}, default_choice(session))

    outcome = recompact(input_for(session, choice, n=1), choice)

    assert outcome.result.tier is Tier.FULL
    assert outcome.result.fallback == "LLM summary failed in TierFull"
    assert choice.writer is Writer.NONE


def test_the_outcome_accounts_for_every_message(session: Session) -> None:
    for n in range(1, 49, 7):
        choice = default_choice(session)
        given = input_for(session, choice, n=n)

        draft = recompact(given, choice).result.draft

        assert violations(draft, given.before) == []


def test_a_session_without_records_can_be_compacted_at_any_message(classic: Session) -> None:
    choice = read_choice({"context_window": "60_000"}, default_choice(classic))

    outcome = recompact(input_for(classic, choice, at=300), choice)

    assert outcome.result.record.msgs_before == 301
    assert all(measure.recorded == "" for measure in outcome.measures)


def test_neither_is_better_where_the_record_saw_other_messages(corpus: Path) -> None:
    services = build(corpus / "lost-runs", corpus / "nobody")
    session = services.session("b20de592-66dd-40df-a5c4-02fdf372b91a")

    of_a_lost_run = recompact_page(session, {}, n=4)
    of_a_saved_run = recompact_page(session, {"tier": "full"}, n=11)

    assert (of_a_lost_run.is_alike, of_a_saved_run.is_alike) == (False, True)
    assert of_a_lost_run.outcome is not None
    assert of_a_saved_run.outcome is not None
    assert {measure.better for measure in of_a_lost_run.outcome.measures} == {""}
    assert {measure.better for measure in of_a_saved_run.outcome.measures} != {""}


@pytest.mark.parametrize("at", [-1, 453])
def test_a_message_that_is_not_there_is_not_found(classic: Session, at: int) -> None:
    with pytest.raises(NotFound, match="452 are stored"):
        input_for(classic, default_choice(classic), at=at)


def test_all_refused_values_are_named_together(session: Session) -> None:
    values = {
        "warn": "none",
        "full": "60",
        "tier": "loud",
        "summariser": "me",
        "system_bytes": "-1",
        "colour": "red",
    }

    with pytest.raises(SettingsError) as refused:
        read_choice(values, default_choice(session))

    assert set(refused.value.problems) == set(values)


def test_a_refused_form_keeps_what_was_typed_and_runs_nothing(session: Session) -> None:
    page = recompact_page(session, {"soft": "85", "min_tail": "x"}, n=12)

    fields = {field.name: field for field in page.fields}
    assert page.outcome is None
    assert fields["soft"].value == "85"
    assert fields["min_tail"].value == "x"
    assert fields["min_tail"].problem
    assert "must be above" in fields["full"].problem


def test_changed_fields_say_what_they_were(session: Session) -> None:
    page = recompact_page(session, {"soft": "65"}, n=12)

    changed = {field.name: field.was for field in page.fields if field.was}
    assert changed == {"soft": "70"}


def test_the_last_rebuilt_compaction_is_taken_when_none_is_named(session: Session) -> None:
    assert recompact_page(session, {}).n == 48
