"""harness9's session database: the only place that knows its SQL, and how to read it unseen.

Opening another program's SQLite file carelessly changes its folder: even a read-only connection
creates or touches `-wal` and `-shm`, and a read-write one checkpoints them away. `reading` does
neither, except as a last resort that it reports.

All known schemas are read, and all parts of them are optional: what is there is read.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from app.errors import SourceBusy, SourceUnreadable
from app.sources.folder import opened
from app.sources.model import Damage, Plan, Row, Task
from app.sources.plans import task_state
from app.sources.rawjson import BadToolCalls, call_bytes, tool_calls
from compaction.messages import Message, ToolCall
from compaction.tokens import BYTES_PER_TOKEN
from compaction.utf8 import decoded, encoded

NAMES = ("sessions.db", "state.db")

LARGEST_COPY = 1024 * 1024 * 1024
"""Bytes. A database that is being written to is read from a private copy up to this size."""

_ATTEMPTS = 8
_TITLE_CHARACTERS = 400
_Found = TypeVar("_Found")


class Access(StrEnum):
    """How a database was opened."""

    AT_REST = "at rest"
    """Nobody was writing; nothing was touched."""
    COPY = "copy"
    """A writer had unsaved work beside it; a private copy was read and nothing was touched."""
    SHARED = "shared"
    """Too large to copy: read in place, which touches its `-shm`."""


@dataclass(frozen=True, slots=True)
class Overview:
    """One session as the database sums it up, without its messages."""

    id: str
    title: str
    """The first human line, or empty."""
    created_at: int | None
    updated_at: int | None
    messages: int
    tokens: int
    """Estimated over the stored rows."""
    names_place: bool = False
    """Whether its messages name one of the places asked about."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything a database holds about one session."""

    overview: Overview
    rows: tuple[Row, ...]
    plans: tuple[Plan, ...]
    damage: tuple[Damage, ...]


# --- opening -------------------------------------------------------------------------------------


@contextmanager
def reading(path: Path, largest_copy: int = LARGEST_COPY) -> Iterator[sqlite3.Connection]:
    """A short look at the database at `path`; nothing in its folder changes (but see `access`).

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


def _opened(path: Path, how: Access) -> Any:
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


# --- asking --------------------------------------------------------------------------------------


def ids(path: Path) -> frozenset[str]:
    """The ids of all sessions in the database.

    Raises SourceBusy, SourceUnreadable.
    """
    return look(path, _ids)


def overviews(path: Path, places: Sequence[str] = ()) -> tuple[Overview, ...]:
    """All sessions in the database, newest first; message bodies stay in SQLite.

    `places` are absolute paths: it is noted which sessions name one of them.

    Raises SourceBusy, SourceUnreadable.
    """
    return look(path, lambda db: _overviews(db, places))


def stored(path: Path, session_id: str, places: Sequence[str] = ()) -> Stored | None:
    """Everything about one session, or None when the database does not know it.

    Raises SourceBusy, SourceUnreadable.
    """
    found = look(path, lambda db: _stored(db, path, session_id, places))
    if found is None or access(path) is not Access.SHARED:
        return found
    says = (
        f"{path} is too large to copy while it is written to: it was read in place, "
        "which touches its -shm file."
    )
    return replace(found, damage=(*found.damage, Damage(path, says)))


def _columns(db: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of a real table; none when there is no such table."""
    kind = db.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if kind is None or kind[0] != "table":
        return frozenset()
    return frozenset(row[1] for row in db.execute(f'PRAGMA table_info("{table}")'))


def _column(columns: frozenset[str], name: str) -> str:
    return name if name in columns else "NULL"


def _has_messages(db: sqlite3.Connection) -> bool:
    return {"session_id", "role", "content"} <= _columns(db, "messages")


def _ids(db: sqlite3.Connection) -> frozenset[str]:
    found: set[str] = set()
    if "id" in _columns(db, "sessions"):
        found.update(_string(row[0]) for row in db.execute("SELECT id FROM sessions"))
    if _has_messages(db):
        rows = db.execute("SELECT DISTINCT session_id FROM messages")
        found.update(_string(row[0]) for row in rows)
    return frozenset(found)


def _overviews(
    db: sqlite3.Connection, places: Sequence[str], only: str | None = None
) -> tuple[Overview, ...]:
    times = _times(db, only)
    titles = _titles(db, only)
    sizes = _sizes(db, only)
    naming = _naming(db, places, only)
    found = [
        Overview(
            session_id,
            titles.get(session_id, ""),
            *times.get(session_id, (None, None)),
            *sizes.get(session_id, (0, 0)),
            session_id in naming,
        )
        for session_id in times.keys() | sizes.keys()
    ]
    return tuple(sorted(found, key=lambda one: (-(one.updated_at or 0), one.id)))


def _times(db: sqlite3.Connection, only: str | None) -> dict[str, tuple[int | None, int | None]]:
    columns = _columns(db, "sessions")
    if "id" not in columns:
        return {}
    query = (
        f"SELECT id, {_column(columns, 'created_at')}, {_column(columns, 'updated_at')} "
        "FROM sessions WHERE ?1 IS NULL OR id = CAST(?1 AS TEXT)"
    )
    rows = db.execute(query, (_bound(only),))
    return {_string(row[0]): (_second(row[1]), _second(row[2])) for row in rows}


def _sizes(db: sqlite3.Connection, only: str | None) -> dict[str, tuple[int, int]]:
    """Messages and estimated tokens of each session."""
    if not _has_messages(db):
        return {}
    columns = _columns(db, "messages")
    calls, result = _column(columns, "tool_calls"), _column(columns, "tool_call_id")
    # length() counts characters; as a BLOB it counts the bytes that the estimate is made of.
    db.create_function("call_bytes", 1, lambda raw: call_bytes(decoded(raw)), deterministic=True)
    query = (
        "SELECT session_id, count(*), sum(coalesce(length(CAST(content AS BLOB)), 0) "
        f"+ coalesce(length(CAST({result} AS BLOB)), 0) + CASE WHEN {calls} IS NULL THEN 0 "
        f"ELSE call_bytes(CAST({calls} AS BLOB)) END) "
        "FROM messages WHERE ?1 IS NULL OR session_id = CAST(?1 AS TEXT) GROUP BY session_id"
    )
    rows = db.execute(query, (_bound(only),))
    return {_string(row[0]): (int(row[1]), int(row[2]) // BYTES_PER_TOKEN) for row in rows}


def _titles(db: sqlite3.Connection, only: str | None) -> dict[str, str]:
    if not _has_messages(db):
        return {}
    columns = _columns(db, "messages")
    order = "id" if "id" in columns else "rowid"
    result = _column(columns, "tool_call_id")
    query = (
        f"SELECT session_id, substr(content, 1, {_TITLE_CHARACTERS}), min({order}) FROM messages "
        "WHERE (?1 IS NULL OR session_id = CAST(?1 AS TEXT)) "
        f"AND role = 'user' AND coalesce({result}, '') = '' "
        "AND substr(content, 1, 20) != '[Context Compaction]' "
        "AND substr(content, 1, 22) != '[Conversation Summary]' GROUP BY session_id"
    )
    rows = db.execute(query, (_bound(only),))
    return {_string(row[0]): _first_line(_string(row[1])) for row in rows}


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _naming(db: sqlite3.Connection, places: Sequence[str], only: str | None) -> frozenset[str]:
    """The ids of sessions in whose messages one of `places` is named."""
    if not places or not _has_messages(db):
        return frozenset()
    calls = _column(_columns(db, "messages"), "tool_calls")
    spellings = sorted({form for place in places for form in (place, json.dumps(place)[1:-1])})
    needles = [form.encode("utf-8", "surrogatepass") for form in spellings]
    db.create_function(
        "names", 1, lambda raw: any(_names(raw, needle) for needle in needles), deterministic=True
    )
    texts = f"coalesce(content, '') || ' ' || coalesce({calls}, '')"
    # instr() sifts in C; only what may name a place is looked at more closely.
    sieve = " OR ".join(f"instr({texts}, ?{n}) > 0" for n in range(2, 2 + len(spellings)))
    query = (
        "SELECT DISTINCT session_id FROM messages "
        "WHERE (?1 IS NULL OR session_id = CAST(?1 AS TEXT)) "
        f"AND ({sieve}) AND names(CAST({texts} AS BLOB))"
    )
    rows = db.execute(query, (_bound(only), *spellings))
    return frozenset(_string(row[0]) for row in rows)


def _names(raw: bytes, needle: bytes) -> bool:
    """Whether `needle` stands in `raw` as a whole: `/a/b` is not named by `/a/b2` or `/x/a/b`."""
    at = raw.find(needle)
    while at >= 0:
        end = at + len(needle)
        before, after = raw[at - 1 : at] if at else b"", raw[end : end + 2]
        if not _continues(before) and not _continues(after[:1]) and not _suffix(after):
            return True
        at = raw.find(needle, at + 1)
    return False


def _continues(byte: bytes) -> bool:
    return byte.isalnum() or byte in (b"_", b"-", b"~") or byte >= b"\x80"


def _suffix(two: bytes) -> bool:
    return two[:1] == b"." and _continues(two[1:])


def _stored(
    db: sqlite3.Connection, path: Path, session_id: str, places: Sequence[str]
) -> Stored | None:
    found = _overviews(db, places, session_id)
    if not found or found[0].id != session_id:
        return None
    rows, torn = _rows(db, path, session_id)
    plans, unread = _plans(db, path, session_id)
    return Stored(found[0], rows, plans, (*torn, *unread))


def _rows(
    db: sqlite3.Connection, path: Path, session_id: str
) -> tuple[tuple[Row, ...], tuple[Damage, ...]]:
    if not _has_messages(db):
        return (), ()
    columns = _columns(db, "messages")
    order = "id" if "id" in columns else "rowid"
    wanted = ["role", "content", *(_column(columns, c) for c in _OPTIONAL)]
    # A batch shares one created_at: only the id tells the order.
    query = (
        f"SELECT {order}, {', '.join(wanted)} FROM messages "
        f"WHERE session_id = CAST(? AS TEXT) ORDER BY {order}"
    )
    rows: list[Row] = []
    try:
        for cells in db.execute(query, (_bound(session_id),)):
            rows.append(_row(*cells))
    except sqlite3.DatabaseError as error:
        says = f"{path} is damaged after {len(rows)} messages of this session: {error}."
        return tuple(rows), (Damage(path, says),)
    return tuple(rows), tuple(
        Damage(path, f"Message {row.id} in {path.name}: {row.damage}.")
        for row in rows
        if row.damage
    )


_OPTIONAL = ("tool_calls", "tool_call_id", "created_at")


def _row(row_id: Any, role: Any, content: Any, calls: Any, result: Any, created_at: Any) -> Row:
    read, damage = _calls(_string(calls))
    message = Message(_string(role), _string(content), read, _string(result))
    return Row(int(row_id), message, _second(created_at) or 0, damage)


def _calls(cell: str) -> tuple[tuple[ToolCall, ...], str]:
    try:
        return tool_calls(cell), ""
    except BadToolCalls as error:
        return (), f"its tool calls cannot be read ({error})"


def _plans(
    db: sqlite3.Connection, path: Path, session_id: str
) -> tuple[tuple[Plan, ...], tuple[Damage, ...]]:
    plans: list[Plan] = []
    damage: list[Damage] = []
    todos = _columns(db, "session_todos")
    if {"session_id", "content"} <= todos:
        order = "position" if "position" in todos else "rowid"
        query = (
            f"SELECT content, {_column(todos, 'status')} FROM session_todos "
            f"WHERE session_id = CAST(? AS TEXT) ORDER BY {order}"
        )
        tasks = tuple(
            Task(_string(text), task_state(_string(state)))
            for text, state in db.execute(query, (_bound(session_id),))
        )
        if tasks:
            plans.append(Plan("session_todos", tasks))
    columns = _columns(db, "session_plans")
    if {"session_id", "items"} <= columns:
        query = (
            f"SELECT items, {_column(columns, 'updated_at')} FROM session_plans "
            "WHERE session_id = CAST(? AS TEXT)"
        )
        for items, updated in db.execute(query, (_bound(session_id),)):
            try:
                plans.append(Plan("session_plans", _tasks(_string(items)), _string(updated)))
            except ValueError as error:
                says = f"The plan of this session in {path.name} cannot be read: {error}."
                damage.append(Damage(path, says))
    return tuple(plans), tuple(damage)


def _tasks(items: str) -> tuple[Task, ...]:
    try:
        found = json.loads(items or "[]")
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ValueError("it is not a list of tasks")
    return tuple(
        Task(str(item.get("content", "")), task_state(str(item.get("status", ""))))
        for item in found
    )


def _bound(session_id: str | None) -> bytes | None:
    # As bytes, so that an id that is not UTF-8 can be asked for like any other.
    return None if session_id is None else encoded(session_id)


def _string(value: Any) -> str:
    if value is None:
        return ""
    return decoded(value) if isinstance(value, bytes) else str(value)


def _second(value: Any) -> int | None:
    return value if isinstance(value, int) else None
