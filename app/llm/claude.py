"""A summariser that asks Claude: within one deadline, in few calls, with every failure named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from threading import Event
from time import monotonic

from app.llm.access import Access
from app.llm.bounded import Deadline, watched
from app.llm.failures import TRANSIENT, Cancelled, KeyRefused, SummaryFailed, TooLong
from app.llm.messages_api import Reply, events
from app.llm.prices import Usage, cost_of
from compaction.anchors import ABSENT, Anchor, Summary, merge, parse_summary, render, says_nothing
from compaction.messages import Message
from compaction.portions import portions
from compaction.summary import SummaryRequest
from compaction.utf8 import byte_length

BYTES_PER_TOKEN = 3
"""Cautious: code and Chinese take fewer bytes a token than English prose."""

HALVINGS = 3
"""How often a text that the model calls too long is tried again at half the size."""

FIRST_PAUSE = 0.5
"""Seconds before a second attempt where the service names none; doubled at each further one."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one summary may take."""

    seconds: float = 60.0
    """For everything together: all calls, attempts and pauses."""
    attempts: int = 4
    """For one call."""
    most_input: int = 90_000
    """Tokens of one prompt, estimated. A longer text is sent in portions."""
    most_calls: int = 4
    """Portions at most; what does not fit is cut, with a mark."""
    most_output: int = 8_192
    """Tokens of one answer, thinking included."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a summary has come."""

    portion: int
    """The one being summarised, from 1."""
    portions: int
    characters: int
    """Of the answer, so far."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one summary took, whether it came to be or not."""

    model: str
    seconds: float
    calls: int = 0
    """Answers that began to arrive; each is paid for."""
    usage: Usage = field(default_factory=Usage)
    """As reported by the service."""
    cost: Decimal | None = Decimal(0)
    """US dollars by list price, an estimate; None where the price is not known."""
    failure: SummaryFailed | None = None


class ClaudeSummariser:
    """A `compaction.Summariser` over Anthropic's Messages API.

    `cancel` may be set from another thread; `on_progress` is called in the thread that asked, and
    what it raises ends the summary. `outcomes` holds one entry per summary asked for. A `deadline`
    is for all of them together; without one, each has `Limits.seconds`. A key that was refused is
    not tried again.
    """

    name = "claude"

    def __init__(
        self,
        access: Access,
        limits: Limits = Limits(),
        *,
        cancel: Event | None = None,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        deadline: Deadline | None = None,
    ) -> None:
        self.outcomes: list[Outcome] = []
        self._access = access
        self._limits = limits
        self._cancel = cancel or Event()
        self._on_progress = on_progress
        self._deadline = deadline

    def __repr__(self) -> str:
        return f"ClaudeSummariser({self._access!r}, {self._limits!r})"

    def summarise(self, request: SummaryRequest) -> Message:
        """The model's answer. Raises SummaryFailed; see `app.llm.failures` for the kinds."""
        with self._accounted() as bill:
            last = self.outcomes[-1].failure if self.outcomes else None
            if isinstance(last, KeyRefused):
                raise last
            deadline = self._deadline or Deadline(self._limits.seconds)
            return Message("assistant", self._fitted(request, deadline, bill))

    @contextmanager
    def _accounted(self) -> Iterator[_Bill]:
        bill, started = _Bill(self._access.model), monotonic()
        failure = None
        try:
            yield bill
        except SummaryFailed as error:
            failure = error
            raise
        finally:
            self.outcomes.append(bill.outcome(monotonic() - started, failure))

    def _fitted(self, request: SummaryRequest, deadline: Deadline, bill: _Bill) -> str:
        """The answer to all of the request, in smaller portions where the model says too long."""
        room = room_for(request, self._limits)
        for halving in range(HALVINGS):
            try:
                return self._in_portions(request, room >> halving, deadline, bill)
            except TooLong:
                if halving == HALVINGS - 1:
                    raise
        raise AssertionError("unreachable")

    def _in_portions(
        self, request: SummaryRequest, room: int, deadline: Deadline, bill: _Bill
    ) -> str:
        parts = portions(request.messages, room, self._limits.most_calls)
        answer, so_far = request.previous, None
        for number, part in enumerate(parts, start=1):
            asked = replace(request, messages=part, previous=answer)
            answer = self._answer(asked, Progress(number, len(parts), 0), deadline, bill)
            if len(parts) > 1:
                so_far = _continued(so_far, parse_summary(answer))
                answer = f"## Anchors\n\n{render(so_far.anchors)}\n\n## Summary\n{so_far.text}"
        return answer

    def _answer(
        self, request: SummaryRequest, progress: Progress, deadline: Deadline, bill: _Bill
    ) -> str:
        """One answer, in as many attempts as there is time for."""
        for attempt in range(self._limits.attempts):
            try:
                return self._attempt(request, progress, deadline, bill)
            except TRANSIENT as failure:
                asked = failure.retry_after
                pause = FIRST_PAUSE * 2**attempt if asked is None else asked
                if attempt == self._limits.attempts - 1 or pause >= deadline.left:
                    raise
                if self._cancel.wait(pause):
                    raise Cancelled("cancelled") from None
        raise AssertionError("a summary needs at least one attempt")

    def _attempt(
        self, request: SummaryRequest, progress: Progress, deadline: Deadline, bill: _Bill
    ) -> str:
        reply = Reply()
        answer = partial(
            events,
            self._access,
            request.system_prompt,
            request.user_prompt,
            self._limits.most_output,
            deadline.left,
        )
        try:
            with closing(watched(answer, deadline, self._cancel)) as arriving:
                for event in arriving:
                    if reply.take(event):
                        self._on_progress(replace(progress, characters=len(reply.text)))
        finally:
            bill.add(reply)
        return reply.checked()


def room_for(request: SummaryRequest, limits: Limits) -> int:
    """Bytes of conversation that one prompt may hold beside what every prompt holds."""
    fixed = byte_length(request.system_prompt) + byte_length(request.previous)
    return max(limits.most_input * BYTES_PER_TOKEN - fixed, BYTES_PER_TOKEN)


class _Bill:
    """What a summary has taken so far."""

    def __init__(self, model: str) -> None:
        self._total = Outcome(model, 0.0)

    def add(self, reply: Reply) -> None:
        if not reply.has_begun:
            return
        total = self._total
        cost = cost_of(total.model, reply.usage)
        known = None if cost is None or total.cost is None else total.cost + cost
        calls, usage = total.calls + 1, total.usage + reply.usage
        self._total = replace(total, calls=calls, usage=usage, cost=known)

    def outcome(self, seconds: float, failure: SummaryFailed | None) -> Outcome:
        return replace(self._total, seconds=seconds, failure=failure)


def _continued(so_far: Summary | None, new: Summary) -> Summary:
    """The summary after another portion: what the new one does not speak of still holds."""
    said = [
        Anchor(anchor.kind, ABSENT) if says_nothing(anchor.content) else anchor
        for anchor in new.anchors
    ]
    if so_far is None:
        return Summary(tuple(said), new.text)
    return Summary(merge(so_far.anchors, said), new.text or so_far.text)
