"""Counting as Anthropic's `count_tokens` does; where it cannot be asked, a flagged estimate."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from threading import Event

from app.llm.access import Access
from app.llm.bounded import Deadline, watched
from app.llm.failures import SummaryFailed
from app.llm.messages_api import counted
from compaction.adapters import as_anthropic
from compaction.messages import Message
from compaction.tokens import Count, estimate

DEFAULT_SECONDS = 5.0
REMEMBERED = 64
"""Conversations whose count is not asked for again."""


class ClaudeCounter:
    """A `FlaggedCounter` over the network, for one model; counting is free of charge there.

    It never fails and never takes longer than `seconds`: without an answer the count is the
    byte-quarter estimate, flagged with the reason.
    """

    def __init__(self, access: Access, seconds: float = DEFAULT_SECONDS) -> None:
        self.name = f"{access.model} count_tokens"
        self._access = access
        self._seconds = seconds
        self._remembered: OrderedDict[tuple[Message, ...], Count] = OrderedDict()

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of all `messages` together."""
        return self.measure(messages).tokens

    def measure(self, messages: Sequence[Message]) -> Count:
        """Tokens as the service counts them, or an estimate with the reason why."""
        key = tuple(messages)
        known = self._remembered.get(key)
        if known is not None:
            return known
        try:
            count = Count(self._asked(key))
        except SummaryFailed as failure:
            return Count(estimate(key), is_exact=False, why=str(failure))
        self._remembered[key] = count
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return count

    def _asked(self, messages: Sequence[Message]) -> int:
        deadline = Deadline(self._seconds)
        ask = partial(counted, self._access, as_anthropic(messages).request, deadline.left)
        (tokens,) = watched(ask, deadline, Event())
        return int(tokens)
