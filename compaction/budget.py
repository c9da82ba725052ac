"""Cutting to a token budget without a model: the fallback, and the forced cut of an Emergency."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from compaction.messages import Message
from compaction.provenance import Draft
from compaction.repair import repair
from compaction.rules import ForcedCut
from compaction.settings import DEFAULT_BUDGET, DEFAULT_MIN_TAIL
from compaction.split import split
from compaction.tokens import BYTES_PER_TOKEN, estimate, message_bytes

OVER_BUDGET = "over the token budget"


def cut_to_budget(draft: Draft, max_tokens: int, min_tail: int = DEFAULT_MIN_TAIL) -> Draft:
    """The fallback: system message, as much of the *oldest* head as fits, and the tail.

    What goes first is the newest of the head, so the hole is in the middle. Where even system
    and tail are too much, they are returned all the same. Linear: sizes are summed once.
    """
    limit = max_tokens if max_tokens > 0 else DEFAULT_BUDGET
    tail = min_tail if min_tail > 0 else DEFAULT_MIN_TAIL
    messages = draft.messages
    sizes = list(map(message_bytes, messages))
    parts = split(messages, tail)
    if parts is None or sum(sizes) // BYTES_PER_TOKEN <= limit:
        return draft
    fixed = sizes[0] + sum(sizes[parts.tail.start :])
    running = accumulate((sizes[index] for index in parts.head), initial=fixed)
    fitting = sum(1 for size in running if size // BYTES_PER_TOKEN <= limit)
    cut = parts.head.start + max(fitting - 1, 0)
    wanted = [index < cut or index >= parts.tail.start for index in range(len(messages))]
    return repair(draft.keep(wanted, OVER_BUDGET))


def forced_cut(draft: Draft, rule: ForcedCut, max_tokens: int = DEFAULT_BUDGET) -> Draft:
    """The Emergency: keep next to nothing, then mend the pairs.

    Lists of two or fewer messages, or without a system message, are returned as they are.
    """
    messages = draft.messages
    if len(messages) <= 2 or not messages[0].is_system:
        return draft
    kept = {0, len(messages) - 1}
    if rule is ForcedCut.TASK_AND_NEWEST:
        kept = _task_and_newest(messages, max_tokens if max_tokens > 0 else DEFAULT_BUDGET)
    wanted = [index in kept for index in range(len(messages))]
    return repair(draft.keep(wanted, "forced cut"))


def _task_and_newest(messages: Sequence[Message], max_tokens: int) -> set[int]:
    # No vector was recorded of this one, only words: system and task always; then newest first,
    # each if it fits in what is left. Tokens are those of each message alone, rounded down.
    kept = {0, 1}
    left = max_tokens - estimate(messages[:2])
    for index in range(len(messages) - 1, 1, -1):
        tokens = estimate(messages[index : index + 1])
        if tokens <= left:
            kept.add(index)
            left -= tokens
    return kept
