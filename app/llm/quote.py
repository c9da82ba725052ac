"""What Claude would be sent and what it would cost, told before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from app.llm.access import Access
from app.llm.claude import BYTES_PER_TOKEN, Limits, room_for
from app.llm.offline import OfflineSummariser
from app.llm.prices import Usage, cost_of
from compaction.messages import Message
from compaction.portions import portions
from compaction.summary import SummaryRequest
from compaction.utf8 import byte_length


@dataclass(frozen=True, slots=True)
class Quote:
    """An estimate of what some summaries take; what they did take is in their `Outcome`."""

    model: str
    host: str
    calls: int
    tokens: int
    """Of all prompts together, at a cautious three bytes a token."""
    most_cost: Decimal | None
    """US dollars by list price if every answer is as long as it may be; None where the price is
    not known. A second attempt, or a text tried again at half the size, would come on top."""


class Rehearsal:
    """A `compaction.Summariser` that sends nothing: it answers with extracts, and keeps account of
    the calls that `ClaudeSummariser` would make in its place."""

    name = "rehearsal"

    def __init__(self, access: Access, limits: Limits = Limits()) -> None:  # noqa: B008 - immutable
        self._access = access
        self._limits = limits
        self._offline = OfflineSummariser()
        self._prompts: list[int] = []

    def summarise(self, request: SummaryRequest) -> Message:
        """Extracts in place of the model's answer."""
        answer = Message("assistant", request.previous)
        room = room_for(request, self._limits)
        for part in portions(request.messages, room, self._limits.most_calls):
            asked = replace(request, messages=part, previous=answer.content)
            size = byte_length(asked.system_prompt) + byte_length(asked.user_prompt)
            self._prompts.append(size // BYTES_PER_TOKEN)
            answer = self._offline.summarise(asked)
        return answer

    @property
    def quote(self) -> Quote:
        """What all summaries so far would take."""
        model = self._access.model
        most = self._limits.most_output
        costs = [cost_of(model, Usage(tokens, most)) for tokens in self._prompts]
        return Quote(model, self._access.host, len(costs), sum(self._prompts), _total(costs))


def _total(costs: Iterable[Decimal | None]) -> Decimal | None:
    total = Decimal(0)
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total
