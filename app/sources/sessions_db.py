"""harness9's session database: the only place that knows its SQL.

All known schemas are read, and all parts of them are optional: what is there is read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.sources.model import Damage, Plan, Row, Task
from app.sources.plans import task_state
from app.sources.rawjson import BadToolCalls, call_bytes, tool_calls
from app.sources.untouched import Access, access, look
from compaction.messages import Message, ToolCall
from compaction.tokens import BYTES_PER_TOKEN
from compaction.utf8 import decoded, encoded

NAMES = ("sessions.db", "state.db")

_TITLE_CHARACTERS = 400


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


@dataclass(frozen=True, slots=True)
class Tally:
    """What changes whenever rows of a session are added, removed or replaced."""

    rows: int
    newest: int
    """The highest id, which is never given twice."""
    updated_at: int | None


def tallies(path: Path) -> dict[str, Tally]:
    """A tally of every session in the database, out of its indexes alone.

    Raises SourceBusy, SourceUnreadable.
    """
    return look(path, _tallies)


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


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a session's rows reach; enough to tell an append from a rewrite."""

    rows: int
    first: int
    """The lowest row id; 0 when there are no rows."""
    last: int


def times_in(db: sqlite3.Connection) -> dict[str, tuple[int | None, int | None]]:
    """When each session was made and last saved, in Unix seconds; an empty session is one too."""
    return _times(db, None)


def total_in(db: sqlite3.Connection) -> int:
    """How many rows all sessions have together; counted in an index, not in the rows."""
    return (
        int(db.execute("SELECT count(*) FROM messages").fetchone()[0]) if _has_messages(db) else 0
    )


def extents_in(db: sqlite3.Connection, after: int | None = None) -> dict[str, Extent]:
    """The extents of all sessions, or of those with a row whose id is above `after`."""
    if not _has_messages(db):
        return {}
    order = _order(db)
    only = (
        ""
        if after is None
        else f"WHERE session_id IN (SELECT session_id FROM messages WHERE {order} > ?1) "
    )
    query = (
        f"SELECT session_id, count(*), min({order}), max({order}) FROM messages "
        f"{only}GROUP BY session_id"
    )
    rows = db.execute(query, () if after is None else (after,))
    return {_string(row[0]): Extent(*row[1:]) for row in rows}


def numbers_are_final(db: sqlite3.Connection) -> bool:
    """Whether a row id is never used again once its row is gone: only then do ids tell changes."""
    row = db.execute("SELECT sql FROM sqlite_master WHERE name = 'messages'").fetchone()
    return row is not None and "AUTOINCREMENT" in _string(row[0]).upper()


def rows_after(db: sqlite3.Connection, session_id: str, after: int = -(1 << 63)) -> Iterator[Row]:
    """A session's rows whose id is above `after`, one at a time, in order.

    Raises sqlite3.DatabaseError where the file is damaged.
    """
    if not _has_messages(db):
        return
    columns = _columns(db, "messages")
    order = _order(db)
    wanted = ["role", "content", *(_column(columns, c) for c in _OPTIONAL)]
    query = (
        f"SELECT {order}, {', '.join(wanted)} FROM messages "
        f"WHERE session_id = CAST(? AS TEXT) AND {order} > ? ORDER BY {order}"
    )
    for cells in db.execute(query, (_bound(session_id), after)):
        yield _row(*cells)


def _order(db: sqlite3.Connection) -> str:
    return "id" if "id" in _columns(db, "messages") else "rowid"


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


def _tallies(db: sqlite3.Connection) -> dict[str, Tally]:
    found = {one: Tally(0, 0, times[1]) for one, times in _times(db, None).items()}
    if not _has_messages(db):
        return found
    order = "id" if "id" in _columns(db, "messages") else "rowid"
    query = f"SELECT session_id, count(*), max({order}) FROM messages GROUP BY session_id"
    for session_id, rows, newest in db.execute(query):
        known = found.get(_string(session_id))
        updated = known.updated_at if known else None
        found[_string(session_id)] = Tally(int(rows), int(newest), updated)
    return found


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
