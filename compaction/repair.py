"""Tool calls and results in pairs, as the original mends them: by sets of ids, not by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compaction.messages import Message
from compaction.provenance import Draft, Fate, Slot
from compaction.runs import joined

UNAVAILABLE = "[工具结果不可用：上下文已被压缩]"
"""What stands in for a result that is no longer there. Literal: it stands in people's files."""


def repair(draft: Draft) -> Draft:
    """Drop results without a call; insert a placeholder for calls without a result.

    Ids are compared as sets over the whole list, so a result in the wrong place counts as
    answered. Placeholders stand directly after the assistant message, before real results.
    """
    messages = draft.messages
    called = {call.id for m in messages if m.role == "assistant" for call in m.tool_calls}
    answered = {m.tool_call_id for m in messages if m.is_tool_result}
    paired = [not m.is_tool_result or m.tool_call_id in called for m in messages]
    if all(paired) and called <= answered:
        return draft
    kept = draft.keep(paired, "its tool call is gone")
    return Draft(joined(*_answered(kept, answered)), kept.drops)


def _answered(draft: Draft, answered: set[str]) -> Iterator[Sequence[Slot]]:
    start = 0
    for at, message in enumerate(draft.messages):
        if message.role != "assistant" or not message.tool_calls:
            continue
        missing = (call.id for call in message.tool_calls if call.id not in answered)
        if placeholders := tuple(map(_placeholder, missing)):
            yield draft.slots[start : at + 1]
            yield placeholders
            start = at + 1
    yield draft.slots[start:]


def _placeholder(call_id: str) -> Slot:
    message = Message("user", UNAVAILABLE, tool_call_id=call_id)
    return Slot(message, Fate.INSERTED, reason="its result is gone")
