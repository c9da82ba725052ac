"""The five anchors over a session's compactions: when each was set, kept, changed, erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from gettext import gettext as _

from app.services.messages import Excerpt, excerpt, is_long
from app.sources.model import Session
from compaction.anchors import HEADINGS, says_nothing
from compaction.records import CompactionRecord
from compaction.tiers import Tier

_COLUMN = 92
"""Characters of a line of an anchor's text."""


class Change(StrEnum):
    """What a compaction did to an anchor, compared with the one before it."""

    SET = "set"
    CHANGED = "changed"
    ERASED = "erased"
    ABSENT = "absent"
    """Nothing was there and nothing came."""


@dataclass(frozen=True, slots=True)
class Version:
    """One text of an anchor and the compactions that carried it."""

    first: int
    """Number of the compaction that brought it, 1-based."""
    last: int
    """The last one that still carried it."""
    change: Change
    text: str
    tier: Tier
    timestamp: str

    @property
    def is_long(self) -> bool:
        """Whether it is cut short until the reader opens it."""
        return is_long(self.text, _COLUMN)

    @property
    def shown(self) -> Excerpt:
        """The beginning of the text: a record may hold megabytes."""
        return excerpt(self.text)

    @property
    def carried(self) -> int:
        """How often it was carried over unchanged by a compaction that wrote anchors."""
        return self.last - self.first


@dataclass(frozen=True, slots=True)
class AnchorHistory:
    """One anchor through a session."""

    kind: str
    heading: str
    versions: tuple[Version, ...]
    """Oldest first."""

    @property
    def current(self) -> Version | None:
        return self.versions[-1] if self.versions else None

    @property
    def erasures(self) -> int:
        return sum(1 for version in self.versions if version.change is Change.ERASED)

    @property
    def ever_set(self) -> bool:
        return any(version.change is not Change.ABSENT for version in self.versions)


def anchor_histories(records: Sequence[CompactionRecord]) -> tuple[AnchorHistory, ...]:
    """All five anchors over `records`, in file order.

    Only compactions that wrote anchors count: a warning or a failed summary has none.
    """
    return tuple(
        AnchorHistory(kind, heading, tuple(_versions(kind, records)))
        for kind, heading in HEADINGS.items()
    )


def _versions(kind: str, records: Sequence[CompactionRecord]) -> list[Version]:
    found: list[Version] = []
    for number, record in enumerate(records, start=1):
        for anchor in record.anchors or ():
            if anchor.kind != kind:
                continue
            before = found[-1] if found else None
            if before is not None and before.text == anchor.content:
                found[-1] = replace(before, last=number)
            else:
                change = _change(before, anchor.content)
                tier = Tier(record.tier) if record.tier in set(Tier) else Tier.NONE
                found.append(
                    Version(number, number, change, anchor.content, tier, record.timestamp)
                )
    return found


def _change(before: Version | None, text: str) -> Change:
    was_there = before is not None and not says_nothing(before.text)
    if says_nothing(text):
        return Change.ERASED if was_there else Change.ABSENT
    return Change.CHANGED if was_there else Change.SET


@dataclass(frozen=True, slots=True)
class AnchorsView:
    """The page with all anchors."""

    session_id: str
    compactions: int
    """How many compactions wrote anchors."""
    set: int
    """How many of the five say something in the newest of them."""
    erasures: int
    anchors: tuple[AnchorHistory, ...]
    none_says: str


def anchors_view(session: Session) -> AnchorsView:
    """All anchors of a session."""
    records = session.records.records
    histories = anchor_histories(records)
    return AnchorsView(
        session.info.id,
        sum(1 for record in records if record.anchors),
        sum(1 for one in histories if one.current and not says_nothing(one.current.text)),
        sum(one.erasures for one in histories),
        histories,
        _none_says(records),
    )


def _none_says(records: Sequence[CompactionRecord]) -> str:
    if not records:
        return _("This session has no compaction records, and anchors are kept nowhere else.")
    return _("None of its compactions asked for a summary, so none wrote anchors.")
