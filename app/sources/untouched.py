"""How to read another program's SQLite file without leaving a trace in its folder.

Even a read-only connection creates or touches `-wal` and `-shm`, and a read-write one checkpoints
them away. `reading` does neither, except as a last resort that `access` tells of.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from app.errors import SourceBusy, SourceUnreadable
from app.sources.folder import opened
from compaction.utf8 import decoded

LARGEST_COPY = 1024 * 1024 * 1024
"""Bytes. A database that is being written to is read from a private copy up to this size."""

_ATTEMPTS = 8
_Found = TypeVar("_Found")


class Access(StrEnum):
    """How a database was opened."""

    AT_REST = "at rest"
    """Nobody was writing; nothing was touched."""
    COPY = "copy"
    """A writer had unsaved work beside it; a private copy was read and nothing was touched."""
    SHARED = "shared"
    """Too large to copy: read in place, which touches its `-shm`."""


@contextmanager
def reading(path: Path, largest_copy: int = LARGEST_COPY) -> Iterator[sqlite3.Connection]:
    """A short look at the database at `path`; its folder stays as it is (but see SHARED).

    Raises SourceBusy when a writer changed it during the look, so that what was read may be torn:
    look again. Raises SourceUnreadable when it is damaged or not a database.
    """
    try:
        with _opened(path, access(path, largest_copy)) as db:
            # Python functions and odd schemas in the file get no rights; text keeps every byte.
            db.execute("PRAGMA trusted_schema = OFF")
            db.text_factory = decoded
            yield db
    except sqlite3.Error as error:
        raise _explained(path, error) from error
    except OSError as error:
        says = f"{path} cannot be read: {error.strerror or error}."
        raise SourceUnreadable(says) from error


def access(path: Path, largest_copy: int = LARGEST_COPY) -> Access:
    """How `reading` would open the database now.

    Raises SourceUnreadable when there is no regular file at `path`.
    """
    parts = _parts(path)
    if parts[0] is None:
        raise SourceUnreadable(f"{path} is not a regular file; it was not opened.")
    if not any(part and part.size for part in parts[1:]):
        return Access.AT_REST
    needed = sum(part.size for part in parts if part)
    room = shutil.disk_usage(tempfile.gettempdir()).free
    return Access.COPY if needed <= min(largest_copy, room // 2) else Access.SHARED


@dataclass(frozen=True, slots=True)
class Look:
    """A database that is being looked at, and whether what was read so far can be believed."""

    db: sqlite3.Connection
    _path: Path
    _before: _Parts | None
    """None where a private copy is read, which nobody can disturb."""

    def is_sound(self) -> bool:
        """Whether no writer came in between since the look began."""
        return self._before is None or _parts(self._path) == self._before


@contextmanager
def looking(path: Path) -> Iterator[Look]:
    """A look that may take long: what was read up to a sound moment can be used at once.

    Raises what `reading` raises, at the latest when the look ends.
    """
    before = _parts(path) if access(path) is Access.AT_REST else None
    with reading(path) as db:
        yield Look(db, path, before)


def mark(path: Path) -> str:
    """What the database looks like from outside: equal marks, nothing was written in between.

    Empty where there is no such file, or where it was written so shortly ago that a further
    change might look the same.
    """
    parts = _parts(path)
    if parts[0] is None:
        return ""
    newest = max(part.modified for part in parts if part)
    return "" if time.time_ns() - newest < _RACY else repr(parts)


_RACY = 100_000_000
"""Nanoseconds; file systems tell times apart by a few milliseconds, some by less."""


def look(path: Path, work: Callable[[sqlite3.Connection], _Found]) -> _Found:
    """What `work` makes of the database, tried again while a writer keeps changing it.

    Raises SourceBusy, SourceUnreadable.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            with reading(path) as db:
                return work(db)
        except SourceBusy:
            continue
    with reading(path) as db:
        return work(db)


def _opened(path: Path, how: Access) -> AbstractContextManager[sqlite3.Connection]:
    if how is Access.AT_REST:
        return _at_rest(path)
    if how is Access.COPY:
        return _private_copy(path)
    return closing(sqlite3.connect(_uri(path, "mode=ro"), uri=True, timeout=2))


def _uri(path: Path, options: str) -> str:
    # as_uri() quotes `#`, `?` and `%`, at which a URI made by hand would break.
    return f"{path.resolve().as_uri()}?{options}"


@contextmanager
def _at_rest(path: Path) -> Iterator[sqlite3.Connection]:
    before = _parts(path)
    # Without immutable, even mode=ro would leave -wal and -shm in the folder.
    uri = _uri(path, "mode=ro&immutable=1")
    failure: sqlite3.Error | None = None
    try:
        with closing(sqlite3.connect(uri, uri=True)) as db:
            yield db
    except sqlite3.Error as error:
        failure = error
    # A writer that came meanwhile may have made us read half of its work.
    if _parts(path) != before:
        raise SourceBusy(f"{path} was written to while it was read; try again.") from failure
    if failure is not None:
        raise failure


@contextmanager
def _private_copy(path: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="anchorline-") as folder:
        copy = Path(folder) / "copy.db"
        before = _parts(path)
        # The database first: a checkpoint under way can only spoil pages that are still in the
        # -wal, which is copied later and wins.
        for suffix in _SUFFIXES:
            _copy_file(_beside(path, suffix), _beside(copy, suffix))
        if not _undisturbed(before, _parts(path)):
            raise SourceBusy(f"{path} was written to while it was copied; try again.")
        with closing(sqlite3.connect(copy)) as db:
            yield db


def _undisturbed(before: _Parts, after: _Parts) -> bool:
    # A -wal that only grew is fine: what was copied is a beginning of it, and every commit in it
    # is checksummed. One that started afresh, or a checkpoint into the database, is not.
    (database, wal, journal), (database_now, wal_now, journal_now) = before, after
    if (database, journal) != (database_now, journal_now):
        return False
    if wal is None or wal_now is None:
        return wal is wal_now
    return (wal.inode, wal.head) == (wal_now.inode, wal_now.head) and wal.size <= wal_now.size


_SUFFIXES = ("", "-wal", "-journal")


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _copy_file(source: Path, target: Path) -> None:
    if not os.path.lexists(source):
        return
    with opened(source) as original, target.open("xb") as copy:
        shutil.copyfileobj(original, copy, 1024 * 1024)


@dataclass(frozen=True, slots=True)
class _Part:
    """What changes when a file of the database is written to."""

    inode: int
    size: int
    modified: int
    head: bytes
    """The header of a -wal: its salts change whenever it is started afresh."""


_Parts = tuple[_Part | None, _Part | None, _Part | None]


def _parts(path: Path) -> _Parts:
    wal = _part(_beside(path, "-wal"), with_head=True)
    return _part(path), wal, _part(_beside(path, "-journal"))


def _part(path: Path, with_head: bool = False) -> _Part | None:
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    head = b""
    if with_head and found.st_size:
        with opened(path) as file:
            head = file.read(32)
    return _Part(found.st_ino, found.st_size, found.st_mtime_ns, head)


def _explained(path: Path, error: sqlite3.Error) -> SourceBusy | SourceUnreadable:
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return SourceBusy(f"{path} is held by a writer; try again.")
    return SourceUnreadable(f"{path} cannot be read as a session database: {error}.")
