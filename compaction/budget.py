"""Cutting to a token budget without a model: the fallback, and the forced cut of an Emergency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from compaction.provenance import Draft
from compaction.repair import repair
from compaction.rules import ForcedCut
from compaction.settings import DEFAULT_BUDGET, DEFAULT_MIN_TAIL
from compaction.split import split
from compaction.tokens import BYTES_PER_TOKEN, message_bytes

OVER_BUDGET = "over the token budget"
FORCED = "forced cut"


def cut_to_budget(
    draft: Draft,
    max_tokens: int,
    min_tail: int = DEFAULT_MIN_TAIL,
    sizes: Iterable[int] | None = None,
) -> Draft:
    """The fallback: system message, as much of the *oldest* head as fits, and the tail.

    What goes first is the newest of the head, so the hole is in the middle. Where even system
    and tail are too much, they are returned all the same. Linear: sizes are summed once, and not
    even measured where the caller knows the bytes of each slot.
    """
    limit = max_tokens if max_tokens > 0 else DEFAULT_BUDGET
    tail = min_tail if min_tail > 0 else DEFAULT_MIN_TAIL
    messages = draft.messages
    sizes = list(map(message_bytes, messages) if sizes is None else sizes)
    parts = split(messages, tail)
    if parts is None or sum(sizes) // BYTES_PER_TOKEN <= limit:
        return draft
    fixed = sizes[0] + sum(sizes[parts.tail.start :])
    running = accumulate((sizes[index] for index in parts.head), initial=fixed)
    fitting = sum(1 for size in running if size // BYTES_PER_TOKEN <= limit)
    cut = parts.head.start + max(fitting - 1, 0)
    return repair(draft.cut(range(cut), parts.tail, reason=OVER_BUDGET))


def forced_cut(
    draft: Draft,
    rule: ForcedCut,
    max_tokens: int = DEFAULT_BUDGET,
    sizes: Iterable[int] | None = None,
) -> Draft:
    """The Emergency: keep next to nothing, then mend the pairs.

    Lists of two or fewer messages, or without a system message, are returned as they are.
    """
    count = len(draft.slots)
    if count <= 2 or not draft.slots[0].message.is_system:
        return draft
    if rule is ForcedCut.NEWEST:
        return repair(draft.cut(range(1), range(count - 1, count), reason=FORCED))
    sizes = list(map(message_bytes, draft.messages) if sizes is None else sizes)
    kept = _task_and_newest(sizes, max_tokens if max_tokens > 0 else DEFAULT_BUDGET)
    return repair(draft.keep([index in kept for index in range(count)], FORCED))


def _task_and_newest(sizes: Sequence[int], max_tokens: int) -> set[int]:
    # No vector was recorded of this one, only words: system and task always; then newest first,
    # each if it fits in what is left. Tokens are those of each message alone, rounded down.
    kept = {0, 1}
    left = max_tokens - (sizes[0] + sizes[1]) // BYTES_PER_TOKEN
    for index in range(len(sizes) - 1, 1, -1):
        tokens = sizes[index] // BYTES_PER_TOKEN
        if tokens <= left:
            kept.add(index)
            left -= tokens
    return kept
