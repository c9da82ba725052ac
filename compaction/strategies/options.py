"""The options that several strategies have in common, each with its default."""

from __future__ import annotations

from compaction.digest import ROOM
from compaction.settings import Field, Kind
from compaction.trim import HEAD, LIMIT, TAIL


def rounds(default: int) -> Field:
    """How many of the newest rounds stay as they are."""
    says = "The newest model calls, each with its tool results, are kept word for word."
    return Field("rounds", "Keep last", "rounds", Kind.COUNT, says, least=1, default=default)


BUDGET = Field(
    "budget",
    "Compact down to",
    "%",
    Kind.SHARE,
    "The share of the context window that may be full afterwards.",
    default=0.50,
)
TRIM = (
    Field(
        "trim_over",
        "Trim results over",
        "characters",
        Kind.COUNT,
        "A tool result longer than this loses its middle.",
        least=1,
        default=LIMIT,
    ),
    Field(
        "trim_head",
        "Keep of its beginning",
        "characters",
        Kind.COUNT,
        "What stays of the beginning of a trimmed result.",
        default=HEAD,
    ),
    Field(
        "trim_tail",
        "Keep of its end",
        "characters",
        Kind.COUNT,
        "What stays of the end of a trimmed result.",
        default=TAIL,
    ),
)
DIGEST = Field(
    "digest_bytes",
    "Room for extracts",
    "bytes",
    Kind.COUNT,
    "What a summary without a model may take; beyond that its oldest lines go.",
    least=500,
    default=ROOM,
)
