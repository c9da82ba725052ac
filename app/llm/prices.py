"""What Claude's tokens cost by list price; a model that is not listed has no price, not a guess."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

AS_OF = "2026-10"
"""When the prices were read from Anthropic's list. They change: a cost is an estimate."""

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the service reported them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    @property
    def prompt(self) -> int:
        """Everything that was sent, cached or not."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    """For five minutes."""

    def of(self, usage: Usage) -> Decimal:
        """US dollars for one call."""
        dollars = (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        )
        return dollars / _MILLION


def _price(text: str) -> Price:
    return Price(*map(Decimal, text.split()))


#                      in  out  read write
_FABLE_5_1 = _price("  10   50  0.25 12.50")
_FABLE_5 = _price("    10   50  1    12.50")
_OPUS_5_5 = _price("    4   20  0.20  5")
_OPUS = _price("        5   25  0.50  6.25")
_SONNET_5_5 = _price("  2   10  0.10  2.50")
_SONNET_5 = _price("    2   10  0.20  2.50")
_SONNET_4 = _price("    3   15  0.30  3.75")
_HAIKU_5_5 = _price("   0.10 0.50 0.01 0.125")
_HAIKU_5_5_LONG = _price("0.50 2.50 0.05 0.625")
_HAIKU_4_5 = _price("   1    5  0.10  1.25")

PRICES = {
    "claude-fable-5-1": _FABLE_5_1,
    "claude-mythos-5-1": _FABLE_5_1,
    "claude-fable-5": _FABLE_5,
    "claude-mythos-5": _FABLE_5,
    "claude-opus-5-5": _OPUS_5_5,
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-sonnet-5-5": _SONNET_5_5,
    "claude-sonnet-5": _SONNET_5,
    "claude-sonnet-4-6": _SONNET_4,
    "claude-sonnet-4-5": _SONNET_4,
    "claude-haiku-5-5": _HAIKU_5_5,
    "claude-haiku-4-5": _HAIKU_4_5,
}

LONG_PROMPT = 100_000
"""Tokens; a longer prompt costs more on the models below, every token of the call."""
_LONG = {"claude-haiku-5-5": _HAIKU_5_5_LONG}


def cost_of(model: str, usage: Usage) -> Decimal | None:
    """Estimated US dollars for one call; None where the model's price is not known.

    A dated model (`claude-haiku-4-5-20251001`) costs what its family does.
    """
    family, _, date = model.rpartition("-")
    name = family if len(date) == 8 and date.isdigit() else model
    prices = _LONG if usage.prompt > LONG_PROMPT and name in _LONG else PRICES
    price = prices.get(name)
    return None if price is None else price.of(usage)
