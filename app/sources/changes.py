"""What changed in a workspace between two looks at it, by session and by kind.

A look is cheap: files are only measured, and a database is only read again when its file or its
`-wal` changed. Nobody is told of a change here; two sights are compared.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import SourceBusy, SourceUnreadable
from app.sources import sessions_db
from app.sources.folder import files_in
from app.sources.sessions_db import Tally
from app.sources.stores import Mark, mark_of
from app.sources.workspace import Workspace

_Marks = tuple[Mark | None, ...]


@dataclass(frozen=True, slots=True)
class DatabaseSight:
    """A session database as it was."""

    marks: _Marks
    """Of the file and its `-wal`."""
    tallies: Mapping[str, Tally]
    is_current: bool = True
    """False when a writer was in the way, and the tallies are those of an earlier look."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a workspace looked like at one moment."""

    databases: Mapping[Path, DatabaseSight] = field(default_factory=dict)
    records: Mapping[tuple[Path, str], Hashable] = field(default_factory=dict)
    """By store and session id, here and below."""
    offloads: Mapping[tuple[Path, str], Hashable] = field(default_factory=dict)
    plans: Hashable = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different. A session id stands in each set whose kind of data changed."""

    messages: frozenset[str] = frozenset()
    compactions: frozenset[str] = frozenset()
    offloads: frozenset[str] = frozenset()
    plans: bool = False
    unexplained: bool = False
    """A database changed, but it does not show in which sessions; or it could not be read."""
    emptied: frozenset[str] = frozenset()
    """Sessions among `messages` that have lost all rows: perhaps they are just being replaced."""

    def __bool__(self) -> bool:
        anything = self.messages or self.compactions or self.offloads
        return bool(anything or self.plans or self.unexplained)


def sight_of(workspace: Workspace, earlier: Sight | None = None) -> Sight:
    """What is there now. What did not change since `earlier` is taken from it. Never raises."""
    known = earlier or Sight()
    databases: dict[Path, DatabaseSight] = {}
    records: dict[tuple[Path, str], Hashable] = {}
    offloads: dict[tuple[Path, str], Hashable] = {}
    plans: list[Hashable] = []
    for store in workspace.stores:
        for path in store.databases().paths.values():
            databases[path] = _database(path, known.databases.get(path))
        for session_id, path in store.records().paths.items():
            records[store.root, session_id] = mark_of(path)
        for session_id, folder in store.offload_folders().paths.items():
            files = files_in(folder).paths.values()
            offloads[store.root, session_id] = frozenset(map(mark_of, files))
        plans.append(frozenset(map(mark_of, store.plan_files().paths.values())))
    return Sight(databases, records, offloads, tuple(plans))


def changes(before: Sight, after: Sight) -> Changes:
    """What differs between two sights."""
    messages: set[str] = set()
    emptied: set[str] = set()
    unexplained = before.databases.keys() != after.databases.keys()
    for path, now in after.databases.items():
        was = before.databases.get(path, DatabaseSight((), {}))
        if was is now:
            continue
        touched = _different(was.tallies, now.tallies)
        messages |= touched
        emptied |= {one for one in touched if _is_emptied(was, now, one)}
        unexplained |= was.marks != now.marks and not (touched and now.is_current)
    return Changes(
        messages=frozenset(messages),
        compactions=_sessions(before.records, after.records),
        offloads=_sessions(before.offloads, after.offloads),
        plans=before.plans != after.plans,
        unexplained=unexplained,
        emptied=frozenset(emptied),
    )


def _database(path: Path, known: DatabaseSight | None) -> DatabaseSight:
    marks = mark_of(path), mark_of(path.with_name(path.name + "-wal"))
    if known is not None and known.is_current and known.marks == marks:
        return known
    try:
        return DatabaseSight(marks, sessions_db.tallies(path))
    except SourceBusy:
        return DatabaseSight(marks, known.tallies if known else {}, is_current=False)
    except SourceUnreadable:
        return DatabaseSight(marks, {})


def _is_emptied(was: DatabaseSight, now: DatabaseSight, session_id: str) -> bool:
    had, has = was.tallies.get(session_id), now.tallies.get(session_id)
    return had is not None and had.rows > 0 and has is not None and has.rows == 0


def _different(was: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    return {one for one in was.keys() | now.keys() if was.get(one) != now.get(one)}


def _sessions(
    was: Mapping[tuple[Path, str], Hashable], now: Mapping[tuple[Path, str], Hashable]
) -> frozenset[str]:
    keys = was.keys() | now.keys()
    return frozenset(key[1] for key in keys if was.get(key) != now.get(key))
