"""The cost of a call: by list price, by the length of the prompt, and unknown where it is."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.llm.access import DEFAULT_MODEL
from app.llm.prices import LONG_PROMPT, PRICES, Usage, cost_of

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-opus-5", Usage(MILLION, MILLION), "30"),
        ("claude-sonnet-5-5", Usage(0, 0, MILLION, MILLION), "2.6"),
        ("claude-haiku-4-5-20251001", Usage(MILLION, 0), "1"),
        ("claude-haiku-5-5", Usage(LONG_PROMPT, 0), "0.01"),
        ("claude-haiku-5-5", Usage(LONG_PROMPT + 1, 0), "0.0500005"),
        ("claude-haiku-5-5", Usage(1, 0, LONG_PROMPT), "0.0050005"),
        ("claude-haiku-5-5", Usage(), "0"),
    ],
)
def test_a_call_costs_its_list_price(model: str, usage: Usage, dollars: str) -> None:
    assert cost_of(model, usage) == Decimal(dollars)


@pytest.mark.parametrize("model", ["claude-opus-6", "claude-opus", "gpt-6", ""])
def test_a_model_that_is_not_listed_has_no_price(model: str) -> None:
    assert cost_of(model, Usage(1, 1)) is None


def test_the_default_model_has_a_price() -> None:
    assert DEFAULT_MODEL in PRICES
