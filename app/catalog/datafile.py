"""One SQLite file of ours: made, brought up to date, and set aside when it cannot be used."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from gettext import gettext as _
from pathlib import Path

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

BUSY_SECONDS = 10.0
"""How long one program of ours waits for another, such as a recorder beside the window."""

_SUFFIXES = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that is ready to be used."""

    path: Path
    notice: str = ""
    """What was set aside, why and where; empty when nothing was."""


class NewerFile(Exception):
    """The file was made by a newer version of this program."""


def prepare(path: Path, migrations: Migrations, now: Callable[[], float]) -> Prepared:
    """Make or update the file at `path`; one that cannot be used is renamed and made anew.

    Raises OSError when the folder cannot be written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        _update(path, migrations)
    except NewerFile:
        aside = set_aside(path, "newer", now)
        says = _("{name} was made by a newer version of Anchorline; it was kept as {aside}.")
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise
        aside = set_aside(path, "damaged", now)
        says = _("{name} is damaged; it was kept as {aside}, and a new one was begun.")
    else:
        return Prepared(path)
    _update(path, migrations)
    return Prepared(path, says.format(name=path.name, aside=aside))


def set_aside(path: Path, why: str, now: Callable[[], float]) -> Path:
    """Rename the file, with what lies beside it; returns its new place."""
    stamp = datetime.fromtimestamp(now(), UTC).strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.{why}-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.{why}-{stamp}-{number}")
    for suffix in _SUFFIXES:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).replace(aside.with_name(aside.name + suffix))
    return aside


def remove(path: Path) -> None:
    """Delete the file, with what lies beside it."""
    for suffix in _SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time; transactions are begun by hand."""
    uri = path.absolute().as_uri() + ("?mode=ro" if read_only else "")
    db = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    # What is lost with the power is what was just indexed, and that is found again.
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA temp_store = MEMORY")
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All or nothing; the write lock is taken at once, so that nothing read in it can be stale."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _update(path: Path, migrations: Migrations) -> None:
    if not path.exists():
        # For the person alone from the first byte on: it will hold what they said.
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    with closing(connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        tables = Database(db)
        known = _own_names(migrations)
        if any(applied.name not in known for applied in migrations.applied(tables)):
            raise NewerFile
        migrations.apply(tables)
        # A page of every table: a file that is torn in the middle shows it here, or later.
        stored = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        for (table,) in db.execute(stored).fetchall():
            db.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone()


def _own_names(migrations: Migrations) -> set[str]:
    fresh = Database(memory=True)
    names = {migration.name for migration in migrations.pending(fresh)}
    fresh.close()
    return names
