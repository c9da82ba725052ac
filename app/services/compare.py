"""Strategies side by side over one of the folder's sessions, in memory and without a network."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.errors import UsageError
from app.llm.offline import OfflineSummariser
from app.services.compactions import stand_in
from app.services.recompact import default_choice
from app.sources.model import Session
from compaction.compare import Contestant, Row, compare
from compaction.messages import Message
from compaction.ports import Ports, Summariser
from compaction.presets import PRESETS
from compaction.rules import SAFE
from compaction.settings import Settings, SettingsError, read_settings
from compaction.strategies import STRATEGIES

OFFLINE = OfflineSummariser()
SIDE_BY_SIDE = (*STRATEGIES, "harness9")
"""All strategies, and what the original does."""


def contestants(names: Sequence[str], settings: Settings) -> list[Contestant]:
    """The strategies and presets of these names. Raises UsageError for one that does not exist."""
    return [_contestant(name, settings) for name in names]


def _contestant(name: str, settings: Settings) -> Contestant:
    if name in STRATEGIES:
        return Contestant(name, STRATEGIES[name], settings)
    if name in PRESETS:
        preset = PRESETS[name]
        own = read_settings(preset.settings, settings)
        return Contestant(name, STRATEGIES[preset.strategy], own, preset.options)
    known = ", ".join([*STRATEGIES, *PRESETS])
    raise UsageError(f"{name!r} is no strategy and no preset; there are {known}")


def settings_for(session: Session, values: Mapping[str, Any]) -> Settings:
    """The session's own settings under the safe rule book, with a person's `values`.

    Raises UsageError naming every value that is refused.
    """
    try:
        return read_settings(values, replace(default_choice(session).settings, rules=SAFE))
    except SettingsError as error:
        raise UsageError(str(error)) from error


def compared(
    session: Session, chosen: Sequence[Contestant], summariser: Summariser | None = OFFLINE
) -> tuple[Row, ...]:
    """A row for each, over the stored messages. One summariser writes the summaries of all."""
    system = Message("system", stand_in(default_choice(session).system_bytes))
    ports = Ports(summariser, nanoseconds=time.perf_counter_ns)
    return compare(system, session.messages, chosen, lambda: ports)


def fitted(settings: Settings, session: Session, share: float) -> Settings:
    """`settings` with a window that holds `share` of the session: so that there is something to
    compact, whatever its length."""
    return replace(settings, context_window=max(1, int(session.info.tokens * share)))
