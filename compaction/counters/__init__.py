"""Ways to count tokens, by name; what one needs is loaded when it first counts, not before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from compaction.counters.bpe import BpeCounter
from compaction.tokens import ByteQuarter, Count, FlaggedCounter, TokenCounter, measured

__all__ = [
    "COUNTERS",
    "BpeCounter",
    "ByteQuarter",
    "Count",
    "FlaggedCounter",
    "TokenCounter",
    "counter_named",
    "measured",
]

COUNTERS: Mapping[str, Callable[[], TokenCounter]] = MappingProxyType(
    {
        ByteQuarter.name: ByteQuarter,
        "o200k_base": partial(BpeCounter, "o200k_base"),
        "cl100k_base": partial(BpeCounter, "cl100k_base"),
    }
)
"""The counters that need no network, the default first."""


def counter_named(name: str) -> TokenCounter:
    """A new counter of that name. Raises ValueError naming the ones there are."""
    if name not in COUNTERS:
        raise ValueError(f"{name!r} is no token counter; there are {', '.join(COUNTERS)}")
    return COUNTERS[name]()
