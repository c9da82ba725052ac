"""How full the context window is, in the five steps that decide what is done about it."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compaction.settings import Settings


class Tier(IntEnum):
    """Steps of the ladder; the numbers are the ones in harness9's records."""

    NONE = 0
    WARN = 1
    SOFT = 2
    FULL = 3
    EMERGENCY = 4

    @property
    def label(self) -> str:
        """As it is written for people and in error texts: `Warn`."""
        return self.name.capitalize()


def tier_for(tokens: int, settings: Settings) -> Tier:
    """The tier at which `tokens` fill the context window.

    Thresholds are inclusive: a conversation at exactly 60 % is warned about. They are tested
    from the top, so a ladder that is out of order acts by severity.
    """
    if settings.context_window <= 0:
        return Tier.NONE
    fill = tokens / settings.context_window
    ladder = (
        (Tier.EMERGENCY, settings.emergency),
        (Tier.FULL, settings.full),
        (Tier.SOFT, settings.soft),
        (Tier.WARN, settings.warn),
    )
    return next((tier for tier, at in ladder if fill >= at), Tier.NONE)
