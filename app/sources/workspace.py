"""A project folder as one whole: its own `.harness9` and the home one, joined.

harness9 keeps the sessions of all projects in one database and never says which project a session
belongs to; it is inferred here from what lies in the project folder and what messages name.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.errors import NotFound, SourceError, UsageError
from app.sources import sessions_db
from app.sources.account import account_of
from app.sources.model import (
    Damage,
    Listing,
    OffloadFile,
    Records,
    Session,
    SessionInfo,
)
from app.sources.plans import PlanFile
from app.sources.records import read_records
from app.sources.stores import Store, project_folder, stores_of
from app.sources.tool_results import Original, offload_files, original_of
from compaction.messages import Message

_CANDIDATES = 5


def open_folder(folder: Path, home: Path | None = None) -> Workspace:
    """The workspace for a project folder; a `.harness9` folder, or one inside, will do too.

    `home` is the folder that holds the home `.harness9`; by default what ANCHORLINE_HOME names,
    else the user's home.

    Raises NotFound when there is no such folder.
    """
    if not folder.is_dir():
        raise NotFound(f"{folder} is not a folder; name the folder of a harness9 project.")
    project = project_folder(folder)
    chosen = home or Path(os.environ.get("ANCHORLINE_HOME") or Path.home())
    home = project_folder(chosen.expanduser())
    return Workspace(project, home)


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where to look. Nothing is remembered: every question is answered from the disk."""

    folder: Path
    home: Path

    @property
    def stores(self) -> tuple[Store, ...]:
        """The project's first. Empty while neither folder holds any harness9 data."""
        return stores_of(self.folder, self.home)

    def listing(self) -> Listing:
        """All sessions in reach, and what could not be read. Never raises for what is on disk."""
        shelves = self._shelves()
        rows, unread = self._overviews(shelves)
        known = _known(shelves, rows)
        infos = (_info(one, shelves, rows.get(one)) for one in known)
        order = sorted(infos, key=lambda info: (not info.belongs, -(info.updated_at or 0)))
        damage = (one for shelf in shelves for one in shelf.damage)
        return Listing(tuple(order), (*unread, *damage))

    def sessions(self) -> tuple[SessionInfo, ...]:
        """All sessions in reach, those of the project first."""
        return self.listing().sessions

    def resolve(self, prefix: str) -> str:
        """The id that `prefix` shortens.

        Raises NotFound when no session has it, UsageError when several do.
        """
        shelves = self._shelves()
        known = _known(shelves, self._ids(shelves))
        if prefix in known:
            return prefix
        matches = [one for one in known if prefix and one.startswith(prefix)]
        if len(matches) > 1:
            shown = ", ".join(matches[:_CANDIDATES])
            more = ", …" if len(matches) > _CANDIDATES else ""
            raise UsageError(f"{prefix!r} could be any of {shown}{more}; give more characters.")
        if not matches:
            raise _unknown(prefix)
        return matches[0]

    def session(self, session_id: str) -> Session:
        """Everything the disk says about one session.

        Raises NotFound when there is none; the id is compared with what is there, and never used
        as a path.
        """
        shelves = self._shelves()
        row, stored, unread = self._stored(shelves, session_id)
        if session_id not in _known(shelves, {session_id: row} if row else {}):
            raise _unknown(session_id)
        info = _info(session_id, shelves, row)
        rows = stored.rows if stored else ()
        records = _records(info)
        offloads, lost = _offloads(shelves, session_id)
        plans = (one.plan for shelf in shelves for one in shelf.plans if one.is_of(session_id))
        return Session(
            info=info,
            rows=rows,
            records=records,
            offloads=offloads,
            plans=(*(stored.plans if stored else ()), *plans),
            account=account_of(rows, records, self.original_of),
            damage=(*unread, *records.damage, *lost),
        )

    def stamp(self) -> Hashable:
        """Equal to an earlier one as long as no file that is read here was changed."""
        return tuple(store.stamp() for store in self.stores)

    def original_of(self, message: Message) -> Original | None:
        """The text that `message` stands for; None when it is no placeholder. Never raises."""
        return original_of(message, (store.tool_results for store in self.stores), self.folder)

    def _shelves(self) -> tuple[_Shelf, ...]:
        return tuple(_Shelf.of(store) for store in self.stores)

    def _places(self) -> tuple[str, ...]:
        """How messages would name the project; a root folder is named by everything."""
        places = {str(self.folder), str(self.folder.resolve())}
        return tuple(sorted(place for place in places if len(Path(place).parts) > 1))

    def _asked(self, shelf: _Shelf) -> tuple[str, ...]:
        return () if shelf.store.of_project else self._places()

    def _overviews(self, shelves: tuple[_Shelf, ...]) -> tuple[dict[str, _Row], tuple[Damage, ...]]:
        rows: dict[str, _Row] = {}
        damage: list[Damage] = []
        for shelf in shelves:
            for path in shelf.databases:
                try:
                    found = sessions_db.overviews(path, self._asked(shelf))
                except SourceError as error:
                    damage.append(Damage(path, str(error)))
                    continue
                for one in found:
                    row = rows.setdefault(one.id, _Row(shelf.store, path, one))
                    if row.path != path:
                        damage.append(_twice(row, path))
        return rows, tuple(damage)

    def _ids(self, shelves: tuple[_Shelf, ...]) -> frozenset[str]:
        known: set[str] = set()
        for shelf in shelves:
            for path in shelf.databases:
                with suppress(SourceError):
                    known |= sessions_db.ids(path)
        return frozenset(known)

    def _stored(
        self, shelves: tuple[_Shelf, ...], session_id: str
    ) -> tuple[_Row | None, sessions_db.Stored | None, tuple[Damage, ...]]:
        damage: list[Damage] = []
        for shelf in shelves:
            for path in shelf.databases:
                try:
                    found = sessions_db.stored(path, session_id, self._asked(shelf))
                except SourceError as error:
                    damage.append(Damage(path, str(error)))
                    continue
                if found is not None:
                    row = _Row(shelf.store, path, found.overview)
                    return row, found, (*damage, *found.damage)
        return None, None, tuple(damage)


@dataclass(frozen=True, slots=True)
class _Shelf:
    """What lies in one store."""

    store: Store
    databases: tuple[Path, ...]
    records: dict[str, Path]
    offload_folders: dict[str, Path]
    plans: tuple[PlanFile, ...]
    damage: tuple[Damage, ...]

    @classmethod
    def of(cls, store: Store) -> _Shelf:
        databases, records = store.databases(), store.records()
        folders = store.offload_folders()
        plans, unread = store.plans()
        return cls(
            store,
            tuple(databases.paths.values()),
            records.paths,
            folders.paths,
            plans,
            (*databases.damage, *records.damage, *folders.damage, *unread),
        )


@dataclass(frozen=True, slots=True)
class _Row:
    """A session in a database."""

    store: Store
    path: Path
    overview: sessions_db.Overview


def _known(shelves: Iterable[_Shelf], in_databases: Iterable[str]) -> tuple[str, ...]:
    """The ids of all sessions of which anything is left, sorted."""
    known = set(in_databases)
    for shelf in shelves:
        known |= shelf.records.keys() | shelf.offload_folders.keys()
    return tuple(sorted(known))


def _info(session_id: str, shelves: tuple[_Shelf, ...], row: _Row | None) -> SessionInfo:
    overview = row.overview if row else sessions_db.Overview(session_id, "", None, None, 0, 0)
    folders = (shelf.offload_folders.get(session_id) for shelf in shelves)
    records = (shelf.records.get(session_id) for shelf in _row_first(shelves, row))
    tie = _tie(session_id, shelves, row)
    return SessionInfo(
        id=session_id,
        title=overview.title,
        created_at=overview.created_at,
        updated_at=overview.updated_at,
        messages=overview.messages,
        tokens=overview.tokens,
        database=row.path if row else None,
        records=next((path for path in records if path), None),
        offloads=sum(len(offload_files(folder, "")[0]) for folder in folders if folder),
        belongs=tie != "",
        tie=tie or "nothing in this folder or in its messages ties it to this project",
    )


def _row_first(shelves: tuple[_Shelf, ...], row: _Row | None) -> list[_Shelf]:
    """The store that has the rows first: the records beside them are the ones of these rows."""
    return sorted(shelves, key=lambda shelf: row is not None and shelf.store != row.store)


def _tie(session_id: str, shelves: tuple[_Shelf, ...], row: _Row | None) -> str:
    """What ties a session to the project; empty when nothing does."""
    if row and row.store.of_project:
        return "its messages are stored in this folder"
    for shelf in shelves:
        if not shelf.store.of_project:
            continue
        if session_id in shelf.offload_folders:
            return "its tool results are in this folder"
        if session_id in shelf.records:
            return "its compaction records are in this folder"
        if any(plan.is_of(session_id) for plan in shelf.plans):
            return "its plan is in this folder"
    return "its messages name this folder" if row and row.overview.names_place else ""


def _twice(row: _Row, path: Path) -> Damage:
    says = f"Session {row.overview.id} is also in {path}; the one in {row.path} is shown."
    return Damage(path, says)


def _offloads(
    shelves: Iterable[_Shelf], session_id: str
) -> tuple[tuple[OffloadFile, ...], tuple[Damage, ...]]:
    files: list[OffloadFile] = []
    damage: list[Damage] = []
    for shelf in shelves:
        folder = shelf.offload_folders.get(session_id)
        if folder is not None:
            found, lost = offload_files(folder, shelf.store.shown_as(folder))
            files.extend(found)
            damage.extend(lost)
    return tuple(files), tuple(damage)


def _unknown(session_id: str) -> NotFound:
    shown = session_id if len(session_id) <= 60 else session_id[:60] + "…"
    return NotFound(f"There is no session {shown!r} in this folder.")


def _records(info: SessionInfo) -> Records:
    if info.records is None:
        return Records(None)
    try:
        return read_records(info.records)
    except SourceError as error:
        return Records(info.records, damage=(Damage(info.records, str(error)),))
