"""Every number a person may turn: its range, its unit, and the sentence that explains it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise
from typing import Any

from compaction.rules import RULE_BOOKS, SAFE, RuleBook

DEFAULT_MIN_TAIL = 6
DEFAULT_BUDGET = 160_000
"""Tokens; what the original falls back to when a limit comes out as zero or less."""


@dataclass(frozen=True, slots=True)
class SummaryLimits:
    """How much one summary may ask of a summariser. The tier ladder of harness9 has no limits."""

    input_bytes: int = 400_000
    """UTF-8 bytes of one prompt; a longer text goes in portions."""
    calls: int = 4
    """Portions at most; what does not fit then is cut, with a mark."""
    seconds: float = 60.0
    """For everything together. A call that never returns must be ended by the summariser."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a conversation is compacted. Any values are accepted here, as the original does;
    `read_settings` is where a person's values are checked."""

    context_window: int
    """Tokens; zero or less switches compaction off."""
    warn: float = 0.60
    soft: float = 0.70
    full: float = 0.80
    emergency: float = 0.95
    """Shares of the context window, inclusive."""
    min_tail: int = DEFAULT_MIN_TAIL
    """Newest messages that are never summarised; zero or less means six."""
    fallback_tail: int = DEFAULT_MIN_TAIL
    """Newest messages that the cut after a failed summary keeps."""
    offload_bytes: int = 4000
    """A tool result larger than this is moved to a file at compaction."""
    offloader_bytes: int = 4000
    """The offloader's own limit; both must be exceeded."""
    preview_lines: int = 10
    """Lines of an offloaded result that stay in view."""
    summary: SummaryLimits = SummaryLimits()
    """What a summary may take, in every rule book and strategy but harness9's ladder."""
    session_id: str = ""
    rules: RuleBook = SAFE

    @property
    def tail(self) -> int:
        """The number of tail messages in force."""
        return self.min_tail if self.min_tail > 0 else DEFAULT_MIN_TAIL

    @property
    def budget(self) -> int:
        """Tokens that the fallback cuts down to: 80 % of the window."""
        # Go divides towards zero; for the sizes that matter (> 0) so does Python.
        limit = self.context_window * 80 // 100
        return limit if limit > 0 else DEFAULT_BUDGET


class Kind(StrEnum):
    """What a field of the settings form holds."""

    SHARE = "share"
    COUNT = "count"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Field:
    """One setting as a form shows it."""

    name: str
    label: str
    unit: str
    kind: Kind
    help: str
    least: int = 0
    choices: tuple[str, ...] = ()
    default: float | None = None
    """What holds where nothing is given; None where `Settings` says it."""


FIELDS: tuple[Field, ...] = (
    Field(
        "context_window",
        "Context window",
        "tokens",
        Kind.COUNT,
        "What the model can hold. Tiers are shares of it.",
        least=1,
    ),
    Field(
        "warn",
        "Warn at",
        "%",
        Kind.SHARE,
        "From here on old, large tool results are moved to files. No model call.",
    ),
    Field(
        "soft",
        "Soft at",
        "%",
        Kind.SHARE,
        "From here on the older half of what is not in the tail is summarised.",
    ),
    Field(
        "full",
        "Full at",
        "%",
        Kind.SHARE,
        "From here on everything but the tail is summarised.",
    ),
    Field(
        "emergency",
        "Emergency at",
        "%",
        Kind.SHARE,
        "From here on messages are cut without asking a model.",
    ),
    Field(
        "min_tail",
        "Keep last",
        "messages",
        Kind.COUNT,
        "The newest messages are always kept word for word.",
        least=1,
    ),
    Field(
        "offload_bytes",
        "Offload over",
        "bytes",
        Kind.COUNT,
        "A tool result larger than this leaves the view; a preview stays.",
    ),
    Field(
        "preview_lines",
        "Preview",
        "lines",
        Kind.COUNT,
        "How many lines of an offloaded result stay in view.",
        least=1,
    ),
    Field(
        "rules",
        "Rule book",
        "",
        Kind.CHOICE,
        "Which behaviour to follow: the safe one, or a generation of harness9 with its quirks.",
        choices=tuple(RULE_BOOKS),
    ),
)

MAX_COUNT = 1_000_000_000

_FIELDS = {field.name: field for field in FIELDS}
LADDER = ("warn", "soft", "full", "emergency")


class SettingsError(ValueError):
    """Values that cannot be used; `problems` maps each setting to what is wrong with it."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {says}" for name, says in problems.items()))
        self.problems = dict(problems)


def read_settings(values: Mapping[str, Any], base: Settings) -> Settings:
    """`base` with a person's `values`, all checked together.

    Shares may be written `0.8`, `80`, `"80%"` or `" 80 % "`: what is above 1, or bears a percent
    sign, is per cent. Digits may be full-width and in groups of three. The four thresholds must
    rise strictly and end at 100 % or below; `offload_bytes` sets both offload limits.

    Raises SettingsError naming every setting that is refused; nothing is applied then.
    """
    changes: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, value in values.items():
        field = _FIELDS.get(name)
        if field is None:
            problems[name] = f"no such setting; there are {', '.join(_FIELDS)}"
            continue
        try:
            changes[name] = _READERS[field.kind](value, field)
        except ValueError as error:
            problems[name] = f"{error}; it stays at {_written(field, base)}"
    if "offload_bytes" in changes:
        # Both limits must be exceeded, and a person knows of one.
        changes["offloader_bytes"] = changes["offload_bytes"]
    settings = replace(base, **changes)
    problems.update(_disorder(settings, problems))
    if problems:
        raise SettingsError(problems)
    return settings


def changed(settings: Settings, base: Settings) -> tuple[str, ...]:
    """Names of the settings in which two differ, in the order of the form."""
    return tuple(name for name in _FIELDS if getattr(settings, name) != getattr(base, name))


def _disorder(settings: Settings, problems: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for lower, upper in pairwise(LADDER):
        rises = getattr(settings, lower) < getattr(settings, upper)
        if not rises and not {lower, upper} & set(problems):
            low, high = _FIELDS[lower], _FIELDS[upper]
            found[upper] = (
                f"{high.label!r} ({_written(high, settings)}) must be above "
                f"{low.label!r} ({_written(low, settings)})"
            )
    return found


def _written(field: Field, settings: Settings) -> str:
    value = getattr(settings, field.name)
    if field.kind is Kind.SHARE:
        return f"{value * 100:.10g} %"
    return f"{value:,} {field.unit}" if field.kind is Kind.COUNT else str(value.name)


def _share(value: Any, _: Field) -> float:
    text = _plain(value)
    percent = isinstance(text, str) and text.endswith("%")
    number = _number(text.removesuffix("%").rstrip() if isinstance(text, str) else text)
    if number is None:
        raise ValueError(f"{_shown(value)} is not a percentage; write for example 80 or 0.8")
    share = number / 100 if percent or number > 1 else number
    if not 0 < share <= 1:
        raise ValueError(f"{_shown(value)} is not between 0 and 100 %")
    return float(share)


def _count(value: Any, field: Field) -> int:
    number = _number(_plain(value))
    if number is None or number != number.to_integral_value():
        raise ValueError(f"{_shown(value)} is not a whole number of {field.unit}")
    if number < field.least:
        raise ValueError(f"{_shown(value)} is too small; at least {field.least} {field.unit}")
    if number > MAX_COUNT:
        raise ValueError(f"{_shown(value)} is too large; at most {MAX_COUNT:,} {field.unit}")
    return int(number)


def _choice(value: Any, field: Field) -> RuleBook:
    if value not in field.choices:
        raise ValueError(f"{_shown(value)} is none of {', '.join(field.choices)}")
    return RULE_BOOKS[value]


_NUMBER = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:[,_ ]\d{3})+)?(?:\.\d+)?", re.ASCII)
_LONGEST = 40


def _plain(value: Any) -> Any:
    # NFKC turns full-width digits and signs, as Chinese input methods write them, into ASCII.
    return unicodedata.normalize("NFKC", value).strip() if isinstance(value, str) else value


def _number(value: Any) -> Decimal | None:
    # Decimal, since 33.3 / 100 as floats is not 0.333.
    if isinstance(value, str):
        fits = len(value) <= _LONGEST and any(map(str.isdigit, value))
        return Decimal(re.sub("[,_ ]", "", value)) if fits and _NUMBER.fullmatch(value) else None
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _shown(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 128:
        return "a number that long"  # which Python may refuse to print
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_READERS = {Kind.SHARE: _share, Kind.COUNT: _count, Kind.CHOICE: _choice}


def read_value(value: Any, field: Field) -> Any:
    """One value of a form, checked. Raises ValueError saying what is wrong with it."""
    return _READERS[field.kind](value, field)
