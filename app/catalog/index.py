"""What the index holds, as reads and writes on one connection: the only place for its SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.catalog.records import kept_record, second_of
from app.catalog.texts import Entry, Kind, of_record
from app.sources.model import Damage, RecordLine
from compaction.utf8 import decoded, encoded

_ENTRY = (
    "INSERT OR IGNORE INTO texts (kind, ref, part, role, tool, call, size) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Known:
    """A session as the index has it."""

    key: int
    title: str
    updated_at: int | None
    messages: int
    bytes: int
    first_row: int
    last_row: int
    state: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A message's place: its content's number, and its row in the inspected database."""

    content: int
    row: int
    created_at: int


def bindable(text: str) -> str:
    """`text` without what SQLite does not take; for names that are shown and filtered by."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def database(db: sqlite3.Connection, path: str) -> tuple[str, int]:
    """The mark under which a database was read last, and the highest row id then."""
    query = "SELECT mark, top FROM databases WHERE path = ?"
    row = db.execute(query, (encoded(path),)).fetchone()
    return ("", 0) if row is None else (row[0], row[1])


def set_database(db: sqlite3.Connection, path: str, mark: str, top: int) -> None:
    query = "INSERT OR REPLACE INTO databases (path, mark, top) VALUES (?, ?, ?)"
    db.execute(query, (encoded(path), mark, top))


def databases(db: sqlite3.Connection) -> frozenset[str]:
    """The databases that were read at least once."""
    return frozenset(decoded(row[0]) for row in db.execute("SELECT path FROM databases"))


def forget_database(db: sqlite3.Connection, path: str) -> None:
    """A database that is gone, with its sessions; what was seen of them is kept elsewhere."""
    raw = encoded(path)
    theirs = "SELECT key FROM sessions WHERE database = ?"
    db.execute(f"DELETE FROM messages WHERE session IN ({theirs})", (raw,))
    db.execute("DELETE FROM sessions WHERE database = ?", (raw,))
    db.execute("DELETE FROM databases WHERE path = ?", (raw,))
    # A session that was hidden by one of the same name has to be looked at now.
    db.execute("UPDATE databases SET mark = '', top = 0")


def forget_session(db: sqlite3.Connection, key: int) -> None:
    """A session that its database knows no longer."""
    db.execute("DELETE FROM messages WHERE session = ?", (key,))
    db.execute("DELETE FROM sessions WHERE key = ?", (key,))


def sessions_of(db: sqlite3.Connection, path: str) -> dict[str, Known]:
    """The sessions whose rows are in the database at `path`."""
    query = (
        "SELECT id, key, title, updated_at, messages, bytes, first_row, last_row, state "
        "FROM sessions WHERE database = ?"
    )
    rows = db.execute(query, (encoded(path),))
    return {decoded(name): Known(*cells) for name, *cells in rows}


def sessions_elsewhere(db: sqlite3.Connection, path: str) -> frozenset[str]:
    """The sessions that another database has; the first one to have a session keeps it."""
    rows = db.execute("SELECT id FROM sessions WHERE database != ?", (encoded(path),))
    return frozenset(decoded(row[0]) for row in rows)


def set_session(
    db: sqlite3.Connection,
    session_id: str,
    path: str,
    known: Known,
    created_at: int | None,
) -> None:
    query = (
        "INSERT OR REPLACE INTO sessions (key, id, database, title, created_at, updated_at, "
        "messages, bytes, first_row, last_row, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    cells = (known.key, encoded(session_id), encoded(path), bindable(known.title), created_at)
    more = (known.updated_at, known.messages, known.bytes, known.first_row, known.last_row)
    db.execute(query, (*cells, *more, known.state))


def set_messages(db: sqlite3.Connection, key: int, start: int, placed: Sequence[Placed]) -> None:
    """Put `placed` from position `start` on, in place of whatever stood there and behind."""
    db.execute("DELETE FROM messages WHERE session = ? AND position >= ?", (key, start))
    db.executemany(
        "INSERT INTO messages (session, position, content, row, created_at) VALUES (?, ?, ?, ?, ?)",
        ((key, at, one.content, one.row, one.created_at) for at, one in enumerate(placed, start)),
    )


def add_entries(db: sqlite3.Connection, ref: int, entries: Iterable[Entry]) -> None:
    """List the texts of a message, record or file; those that are listed already stay."""
    for one in entries:
        tool, call = bindable(one.tool), bindable(one.call)
        if one.kind is Kind.MESSAGE and call:
            tool = _tool_of(db, call)
        db.execute(_ENTRY, (one.kind.value, ref, one.part, one.role.value, tool, call, one.size))


def _tool_of(db: sqlite3.Connection, call: str) -> str:
    query = "SELECT tool FROM texts WHERE call = ? AND kind = 'call' ORDER BY id DESC LIMIT 1"
    row = db.execute(query, (call,)).fetchone()
    return "" if row is None else str(row[0])


@dataclass(frozen=True, slots=True)
class RecordFile:
    """How far a file of records was read."""

    mark: str = ""
    head: bytes = b""
    """The file's first bytes: a file that was replaced begins otherwise."""
    offset: int = 0
    line: int = 1


def record_file(db: sqlite3.Connection, path: str) -> RecordFile:
    query = "SELECT mark, head, offset, line FROM record_files WHERE path = ?"
    row = db.execute(query, (encoded(path),)).fetchone()
    return RecordFile() if row is None else RecordFile(*row)


def set_record_file(db: sqlite3.Connection, path: str, session: int, file: RecordFile) -> None:
    query = (
        "INSERT OR REPLACE INTO record_files (path, session, mark, head, offset, line) "
        "VALUES (?, ?, ?, ?, ?, ?)"
    )
    cells = (encoded(path), session, file.mark, file.head, file.offset, file.line)
    db.execute(query, cells)


def set_records(
    db: sqlite3.Connection, path: str, session: int, start: int, lines: Sequence[RecordLine]
) -> int:
    """Put `lines` in place of the records from line `start` on; returns how many are new."""
    raw = encoded(path)
    query = "SELECT count(*) FROM records WHERE path = ? AND line >= ?"
    before = db.execute(query, (raw, start)).fetchone()[0]
    _drop_texts(db, "SELECT id FROM records WHERE path = ? AND line >= ?", raw, start)
    db.execute("DELETE FROM records WHERE path = ? AND line >= ?", (raw, start))
    query = (
        "INSERT INTO records (session, path, line, name, tier, date, error, body) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
    )
    for one in lines:
        record = one.record
        cells = (session, raw, one.line, bindable(record.id), record.tier, second_of(record))
        row = db.execute(query, (*cells, bool(record.error), kept_record(record))).fetchone()
        add_entries(db, row[0], of_record(record))
    return len(lines) - int(before)


def _drop_texts(db: sqlite3.Connection, owners: str, *values: object) -> None:
    # The search index keeps pointing at them, to nowhere: ids are never used again.
    kinds = "'summary', 'anchor', 'error'"
    db.execute(f"DELETE FROM texts WHERE kind IN ({kinds}) AND ref IN ({owners})", values)


def forget_records(db: sqlite3.Connection, path: str) -> None:
    """A file of records that is gone."""
    set_records(db, path, 0, 0, ())
    db.execute("DELETE FROM record_files WHERE path = ?", (encoded(path),))
    set_damage(db, path, 0, ())


def record_paths(db: sqlite3.Connection) -> frozenset[str]:
    return frozenset(decoded(row[0]) for row in db.execute("SELECT path FROM record_files"))


def set_damage(db: sqlite3.Connection, path: str, start: int, damage: Iterable[Damage]) -> None:
    """Put `damage` in place of what is known of the file from line `start` on; 0 means all."""
    raw = encoded(path)
    query = "DELETE FROM damage WHERE path = ? AND (? = 0 OR line >= ?)"
    db.execute(query, (raw, start, start))
    query = "INSERT INTO damage (path, line, says) VALUES (?, ?, ?)"
    db.executemany(query, ((raw, one.line, bindable(one.says)) for one in damage))


@dataclass(frozen=True, slots=True)
class FileMark:
    """A file beside the database, as it was when it was last looked at."""

    kind: Kind
    session: int | None
    size: int
    mtime_ns: int


def files_known(db: sqlite3.Connection) -> dict[str, FileMark]:
    """All offloaded results and plans, by path."""
    rows = db.execute("SELECT path, kind, session, size, mtime_ns FROM files")
    return {decoded(path): FileMark(Kind(kind), *rest) for path, kind, *rest in rows}


def set_file(
    db: sqlite3.Connection, path: str, name: str, file: FileMark, entries: Iterable[Entry]
) -> None:
    """A file that is new or changed; its texts are indexed anew."""
    forget_file(db, path)
    query = (
        "INSERT INTO files (kind, session, path, name, size, mtime_ns) "
        "VALUES (?, ?, ?, ?, ?, ?) RETURNING id"
    )
    cells = (file.kind.value, file.session, encoded(path), encoded(name), file.size, file.mtime_ns)
    row = db.execute(query, cells).fetchone()
    add_entries(db, row[0], entries)


def forget_file(db: sqlite3.Connection, path: str) -> None:
    raw = encoded(path)
    owners = "SELECT id FROM files WHERE path = ?"
    query = f"DELETE FROM texts WHERE kind IN ('offload', 'plan') AND ref IN ({owners})"
    db.execute(query, (raw,))
    db.execute("DELETE FROM files WHERE path = ?", (raw,))


def set_indexed(db: sqlite3.Connection, last: int) -> None:
    """Every text up to `last` can be found from now on."""
    db.execute("INSERT OR REPLACE INTO meta VALUES ('indexed', ?)", (str(last),))
