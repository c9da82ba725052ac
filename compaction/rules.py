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

RULE_BOOKS = {
    book.name: book for book in (HARNESS9_VIEW, HARNESS9_WRITEBACK, HARNESS9_WRITEBACK_EARLY)
}
