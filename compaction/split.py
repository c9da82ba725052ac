"""Where a conversation is cut: the system message, the head that may go, the tail that stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.messages import Message


@dataclass(frozen=True, slots=True)
class Split:
    """Index ranges over the input; message 0 is the system message."""

    head: range
    tail: range


def split(messages: Sequence[Message], tail: int) -> Split | None:
    """Head and tail of `messages`, or None where nothing may be compacted.

    There is no head unless message 0 is the system's and more than `tail` messages follow it.
    """
    count = len(messages)
    if count - 1 <= tail or not messages[0].is_system:
        return None
    return Split(range(1, count - tail), range(count - tail, count))
