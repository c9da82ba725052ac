"""The sliding window: the newest messages whole, everything older gone."""

from __future__ import annotations

from compaction.provenance import Draft
from compaction.repair import repair

DEFAULT_MAX_MESSAGES = 100


def slide(draft: Draft, max_messages: int) -> Draft:
    """The system message and the newest ones, `max_messages` in all.

    The window starts earlier where it would open on a tool result. Zero or less means 100, one
    means two. Without a system message first, or with room for all, nothing happens.
    """
    limit = max(max_messages, 2) if max_messages > 0 else DEFAULT_MAX_MESSAGES
    count = len(draft.slots)
    if count <= limit or not draft.slots[0].message.is_system:
        return draft
    start = count - (limit - 1)
    while start > 1 and draft.slots[start].message.is_tool_result:
        start -= 1
    return repair(draft.cut(range(1), range(start, count), reason="older than the window"))
