"""What lies beside the databases, followed: record files by their new lines, others by their size
and time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.catalog import index, snapshots
from app.catalog.catalog import Catalog
from app.catalog.changes import Cancelled, FileChange, Outcome, RecordsChange
from app.catalog.index import FileMark, RecordFile
from app.catalog.texts import Kind, of_file
from app.errors import SourceError
from app.sources.folder import Entries, files_in, opened
from app.sources.model import Damage
from app.sources.plans import read_plan
from app.sources.records import Place, read_more
from app.sources.stores import Store
from app.sources.tool_results import SUFFIX
from compaction.utf8 import decoded

_HEAD = 256
"""Bytes at the beginning of a file of records by which it is known again."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What following the files needs of the world."""

    catalog: Catalog
    is_cancelled: Callable[[], bool]
    outcome: Outcome

    def records(self, stores: Iterable[Store]) -> None:
        """Take in what was appended to the record files. Raises Cancelled."""
        seen: set[str] = set()
        for store in stores:
            found = store.records()
            self.outcome.damage.extend(found.damage)
            for session_id, path in found.paths.items():
                self._stop_if_asked()
                seen.add(str(path))
                try:
                    self._record_file(session_id, path)
                except SourceError as error:
                    self.outcome.damage.append(Damage(path, str(error)))
        for gone in index.record_paths(self.catalog.reader()) - seen:
            with self.catalog.writing_index() as db:
                index.forget_records(db, gone)

    def _record_file(self, session_id: str, path: Path) -> None:
        now = _mark(path)
        known = index.record_file(self.catalog.reader(), str(path))
        if now == known.mark:
            return
        head = _head(path)
        is_same = known.offset <= path.lstat().st_size and head.startswith(known.head)
        place = Place(known.offset, known.line) if is_same else Place()
        found, after = read_more(path, place)
        with self.catalog.writing_witness() as db:
            key = snapshots.session_key(db, session_id)
        with self.catalog.writing_index() as db:
            added = index.set_records(db, str(path), key, place.line, found.lines)
            index.set_damage(db, str(path), place.line, found.damage)
            file = RecordFile(now, head[: after.offset], after.offset, after.line)
            index.set_record_file(db, str(path), key, file)
        if added:
            self.outcome.changes.append(RecordsChange(session_id, added))

    def files(self, stores: Iterable[Store]) -> None:
        """Take in offloaded results and plans that came, changed or went. Raises Cancelled."""
        known = index.files_known(self.catalog.reader())
        sessions = _session_keys(self.catalog.reader())
        seen: set[str] = set()
        for path, kind, session_id in self._found(stores):
            self._stop_if_asked()
            try:
                stat = path.lstat()
            except OSError:
                continue
            seen.add(str(path))
            before = known.get(str(path))
            same = before and (before.size, before.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
            if same:
                continue
            owner = session_id if kind is Kind.OFFLOAD else _owner(path, sessions)
            key = self._key(owner) if owner else None
            mark = FileMark(kind, key, stat.st_size, stat.st_mtime_ns)
            name = path.name.removesuffix(SUFFIX)
            with self.catalog.writing_index() as db:
                index.set_file(db, str(path), name, mark, of_file(kind, stat.st_size))
            self.outcome.changes.append(FileChange(kind.value, owner, name, is_gone=False))
        self._forget(known, seen)

    def _forget(self, known: dict[str, FileMark], seen: set[str]) -> None:
        for path in known.keys() - seen:
            with self.catalog.writing_index() as db:
                index.forget_file(db, path)
            kind, name = known[path].kind.value, Path(path).name.removesuffix(SUFFIX)
            owner = Path(path).parent.name if known[path].kind is Kind.OFFLOAD else ""
            self.outcome.changes.append(FileChange(kind, owner, name, is_gone=True))

    def _found(self, stores: Iterable[Store]) -> Iterator[tuple[Path, Kind, str]]:
        for store in stores:
            folders = store.offload_folders()
            self.outcome.damage.extend(folders.damage)
            for session_id, folder in folders.paths.items():
                for name, path in self._listed(files_in(folder)):
                    if name.endswith(SUFFIX):
                        yield path, Kind.OFFLOAD, session_id
            for name, path in self._listed(store.plan_files()):
                if name.endswith(".md"):
                    yield path, Kind.PLAN, ""

    def _listed(self, found: Entries) -> Iterable[tuple[str, Path]]:
        self.outcome.damage.extend(found.damage)
        return found.paths.items()

    def _key(self, session_id: str) -> int:
        with self.catalog.writing_witness() as db:
            return snapshots.session_key(db, session_id)

    def _stop_if_asked(self) -> None:
        if self.is_cancelled():
            raise Cancelled


def _session_keys(db: sqlite3.Connection) -> list[str]:
    return [decoded(row[0]) for row in db.execute("SELECT id FROM witness.sessions")]


def _owner(path: Path, sessions: Iterable[str]) -> str:
    """The session that a plan says it is of; empty where it names none that is known."""
    try:
        plan = read_plan(path)
    except SourceError:
        return ""
    return next((one for one in sessions if plan.is_of(one)), "")


def _mark(path: Path) -> str:
    found = path.lstat()
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _head(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(_HEAD)
