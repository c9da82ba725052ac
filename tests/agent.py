"""A harness9 in miniature: runs a scripted session and leaves what the real one leaves on disk.

The compactions are the engine's own. What is imitated here is the loop around it: what stays in
memory, what is saved and when, and what a failed run or a restart loses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from compaction import (
    CompactionResult,
    Memory,
    MemoryOffloads,
    Message,
    Ports,
    Settings,
    compact,
    tier_for,
)
from compaction.placeholder import parse_placeholder
from compaction.reconstruct import StoredRow
from compaction.summary import SummaryRequest
from compaction.tiers import Tier
from compaction.tokens import estimate
from compaction.turns import takes_effect


@dataclass(frozen=True)
class Turn:
    """One model call: what it answers, and what its tools return."""

    answer: Message
    results: Sequence[Message] = ()
    summary_fails: bool = False


@dataclass(frozen=True)
class Run:
    """From the person's line to the last answer."""

    human: Message
    turns: Sequence[Turn]
    is_lost: bool = False
    """The run fails in the end, so that nothing of it is saved."""
    is_restart: bool = False
    """The program was started afresh before it."""


@dataclass
class Summariser:
    """Fails when told to; otherwise says little."""

    fails: bool = False
    asked: int = 0

    def summarise(self, request: SummaryRequest) -> Message | None:
        self.asked += 1
        if self.fails:
            raise RuntimeError("the model is away")
        text = f"## Anchors\n\n### User Intent\nask {self.asked}\n\n## Summary\n{self.asked} asked"
        return Message("assistant", text)


@dataclass(frozen=True)
class Compaction:
    """One compaction as it really was."""

    result: CompactionResult
    was_saved: bool
    """Whether the run it belongs to was."""


@dataclass
class Agent:
    """Its disk (`stored`, `files`, `compactions`), and what only its process knows."""

    settings: Settings
    system: Message
    stored: list[StoredRow] = field(default_factory=list)
    files: MemoryOffloads = field(default_factory=MemoryOffloads)
    compactions: list[Compaction] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)
    batch: int = 0

    def run(self, run: Run) -> None:
        if run.is_restart:
            self.memory = Memory()
        self.batch += 1
        done = len(self.compactions)
        history = [self.system, *(row.message for row in self.stored), run.human]
        saved = len(history) - 1
        for turn in run.turns:
            history, saved = self._compacted(history, saved, turn)
            history += [turn.answer, *turn.results]
        if run.is_lost:
            self.compactions[done:] = [
                replace(one, was_saved=False) for one in self.compactions[done:]
            ]
        else:
            self._save(history[saved:])

    def original_of(self, placeholder: Message) -> str | None:
        """What the file that a placeholder names holds now."""
        found = parse_placeholder(placeholder.content)
        return self.files.files.get(found.path) if found else None

    def _compacted(
        self, history: list[Message], saved: int, turn: Turn
    ) -> tuple[list[Message], int]:
        """The list after the compaction before a call, and how much of it is stored."""
        if tier_for(estimate(history), self.settings) is Tier.NONE:
            return history, saved
        ports = Ports(summariser=Summariser(turn.summary_fails), offloads=self.files)
        result = compact(history, self.settings, ports, self.memory)
        self.memory = result.memory
        self.compactions.append(Compaction(result, was_saved=True))
        if self.settings.rules.writes_back and takes_effect(result, self.settings.rules):
            # The new rows are saved at once, in a batch of their own.
            self.stored.clear()
            self._save(result.messages[1:])
            self.batch += 1
            return list(result.messages), len(result.messages)
        history = [result.rewritten.get(index, m) for index, m in enumerate(history)]
        return history, saved

    def _save(self, messages: Sequence[Message]) -> None:
        self.stored += [StoredRow(message, self.batch) for message in messages]
