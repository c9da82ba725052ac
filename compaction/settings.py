"""Every number a person may turn: its range, its unit, and the sentence that explains it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

from compaction.rules import HARNESS9_VIEW, RULE_BOOKS, RuleBook

DEFAULT_MIN_TAIL = 6
DEFAULT_BUDGET = 160_000
"""Tokens; what the original falls back to when a limit comes out as zero or less."""


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
    session_id: str = ""
    rules: RuleBook = HARNESS9_VIEW

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
        "Which behaviour to follow: the two generations of harness9, quirks included.",
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

    Shares may be written `0.8`, `80`, `"80%"` or `" 80 % "`; counts may carry thousands
    separators. The four thresholds must rise strictly and end at 100 % or below.

    Raises SettingsError naming every setting that is refused; nothing is applied then.
    """
    changes: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, value in values.items():
        if name not in _FIELDS:
            problems[name] = f"no such setting; there are {', '.join(_FIELDS)}"
            continue
        try:
            changes[name] = _READERS[_FIELDS[name].kind](value, _FIELDS[name])
        except ValueError as error:
            problems[name] = str(error)
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
        low, high = getattr(settings, lower), getattr(settings, upper)
        if low >= high and not {lower, upper} & set(problems):
            names = f"{_FIELDS[upper].label!r} ({high:.0%}) must be above {_FIELDS[lower].label!r}"
            found[upper] = f"{names} ({low:.0%})"
    return found


def _share(value: Any, _: Field) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a percentage; write for example 80 or 0.8")
    text = str(value).strip()
    percent = text.endswith("%")
    number = _finite(text.removesuffix("%"), value, "a percentage; write for example 80 or 0.8")
    share = number / 100 if percent or number > 1 else number
    if not 0 < share <= 1:
        raise ValueError(f"{value!r} is not between 0 and 100 %")
    return share


def _count(value: Any, field: Field) -> int:
    expected = f"a whole number of {field.unit}"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not {expected}")
    number = _finite(str(value).replace(",", "").replace("_", ""), value, expected)
    if number != int(number):
        raise ValueError(f"{value!r} is not {expected}")
    if number < field.least:
        raise ValueError(f"{value!r} is too small; at least {field.least} {field.unit}")
    if number > MAX_COUNT:
        raise ValueError(f"{value!r} is too large; at most {MAX_COUNT:,} {field.unit}")
    return int(number)


def _choice(value: Any, field: Field) -> RuleBook:
    if value not in field.choices:
        raise ValueError(f"{value!r} is none of {', '.join(field.choices)}")
    return RULE_BOOKS[value]


def _finite(text: str, value: Any, expected: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not {expected}")
    return number


_READERS = {Kind.SHARE: _share, Kind.COUNT: _count, Kind.CHOICE: _choice}
