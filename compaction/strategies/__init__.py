"""The ways to compact, one module each, under one contract."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from compaction.strategies import (
    budget,
    ladder,
    layered,
    rolling,
    sparse,
    trimming,
    vector,
    window,
)
from compaction.strategies.contract import Options, Outcome, Strategy

__all__ = ["STRATEGIES", "Options", "Outcome", "Strategy"]

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        module.STRATEGY.name: module.STRATEGY
        for module in (ladder, layered, sparse, rolling, window, vector, trimming, budget)
    }
)
"""By name, in the order in which a person is offered them."""
