"""The sessions of a folder as the explorer lists them, with what happened to each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.errors import SourceError
from app.services.vitals import Badge
from app.sources import Workspace
from app.sources.model import Damage, Records, SessionInfo
from app.sources.records import read_records
from app.text import age, count, first_line, moment, plural, short_age, short_id
from compaction.tiers import Tier

MARKS = 10
"""At most so many compactions are drawn beside a session: the newest."""


FEW = 25
"""In a list of up to so many sessions each comes with its badge."""


@dataclass(frozen=True, slots=True)
class TierCount:
    """How often a session was compacted at one tier."""

    key: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in the list."""

    id: str
    short_id: str
    title: str
    updated_at: int | None
    """Unix seconds."""
    updated: str
    """How long ago."""
    updated_short: str
    messages: int
    tokens: int
    """Estimated, bytes / 4, over the stored rows."""
    compactions: int
    tiers: tuple[TierCount, ...]
    marks: tuple[str, ...]
    """Tier keys of the newest compactions, oldest first."""
    errors: int
    """Compactions that recorded an error, and damage in the record file."""
    offloads: int
    belongs: bool
    tie: str
    tooltip: str
    errors_say: str
    badge: Badge | None
    """None in a long list, where finding it out for all would take too long."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sessions under one heading."""

    key: str
    label: str
    says: str
    is_open: bool
    sessions: tuple[SessionRow, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something on disk that could not be read."""

    says: str
    path: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A folder: its sessions and what is wrong with its data."""

    name: str
    path: str
    home: str
    has_store: bool
    groups: tuple[Group, ...]
    problems: tuple[Problem, ...]
    sessions: int
    messages: int
    tokens: int
    compactions: int
    tiers: tuple[TierCount, ...]

    def row(self, session_id: str) -> SessionRow | None:
        """The session of that id, if it is in the list."""
        rows = (row for group in self.groups for row in group.sessions)
        return next((row for row in rows if row.id == session_id), None)


BadgeOf = Callable[[SessionInfo], Badge]


def overview(workspace: Workspace, badge_of: BadgeOf, now: int | None = None) -> Overview:
    """Everything the explorer shows. `now`, in Unix seconds, is what ages are reckoned from."""
    listing = workspace.listing()
    now = int(time.time()) if now is None else now
    rows, damage = [], list(listing.damage)
    for info in listing.sessions:
        records = _records(info)
        badge = badge_of(info) if len(listing.sessions) <= FEW else None
        rows.append(_row(info, records, badge, now))
        damage.extend(records.damage)
    ours = tuple(row for row in rows if row.belongs)
    others = tuple(row for row in rows if not row.belongs)
    return Overview(
        name=workspace.folder.name or str(workspace.folder),
        path=str(workspace.folder),
        home=str(workspace.home),
        has_store=bool(workspace.stores),
        groups=_groups(ours, others),
        problems=tuple(map(_problem, damage)),
        sessions=len(ours),
        messages=sum(row.messages for row in ours),
        tokens=sum(row.tokens for row in ours),
        compactions=sum(row.compactions for row in ours),
        tiers=_summed(ours),
    )


def _groups(ours: tuple[SessionRow, ...], others: tuple[SessionRow, ...]) -> tuple[Group, ...]:
    project = Group("project", "Sessions", "Sessions tied to this folder", True, ours)
    home = Group(
        "home",
        "Other sessions",
        "In the home store, but nothing ties them to this folder",
        not ours,
        others,
    )
    return tuple(group for group in (project, home) if group.sessions)


def _records(info: SessionInfo) -> Records:
    if info.records is None:
        return Records(None)
    try:
        return read_records(info.records)
    except SourceError as error:
        return Records(info.records, damage=(Damage(info.records, str(error)),))


def _row(info: SessionInfo, records: Records, badge: Badge | None, now: int) -> SessionRow:
    tiers = [tier_key(record.tier) for record in records.records]
    failed = sum(1 for record in records.records if record.error)
    title = title_of(info)
    return SessionRow(
        id=info.id,
        short_id=short_id(info.id),
        title=title,
        updated_at=info.updated_at,
        updated=age(info.updated_at, now),
        updated_short=short_age(info.updated_at, now),
        messages=info.messages,
        tokens=info.tokens,
        compactions=len(tiers),
        tiers=_counted(Counter(tiers)),
        marks=tuple(tiers[-MARKS:]),
        errors=failed + len(records.damage),
        offloads=info.offloads,
        belongs=info.belongs,
        tie=info.tie,
        tooltip=_tooltip(info, title),
        errors_say=_errors_say(failed, len(records.damage)),
        badge=badge,
    )


def title_of(info: SessionInfo) -> str:
    """What a session is called: its first human line, else by its id."""
    return first_line(info.title) or f"Session {short_id(info.id)}"


def tier_key(code: int) -> str:
    """The name that styles a tier: `warn`, `soft`, `full`, `emergency`, or `none`."""
    return next((tier.name.lower() for tier in Tier if tier == code), "none")


def tier_label(code: int) -> str:
    """What a tier is called; a code that is none of harness9's is shown as it is."""
    return next((tier.label for tier in Tier if tier == code), f"Tier {code}")


def _tooltip(info: SessionInfo, title: str) -> str:
    return "\n".join(
        (
            title,
            info.id,
            f"{plural(info.messages, 'message', 'messages')}, {count(info.tokens)} tokens (est.)",
            f"Last change {moment(info.updated_at)}",
            f"Shown here because {info.tie}" if info.belongs else info.tie.capitalize(),
        )
    )


def _errors_say(failed: int, damaged: int) -> str:
    parts = []
    if failed:
        parts.append(f"{plural(failed, 'compaction', 'compactions')} recorded an error")
    if damaged:
        parts.append(f"{plural(damaged, 'line', 'lines')} of the record file cannot be read")
    return "; ".join(parts)


def _counted(keys: Counter[str]) -> tuple[TierCount, ...]:
    tiers = ((tier.name.lower(), tier.label) for tier in Tier)
    return tuple(TierCount(key, label, keys[key]) for key, label in tiers if keys[key])


def _summed(rows: Iterable[SessionRow]) -> tuple[TierCount, ...]:
    keys: Counter[str] = Counter()
    for row in rows:
        keys.update({tier.key: tier.count for tier in row.tiers})
    return _counted(keys)


def _problem(damage: Damage) -> Problem:
    return Problem(damage.says, str(damage.path), damage.line)
