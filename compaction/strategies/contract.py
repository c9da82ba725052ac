"""What a strategy is: a name, what to expect of it, its own options, and one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction.compose import compose
from compaction.messages import Message
from compaction.pairs import mend
from compaction.ports import Ports
from compaction.provenance import Draft, Fate
from compaction.records import OffloadEntry
from compaction.result import Memory
from compaction.settings import Field, Settings, SettingsError, read_value
from compaction.tokens import message_bytes

Options = Mapping[str, Any]
"""Values of a strategy's own fields, all present and checked."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a strategy made of a conversation."""

    draft: Draft
    memory: Memory
    """To be passed to the next compaction."""
    error: str = ""
    """Why it could not do what it is for; the draft is then as good as it got."""
    calls: int = 0
    """How often the summariser was asked."""
    sent_bytes: int = 0
    """UTF-8 bytes of all prompts it was sent."""
    offloaded: tuple[OffloadEntry, ...] = ()
    ran: tuple[str, ...] = ()
    """The layers that ran, of a strategy that has some."""
    mended: int = 0
    """Messages put in, moved or left out so that calls and results pair."""

    @property
    def summarised(self) -> int:
        """How many messages stand behind summaries."""
        return sum(len(s.sources) for s in self.draft.slots if s.fate is Fate.SUMMARISED)


Run = Callable[[Sequence[Message], Settings, Ports, Memory, Options], Outcome]


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to compact."""

    name: str
    label: str
    says: str
    """When to use it, in one sentence."""
    loses: str
    """What it takes away for good, in one sentence."""
    fields: tuple[Field, ...]
    run: Run
    """The bare function; `compact` is what callers want."""
    trigger: str = "soft"
    """The threshold of `Settings` from which it is worth running."""
    guarded: bool = True
    """Whether `compact` mends pairs and refuses growth. The tier ladder leaves both to its rule
    book, which may ask for the original's faults."""

    def read(self, values: Mapping[str, Any]) -> Options:
        """All options: a person's `values`, defaults for the rest.

        Raises SettingsError naming every value that is refused.
        """
        fields = {field.name: field for field in self.fields}
        options: dict[str, Any] = {name: field.default for name, field in fields.items()}
        problems: dict[str, str] = {}
        for name, value in values.items():
            if name not in fields:
                known = ", ".join(fields) or "none"
                problems[name] = f"no option of {self.name}; there are {known}"
                continue
            try:
                options[name] = read_value(value, fields[name])
            except ValueError as error:
                problems[name] = str(error)
        if problems:
            raise SettingsError(problems)
        return options

    def compact(
        self,
        messages: Sequence[Message],
        settings: Settings,
        ports: Ports = Ports(),  # noqa: B008 - immutable
        memory: Memory = Memory(),  # noqa: B008 - immutable
        values: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Compact `messages`; they stay as they are.

        The outcome of a guarded strategy has its pairs mended and is never larger than the input,
        or than the mended input where that had broken pairs. Raises SettingsError for options that
        cannot be used; whatever a summariser, an embedder or a store raises ends up in `error`.
        """
        before, options = tuple(messages), self.read(values or {})
        if not self.guarded:
            return self.run(before, settings, ports, memory, options)
        # Mended first, so that a strategy finds every tool batch whole; and again, should it have
        # parted one.
        whole = mend(Draft.of(before))
        outcome = self.run(whole.messages, settings, ports, memory, options)
        draft = compose(whole, mend(outcome.draft))
        if _size(draft) > max(_size(Draft.of(before)), _size(whole)):
            error = outcome.error or "the result would have been larger than the conversation"
            outcome, draft = replace(outcome, memory=memory, error=error), whole
        return replace(outcome, draft=draft, mended=_mended(whole))


def _size(draft: Draft) -> int:
    return sum(map(message_bytes, draft.messages))


def _mended(whole: Draft) -> int:
    put_in = sum(slot.fate is not Fate.KEPT or slot.reason != "" for slot in whole.slots)
    return len(whole.drops) + put_in
