"""What a person may write into the settings, and how each refusal reads."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import RULE_BOOKS, Settings, SettingsError, read_settings
from compaction.settings import FIELDS, LADDER, MAX_COUNT, Kind, changed

BASE = Settings(128_000, session_id="s1")

EIGHTY = [
    0.8,
    80,
    80.0,
    "0.8",
    ".8",
    "80",
    "80%",
    " 80 % ",
    "+80",
    "80.0",
    "８０",
    "８０％",
    "0.80",
]


@pytest.mark.parametrize("value", EIGHTY, ids=repr)
def test_hk1_every_spelling_of_eighty_per_cent_is_the_same_share(value: Any) -> None:
    assert read_settings({"full": value}, BASE).full == 0.8


@pytest.mark.parametrize("percent", ["33.3", "57.5", "0.7", "12.34567"])
def test_a_percentage_is_exactly_its_hundredth(percent: str) -> None:
    warn = read_settings({"warn": f"{percent}%", "soft": 0.9, "full": 0.91}, BASE).warn

    whole, _, fraction = percent.partition(".")
    assert warn == float(f"0.{whole.zfill(2)}{fraction}")


def _name(value: Any) -> str:
    # Python refuses to print the largest of the integers.
    return "huge" if isinstance(value, int) and value > 10**300 else ascii(value)[:20]


NOT_A_SHARE: list[Any] = [
    -1,
    0,
    101,
    -0.5,
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
    None,
    [],
    [0.8],
    {},
    b"80",
    10**400,
    10**5000,
    "-1",
    "0",
    "101%",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "abc",
    "",
    " ",
    "%",
    ".",
    "80%%",
    "8 0",
    "80,",
    "1e3",
    "1e-1",
    "0x10",
    "0b1",
    "٨٠",
    "½",
    "80\x00",
    "9" * 100,
]


@pytest.mark.parametrize("value", NOT_A_SHARE, ids=_name)
def test_hk1_what_is_no_share_is_refused_by_name_and_the_last_good_one_stays(value: Any) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"soft": value}, BASE)

    assert list(caught.value.problems) == ["soft"]
    assert str(caught.value).startswith("soft: ")
    assert str(caught.value).endswith("it stays at 70 %")
    assert len(str(caught.value)) < 160
    assert Settings(128_000, session_id="s1") == BASE


COUNTS = [
    (12, 12),
    (12.0, 12),
    (1e3, 1000),
    ("12", 12),
    (" 12 ", 12),
    ("１２", 12),
    ("12.0", 12),
    ("128,000", 128_000),
    ("128_000", 128_000),
    ("128 000", 128_000),
    ("1,000,000", 1_000_000),
    (MAX_COUNT, MAX_COUNT),
]


@pytest.mark.parametrize(("value", "count"), COUNTS, ids=repr)
def test_a_count_may_carry_thousands_separators(value: Any, count: int) -> None:
    read = read_settings({"context_window": value}, BASE).context_window

    assert read == count
    assert type(read) is int


NOT_A_COUNT: list[Any] = [
    -5,
    -1,
    0.5,
    12.5,
    MAX_COUNT + 1,
    10**400,
    1e300,
    math.nan,
    math.inf,
    True,
    None,
    [],
    "1,5",
    "1,00",
    "12,",
    "1e3",
    "0x10",
    "12k",
    "12 tokens",
    "12%",
    "abc",
    "",
    "٣",
]


@pytest.mark.parametrize("value", NOT_A_COUNT, ids=_name)
@pytest.mark.parametrize("name", ["context_window", "min_tail", "offload_bytes", "preview_lines"])
def test_hk1_what_is_no_count_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"^{name}: .*; it stays at "):
        read_settings({name: value}, BASE)


@pytest.mark.parametrize(
    ("name", "value"), [("context_window", 0), ("min_tail", -3), ("offload_bytes", -1)]
)
def test_hk1_a_count_below_its_least_is_refused(name: str, value: int) -> None:
    with pytest.raises(SettingsError, match="is too small"):
        read_settings({name: value}, BASE)


def test_one_offload_limit_sets_both_or_a_lower_one_would_do_nothing() -> None:
    settings = read_settings({"offload_bytes": "1,000"}, BASE)

    assert (settings.offload_bytes, settings.offloader_bytes) == (1000, 1000)


@pytest.mark.parametrize("value", ["", "harness9", "HARNESS9-VIEW", None, [], {}, 1])
def test_an_unknown_rule_book_is_refused_with_the_ones_there_are(value: Any) -> None:
    with pytest.raises(SettingsError, match=r"rules: .* none of safe, harness9-view, "):
        read_settings({"rules": value}, BASE)


@pytest.mark.parametrize("name", RULE_BOOKS)
def test_a_rule_book_is_chosen_by_name(name: str) -> None:
    assert read_settings({"rules": name}, BASE).rules is RULE_BOOKS[name]


LADDERS = {
    "soft above full": {"soft": 0.85, "full": 0.80},
    "equal neighbours": {"soft": "80%"},
    "all but equal": {"soft": 0.80000000001},
    "warn above emergency": {"warn": 0.96},
    "emergency below full": {"emergency": "79.99 %"},
    "full against the base": {"full": 0.65},
}


@pytest.mark.parametrize("values", LADDERS.values(), ids=LADDERS)
def test_hk2_thresholds_out_of_order_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="must be above") as caught:
        read_settings(values, BASE)

    assert set(caught.value.problems) <= set(LADDER)


def test_hk2_a_ladder_may_be_moved_as_a_whole() -> None:
    values = {"warn": "10%", "soft": "20%", "full": "30%", "emergency": "100%"}

    settings = read_settings(values, BASE)

    assert [getattr(settings, name) for name in LADDER] == [0.1, 0.2, 0.3, 1.0]


def test_every_problem_is_named_at_once_and_nothing_is_applied() -> None:
    values = {"warn": "abc", "min_tail": -3, "preview_lines": 5, "speed": 11}

    with pytest.raises(SettingsError) as caught:
        read_settings(values, BASE)

    assert list(caught.value.problems) == ["warn", "min_tail", "speed"]
    assert BASE.preview_lines == 10


@given(st.dictionaries(st.sampled_from([f.name for f in FIELDS]), st.text() | st.integers()))
def test_any_values_give_settings_in_range_or_are_refused(values: dict[str, Any]) -> None:
    try:
        settings = read_settings(values, BASE)
    except SettingsError as error:
        assert set(error.problems) <= {f.name for f in FIELDS}  # noqa: PT017 - both ways are fine
        return

    ladder = [getattr(settings, name) for name in LADDER]
    assert ladder[0] > 0
    assert ladder == sorted(set(ladder))
    assert ladder[-1] <= 1
    for field in FIELDS:
        if field.kind is Kind.COUNT:
            assert field.least <= getattr(settings, field.name) <= MAX_COUNT


def test_changed_names_the_settings_that_differ_in_the_order_of_the_form() -> None:
    other = replace(BASE, min_tail=2, warn=0.5)

    assert changed(other, BASE) == ("warn", "min_tail")
