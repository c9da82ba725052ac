"""Context management that can be left alone: a strategy, checked, with two ways to fall back.

Whatever a model or a disk does, what comes out is a list that a provider takes, in which the
system message, the task and the newest human line stand word for word.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.checks import Checks, Finding, Rule, check
from compaction.fitting import below, fit, fixed_part, room_below
from compaction.messages import Message
from compaction.outcomes import account, is_settled, mark, numbered, size
from compaction.pairs import mend
from compaction.ports import Ports
from compaction.provenance import Draft
from compaction.records import CompactionRecord
from compaction.result import CompactionResult, Memory
from compaction.room import in_estimates
from compaction.rules import SAFE
from compaction.settings import Settings
from compaction.strategies import STRATEGIES, Outcome
from compaction.tiers import Tier, tier_for
from compaction.tokens import (
    BYTES_PER_TOKEN,
    ByteQuarter,
    Count,
    TokenCounter,
    counted_or_estimated,
)

DEFAULT_TRIGGER = 0.70
WINDOW = "sliding-window"
TRUNCATION = "forced truncation"
UNCHANGED = ""


@dataclass(frozen=True, slots=True)
class Managed:
    """What one call of a manager came to."""

    result: CompactionResult
    findings: tuple[Finding, ...] = ()
    """What was wrong with the outcomes that were not taken, or with the last one that was."""
    by: str = UNCHANGED
    """Whose outcome it is: a strategy's name, or `forced truncation`; empty for nobody's."""
    filled: Count = Count(0)  # noqa: RUF009 - immutable
    """What was in the window when it was asked, as its counter counts, with `besides`."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What to send, and to go on from."""
        return self.result.messages

    @property
    def record(self) -> CompactionRecord:
        """The numbers; of tier None, and not worth keeping, where nothing was done."""
        return self.result.record

    @property
    def memory(self) -> Memory:
        """To be passed to the next call."""
        return self.result.memory


@dataclass(frozen=True, slots=True)
class ContextManager:
    """Runs a strategy when the window is full enough, checks the outcome, and falls back.

    Follows the safe rule book whatever `settings.rules` says. Raises LookupError for a strategy
    that does not exist and SettingsError for `values` that it cannot use, both when made.
    """

    settings: Settings
    ports: Ports = Ports()  # noqa: RUF009 - immutable
    strategy: str = "progressive"
    values: Mapping[str, Any] = field(default_factory=dict)
    """Options of the strategy."""
    trigger: float = DEFAULT_TRIGGER
    """The share of the window from which it acts."""
    checks: Checks = Checks()  # noqa: RUF009 - immutable
    counter: TokenCounter = ByteQuarter()  # noqa: RUF009 - immutable
    """How full the window is. Records keep harness9's estimate, whatever counts here."""
    besides: int = 0
    """Tokens that are sent along with the messages, such as tool definitions (`estimate_tools`)."""

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            known = ", ".join(STRATEGIES)
            raise LookupError(f"there is no strategy {self.strategy!r}; there are {known}")
        STRATEGIES[self.strategy].read(self.values)

    def manage(
        self,
        messages: Sequence[Message],
        memory: Memory = Memory(),  # noqa: B008 - immutable
    ) -> Managed:
        """`messages`, compacted if the window is full enough. They stay as they are.

        Never raises for what a model, an embedder or a disk did. Pairs are mended at any fill.
        """
        started = self.ports.nanoseconds()
        before = tuple(messages)
        filled = self._filled(before)
        whole = Outcome(mend(Draft.of(before)), memory)
        if not self._is_due(before, filled, memory):
            return self._done(UNCHANGED, whole, before, filled, started, ())
        if self.besides >= self.settings.context_window:
            return self._done(UNCHANGED, self._no_room(whole), before, filled, started, ())
        findings: list[Finding] = []
        settings = self._room(before, filled)
        for name, outcome in self._attempts(before, settings, memory):
            broken = check(outcome.draft, before, self.checks)
            findings += [Finding(rule, says, name) for rule, says in broken]
            if _is_acceptable(broken, is_last=name == TRUNCATION):
                return self._done(name, outcome, before, filled, started, findings)
            memory = replace(memory, written=memory.written | outcome.memory.written)
            whole = replace(whole, memory=memory, error=outcome.error)
        return self._done(UNCHANGED, whole, before, filled, started, findings)

    async def amanage(
        self,
        messages: Sequence[Message],
        memory: Memory = Memory(),  # noqa: B008 - immutable
        *,
        away: Callable[..., Awaitable[Managed]],
    ) -> Managed:
        """The same without holding up an event loop; `away` is `asyncio.to_thread` or its like."""
        return await away(self.manage, tuple(messages), memory)

    def _filled(self, before: tuple[Message, ...]) -> Count:
        counted = counted_or_estimated(self.counter, before)
        return replace(counted, tokens=counted.tokens + self.besides)

    def _room(self, before: tuple[Message, ...], filled: Count) -> Settings:
        """The settings as a strategy needs them, which counts in bytes."""
        safe = replace(self.settings, rules=SAFE)
        estimated = size(before) // BYTES_PER_TOKEN
        return in_estimates(safe, filled.tokens - self.besides, estimated, self.besides)

    def _no_room(self, whole: Outcome) -> Outcome:
        window = self.settings.context_window
        says = (
            "what is sent besides the messages alone takes "
            f"{self.besides / window:.1%} of the window ({self.besides:,} of {window:,} tokens)"
        )
        return replace(whole, error=says)

    def _is_due(self, before: tuple[Message, ...], filled: Count, memory: Memory) -> bool:
        window = self.settings.context_window
        if window <= 0 or filled.tokens < window * self.trigger:
            return False
        return not is_settled(before, self.settings, memory)

    def _attempts(
        self, before: tuple[Message, ...], settings: Settings, memory: Memory
    ) -> Iterator[tuple[str, Outcome]]:
        for name, values in ((self.strategy, self.values), (WINDOW, {"rounds": 2})):
            try:
                outcome = STRATEGIES[name].compact(before, settings, self.ports, memory, values)
            except Exception as error:  # a port of the caller's may raise anything
                says = str(error) or type(error).__name__
                outcome = Outcome(mend(Draft.of(before)), memory, says)
            yield name, outcome
        yield TRUNCATION, self._truncated(before, settings, memory)

    def _truncated(
        self, before: tuple[Message, ...], settings: Settings, memory: Memory
    ) -> Outcome:
        draft, fixed = mend(Draft.of(before)), fixed_part(before, settings)
        line = min(self.trigger, settings.warn)
        room = room_below(line, fixed, settings)
        if room is None:
            return Outcome(draft, memory, fixed.told())
        moved = fit(draft, room, settings, self.ports, memory.written)
        memory = replace(memory, written=moved.written)
        error = "" if room == below(line, settings) else fixed.told()
        return Outcome(moved.draft, memory, error, offloaded=moved.entries)

    def _done(
        self,
        name: str,
        outcome: Outcome,
        before: tuple[Message, ...],
        filled: Count,
        started: int,
        findings: Sequence[Finding],
    ) -> Managed:
        """The outcome with its record; where nothing was tried, of tier None."""
        settings = self.settings
        is_news = bool(name or findings or outcome.error)
        errors = [f"{f.strategy}: {f.says}" for f in findings]
        errors += [outcome.error] if outcome.error else []
        record = account(outcome.draft, outcome.memory, outcome.offloaded, errors)
        tier = (tier_for(filled.tokens, settings) or Tier.WARN) if is_news else Tier.NONE
        record = numbered(record, before, outcome.draft, tier, settings, self.ports, started)
        memory = outcome.memory
        if is_news:
            memory = replace(memory, settled=mark(outcome.draft.messages, settings))
        result = CompactionResult(before, outcome.draft, record, memory, record.error)
        return Managed(result, tuple(findings), name, filled)


def _is_acceptable(broken: Sequence[tuple[Rule, str]], *, is_last: bool) -> bool:
    """Whether an outcome may be taken; the last one also if it saves little or cuts new rounds."""
    bearable = {Rule.SAVING, Rule.ROUNDS} if is_last else set()
    return all(rule in bearable for rule, _ in broken)
