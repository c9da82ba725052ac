"""Strategies side by side: a session played back call by call under each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from compaction.anchors import says_nothing
from compaction.messages import Message
from compaction.ports import MemoryOffloads, Ports
from compaction.recall import FactReader, Needs, Recall, facts_in
from compaction.result import Memory
from compaction.rounds import is_persons
from compaction.settings import Settings
from compaction.strategies.contract import Outcome, Strategy
from compaction.tokens import BYTES_PER_TOKEN, message_bytes
from compaction.turns import call_positions

_PATIENCE = 0.01
"""Of the window: after a compaction that left it over the trigger, how much it has to grow until
the next. Without it a strategy that cannot help would be run at every call."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A strategy with the settings it is tried with."""

    name: str
    strategy: Strategy
    settings: Settings
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One compaction that changed something."""

    call: int
    """The model call before which it happened, 1-based."""
    position: int
    """How many of the session's messages had been said."""
    tokens_before: int
    tokens_after: int
    first_change: int
    """Index of the first message that differs: a prompt cache holds up to there."""
    asked: int
    sent_tokens: int
    mended: int
    recall: Recall
    error: str
    ran: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """How one contestant fared. Tokens are estimated."""

    name: str
    tokens_whole: int
    """Of the whole session, uncompacted."""
    tokens_end: int
    """Of what is in view at its end."""
    steps: tuple[Step, ...]
    attempts: int
    """How often it was run, with or without effect."""
    asked: int
    """Questions to the summariser."""
    sent_tokens: int
    """What those questions held."""
    calls: int
    """Model calls of the session."""
    calls_over: int
    """Model calls for which the view was larger than the window: a provider refuses those."""
    human_lines: int
    human_kept: int
    """In view at the end, word for word."""
    anchors: int | None
    """How many of the five say something at the end; None where the strategy has none."""
    uses: int
    """How often the model took up a fact that had been mentioned before: the same for all
    contestants, and each counts once however many compactions lie between."""
    uses_in_files: int
    uses_lost: int
    errors: tuple[str, ...]
    """Each kind of failure once."""
    nanoseconds: int

    @property
    def ratio(self) -> float:
        """In view at the end over the whole session."""
        return self.tokens_end / self.tokens_whole if self.tokens_whole else 1.0

    @property
    def first_trigger(self) -> int | None:
        """The model call of the first compaction that changed something."""
        return self.steps[0].call if self.steps else None

    @property
    def cache_break(self) -> int | None:
        """The middle one of all first changes."""
        changes = sorted(step.first_change for step in self.steps)
        return changes[len(changes) // 2] if changes else None

    @property
    def mended(self) -> int:
        """Messages put in or left out for the sake of tool pairs."""
        return sum(step.mended for step in self.steps)

    @property
    def in_view(self) -> float | None:
        """The share of all uses for which the fact was in view."""
        return self._share(self.uses - self.uses_in_files - self.uses_lost)

    @property
    def in_files(self) -> float | None:
        """The share for which it could be read back from a file."""
        return self._share(self.uses_in_files)

    @property
    def lost(self) -> float | None:
        """The share for which it was gone."""
        return self._share(self.uses_lost)

    def _share(self, part: int) -> float | None:
        return part / self.uses if self.uses else None


def compare(
    system: Message,
    messages: Sequence[Message],
    contestants: Iterable[Contestant],
    ports: Callable[[], Ports],
) -> tuple[Row, ...]:
    """One row per contestant, all over the same session.

    `messages` are the session's own, without the system message. Each compaction replaces the
    history, as a loop with a context manager does; so the tier ladder is run in that way here,
    whatever its rule book. `ports` is called once per contestant; its offload store is replaced by
    one in memory.
    """
    reader = FactReader()
    needs = Needs(messages, reader)
    return tuple(
        _Run(contestant, ports(), reader, needs).through(system, messages)
        for contestant in contestants
    )


class _Run:
    """One contestant on its way through a session."""

    def __init__(
        self, contestant: Contestant, ports: Ports, reader: FactReader, needs: Needs
    ) -> None:
        self.contestant, self.reader, self.needs = contestant, reader, needs
        self.offloads = MemoryOffloads()
        self.ports = replace(ports, offloads=self.offloads)
        self.memory = Memory()
        self.view: list[Message] = []
        self.bytes = 0
        self.steps: list[Step] = []
        self.attempts = self.asked = self.sent_bytes = self.wait_until = self.nanoseconds = 0
        self.errors: dict[str, None] = {}
        self.filed: dict[str, frozenset[str]] = {}
        self.uses_in_files = self.uses_lost = 0
        self.at_cut: tuple[int, set[str], set[str]] = (0, set(), set())

    def through(self, system: Message, messages: Sequence[Message]) -> Row:
        """The whole session."""
        self._add([system])
        seen = over = 0
        settings = self.contestant.settings
        positions = call_positions(messages)
        for call, position in enumerate(positions, start=1):
            self._add(messages[seen:position])
            seen = position
            if self._is_due():
                self._compact(call, position)
            over += self._tokens > settings.context_window
        self._add(messages[seen:])
        self._settle(len(messages))
        persons = [message for message in messages if is_persons(message)]
        return Row(
            name=self.contestant.name,
            tokens_whole=sum(map(message_bytes, (system, *messages))) // BYTES_PER_TOKEN,
            tokens_end=self._tokens,
            steps=tuple(self.steps),
            attempts=self.attempts,
            asked=self.asked,
            sent_tokens=self.sent_bytes // BYTES_PER_TOKEN,
            calls=len(positions),
            calls_over=over,
            human_lines=len(persons),
            human_kept=sum(map(is_persons, self.view)),
            anchors=_filled(self.memory),
            uses=len(self.needs),
            uses_in_files=self.uses_in_files,
            uses_lost=self.uses_lost,
            errors=tuple(self.errors),
            nanoseconds=self.nanoseconds,
        )

    @property
    def _tokens(self) -> int:
        return self.bytes // BYTES_PER_TOKEN

    @property
    def _limit(self) -> float:
        settings = self.contestant.settings
        share: float = getattr(settings, self.contestant.strategy.trigger)
        return share * settings.context_window

    def _is_due(self) -> bool:
        return self._tokens >= max(self._limit, self.wait_until)

    def _add(self, messages: Sequence[Message]) -> None:
        self.view += messages
        self.bytes += sum(map(message_bytes, messages))

    def _compact(self, call: int, position: int) -> None:
        contestant, before, tokens = self.contestant, self.view, self._tokens
        started = self.ports.nanoseconds()
        outcome = contestant.strategy.compact(
            before, contestant.settings, self.ports, self.memory, contestant.values
        )
        self.nanoseconds += self.ports.nanoseconds() - started
        self.attempts += 1
        self.asked += outcome.calls
        self.sent_bytes += outcome.sent_bytes
        self.memory = outcome.memory
        if outcome.error:
            self.errors[outcome.error] = None
        self.view, self.bytes = [], 0
        self._add(outcome.draft.messages)
        if self._tokens >= self._limit:
            patience = int(contestant.settings.context_window * _PATIENCE)
            self.wait_until = self._tokens + patience
        else:
            self.wait_until = 0
        if self.view != before:
            self.steps.append(self._step(outcome, call, position, tokens, before))

    def _step(
        self, outcome: Outcome, call: int, position: int, tokens: int, before: Sequence[Message]
    ) -> Step:
        self._settle(position)
        in_view, in_files = self.reader.of(self.view), self._in_reach()
        self.at_cut = (position, in_view, in_files)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(before, self.view, strict=False))
        return Step(
            call=call,
            position=position,
            tokens_before=tokens,
            tokens_after=self._tokens,
            first_change=sum(1 for _ in same),
            asked=outcome.calls,
            sent_tokens=outcome.sent_bytes // BYTES_PER_TOKEN,
            mended=outcome.mended,
            recall=self.needs.recall(position, in_view, in_files),
            error=outcome.error,
            ran=outcome.ran,
        )

    def _settle(self, until: int) -> None:
        """Count the uses between the last compaction and message `until`."""
        cut, in_view, in_files = self.at_cut
        found = self.needs.recall(cut, in_view, in_files, until)
        self.uses_in_files += len(found.retrievable)
        self.uses_lost += len(found.lost)

    def _in_reach(self) -> set[str]:
        """The facts in offloaded files that something in view still names."""
        if not self.offloads.files:
            return set()
        seen = "\n".join(message.content for message in self.view)
        for path, text in self.offloads.files.items():
            if path not in self.filed:
                self.filed[path] = facts_in(text)
        return set().union(*(facts for path, facts in self.filed.items() if path in seen))


def _filled(memory: Memory) -> int | None:
    if memory.anchors is None:
        return None
    return sum(not says_nothing(anchor.content) for anchor in memory.anchors)
