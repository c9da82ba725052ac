"""The context window in the engine's own measure, the byte-quarter estimate.

Every tier and strategy weighs messages by their bytes. A counter that knows better, and what is
sent besides the messages, are told to all of them at once: as a window that is so much smaller.
"""

from __future__ import annotations

from dataclasses import replace

from compaction.settings import LADDER, Settings

LEAST = 1


def in_estimates(settings: Settings, counted: int, estimated: int, besides: int) -> Settings:
    """`settings` for a conversation of `estimated` tokens that really has `counted`.

    `besides` are the tokens that are sent along and cannot be compacted, such as tool definitions.
    The lines stay where they are in the whole window: with half of it taken by tools, 70 % of the
    window are 40 % of what is left.
    """
    if settings.context_window <= 0 or (counted == estimated and not besides):
        return settings
    left = max(settings.context_window - besides, LEAST)
    scale = estimated / counted if counted and estimated else 1.0
    lines = {
        name: (getattr(settings, name) * settings.context_window - besides) / left
        for name in LADDER
    }
    return replace(settings, context_window=max(int(left * scale), LEAST), **lines)
