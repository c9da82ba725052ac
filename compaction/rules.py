"""The rule books: what the original does per generation, each difference a named flag."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ForcedCut(StrEnum):
    """What survives an Emergency."""

    NEWEST = "newest"
    """The system message and the newest one, whatever it is."""
    TASK_AND_NEWEST = "task-and-newest"
    """Also the first message after the system's, then newest first whatever still fits."""


class Guard(StrEnum):
    """A way in which the safe rule book differs from the original; `docs/rule-books.md` says why.

    They hold each other up, so a rule book has all of them or none.
    """

    PAIRS = "pairs-by-position"
    """Every result stands directly behind its call; a list that does not is mended, moving."""
    SHRINK = "only-smaller"
    """A run that does not make the conversation smaller is no run: it changes nothing."""
    PINS = "people-stay"
    """The system message, the task and the newest human line stay word for word at every tier."""
    SETTLES = "settles"
    """A run goes on until the tier that called for it is left, or says what is in the way."""
    ONCE = "once"
    """The same list again, with nothing new in it, is left alone: no call, record or file."""
    ANSWERS = "answers-are-checked"
    """An empty, blank, evasive or too large summary is a failure, and never replaces anything."""
    ANCHORS = "anchors-stay"
    """Headings are known in any dress, and "nothing applies" in any words erases no anchor."""
    PORTIONS = "bounded-questions"
    """A summariser is asked a bounded number of times, below its limit, within one deadline."""
    PREVIEWS = "bounded-previews"
    """What stays of a large result is bounded in bytes as well as in lines."""
    FILES = "safe-file-names"
    """Ids become names that no other id can have and that stay inside the folder."""
    PREFIX = "prefix-stays"
    """The newest large results leave first and only as many as must, for the prompt cache."""


@dataclass(frozen=True, slots=True)
class RuleBook:
    """One set of behaviours, bit-exact where it bears harness9's name."""

    name: str
    writes_back: bool
    """The compacted list replaces the history; otherwise it is a view for one call."""
    aliases_input: bool
    """Placeholders of an offload also land in the caller's history (the original shared one
    array). We never touch the caller's list: `CompactionResult.rewritten` says what would be."""
    fallback_sees_placeholders: bool
    """After a failed summary the cut is made on the list that is already offloaded."""
    forced_cut: ForcedCut
    strict_write_back: bool = False
    """Any error stops a write-back, and saved tokens alone are no reason for one."""
    guards: frozenset[Guard] = frozenset()
    """What it does not do as the original; all of them, or none."""

    def __post_init__(self) -> None:
        """Raises ValueError for a part of the guards, which would be taken for all of them."""
        missing = frozenset(Guard) - self.guards
        if self.guards and missing:
            names = ", ".join(sorted(missing))
            raise ValueError(f"rule book {self.name!r}: all guards or none; missing are {names}")


HARNESS9_VIEW = RuleBook(
    name="harness9-view",
    writes_back=False,
    aliases_input=True,
    fallback_sees_placeholders=True,
    forced_cut=ForcedCut.NEWEST,
)

HARNESS9_WRITEBACK = RuleBook(
    name="harness9-writeback",
    writes_back=True,
    aliases_input=False,
    fallback_sees_placeholders=False,
    forced_cut=ForcedCut.TASK_AND_NEWEST,
)

HARNESS9_WRITEBACK_EARLY = RuleBook(
    name="harness9-writeback-early",
    writes_back=True,
    aliases_input=False,
    fallback_sees_placeholders=False,
    forced_cut=ForcedCut.NEWEST,
    strict_write_back=True,
)
"""The commit before the release: write-back, but still the older Emergency."""

SAFE = RuleBook(
    name="safe",
    writes_back=True,
    aliases_input=False,
    fallback_sees_placeholders=True,
    forced_cut=ForcedCut.TASK_AND_NEWEST,
    guards=frozenset(Guard),
)
"""For new use: the original's ladder without the faults that people reported of such tools."""

RULE_BOOKS = {
    book.name: book for book in (SAFE, HARNESS9_VIEW, HARNESS9_WRITEBACK, HARNESS9_WRITEBACK_EARLY)
}
