"""The two files of a workspace's catalog, opened together: one writer at a time, many readers."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.catalog import texts
from app.catalog.datafile import connect, prepare, remove, transaction
from app.catalog.records import record_of
from app.catalog.schema import INDEX, WITNESS
from app.catalog.snapshots import State, ids_in, messages_in, states_of
from compaction.messages import Message
from compaction.utf8 import encoded

_SEARCHABLE = """
CREATE TEMP VIEW searchable AS
SELECT t.id, t.kind, s.id AS session, m.position, NULL AS line, NULL AS path, t.part, t.role,
    t.tool, NULL AS tier, m.created_at AS date, t.size, message_text(c.body, t.part) AS text
FROM main.texts t JOIN main.messages m ON m.content = t.ref
    JOIN main.sessions s ON s.key = m.session JOIN witness.contents c ON c.id = t.ref
WHERE t.kind IN ('message', 'call')
UNION ALL
SELECT t.id, t.kind, s.id, NULL, r.line, r.path, t.part, t.role,
    t.tool, r.tier, r.date, t.size, record_text(r.body, t.kind, t.part)
FROM main.texts t JOIN main.records r ON r.id = t.ref
    JOIN witness.sessions s ON s.key = r.session
WHERE t.kind IN ('summary', 'anchor', 'error')
UNION ALL
SELECT t.id, t.kind, s.id, NULL, NULL, f.path, t.part, t.role,
    t.tool, NULL, f.mtime_ns / 1000000000, t.size, file_text(f.path, t.part)
FROM main.texts t JOIN main.files f ON f.id = t.ref
    LEFT JOIN witness.sessions s ON s.key = f.session
WHERE t.kind IN ('offload', 'plan')
"""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a workspace's catalog lies."""

    index: Path
    """Can be made again; in the user's cache."""
    witness: Path
    """Cannot be made again; in the user's data."""


def places_of(folder: Path, home: Path) -> Places:
    """Where the catalog of a project and its home lies, or would lie; nothing is made."""
    folder, home = folder.resolve(), home.resolve()
    both = f"{folder}\0{home}"
    # The name is for people who look into the folder; the number is what tells two of them apart.
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name)[:40].strip("-.") or "project"
    number = hashlib.blake2b(encoded(both), digest_size=8).hexdigest()
    place = f"{name}-{number}"
    return Places(
        paths.cache_dir() / place / "catalog.db",
        paths.data_dir() / place / "witness.db",
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the texts can be found by a search yet."""

    indexed: int
    total: int

    @property
    def is_whole(self) -> bool:
        return self.indexed >= self.total


class Catalog:
    """What is known of a workspace without reading it, and what only we saw of it.

    Safe to use from several threads, and beside another process with the same files.
    """

    def __init__(self, places: Places, notices: tuple[str, ...]) -> None:
        self.places = places
        self.notices = notices
        """What was set aside when it was opened; sentences to be shown."""
        self._lock = threading.RLock()
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._is_closed = False
        self._index = self._kept(connect(places.index))
        self._witness = self._kept(connect(places.witness))

    @classmethod
    def open(cls, places: Places, now: Callable[[], float] = time.time) -> Catalog:
        """The catalog at `places`, made or brought up to date; what cannot be used is set aside.

        Raises OSError when there is no writing there, sqlite3.OperationalError when another
        program holds it for too long.
        """
        witness = prepare(places.witness, WITNESS, now)
        index = prepare(places.index, INDEX, now)
        if not _belong_together(places):
            # The index counts contents as another witness did: it is worth nothing now.
            remove(places.index)
            prepare(places.index, INDEX, now)
            _belong_together(places)
        return cls(places, tuple(one.notice for one in (witness, index) if one.notice))

    @contextmanager
    def writing_index(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the index."""
        with self._lock, transaction(self._index) as db:
            yield db

    @contextmanager
    def writing_witness(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the witness."""
        with self._lock, transaction(self._witness) as db:
            yield db

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Whether it is ours to look at the folder now: one program at a time, or an older look
        might be noted after a newer one. Never waits.
        """
        path = self.places.index.with_name(self.places.index.name + ".turn")
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as db:
            try:
                db.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                yield False
                return
            yield True

    def reader(self) -> sqlite3.Connection:
        """This thread's connection, for reading only: the index, with `witness` attached.

        `searchable` and `search` are described in the package.
        """
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = self._kept(_reader(self.places))
            self._local.db = db
        return db

    def coverage(self) -> Coverage:
        """How far the search index has come."""
        db = self.reader()
        total = db.execute("SELECT coalesce(max(id), 0) FROM texts").fetchone()[0]
        return Coverage(min(indexed_in(db), total), total)

    def states(self, session_id: str) -> tuple[State, ...]:
        """Every state of a session that we saw and still keep, oldest first."""
        with closing(connect(self.places.witness, read_only=True)) as db:
            return states_of(db, session_id)

    def messages(self, state: State) -> Iterator[Message]:
        """What a state held, in order.

        Raises LookupError when it is kept no longer.
        """
        with closing(connect(self.places.witness, read_only=True)) as db:
            yield from messages_in(db, ids_in(db, state.id))

    def close(self) -> None:
        """Let go of both files; may be called twice."""
        with self._lock:
            self._is_closed = True
            for db in self._opened:
                db.close()
            self._opened.clear()

    def _kept(self, db: sqlite3.Connection) -> sqlite3.Connection:
        with self._lock:
            if self._is_closed:
                db.close()
                raise ValueError("the catalog is closed")
            self._opened.append(db)
        return db


def indexed_in(db: sqlite3.Connection) -> int:
    """The last text that can be found by a search."""
    row = db.execute("SELECT value FROM meta WHERE name = 'indexed'").fetchone()
    return 0 if row is None else int(row[0])


def _reader(places: Places) -> sqlite3.Connection:
    db = connect(places.index, read_only=True)
    witness = places.witness.absolute().as_uri() + "?mode=ro"
    db.execute("ATTACH ? AS witness", (witness,))
    db.create_function("message_text", 2, _message_text, deterministic=True)
    db.create_function("record_text", 3, _record_text, deterministic=True)
    db.create_function("file_text", 2, _file_text)
    db.execute(_SEARCHABLE)
    return db


def _message_text(body: bytes, part: int) -> str:
    return _bindable(texts.message_text(body, part))


def _record_text(body: bytes, kind: str, part: int) -> str:
    return _bindable(texts.record_text(record_of(body), texts.Kind(kind), part))


def _file_text(path: bytes, page: int) -> str:
    return _bindable(texts.file_text(path, page))


def _bindable(text: str) -> str:
    # SQLite takes no lone surrogates, which is what bytes that were not UTF-8 are here.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _belong_together(places: Places) -> bool:
    """Whether the index was made beside this witness; one that knows none yet is told."""
    with closing(connect(places.witness)) as witness, closing(connect(places.index)) as index:
        with transaction(witness):
            new = "INSERT OR IGNORE INTO meta VALUES ('name', ?)"
            witness.execute(new, (str(uuid.uuid4()),))
        query = "SELECT value FROM meta WHERE name = ?"
        name = witness.execute(query, ("name",)).fetchone()[0]
        with transaction(index):
            index.execute("INSERT OR IGNORE INTO meta VALUES ('witness', ?)", (name,))
        return bool(index.execute(query, ("witness",)).fetchone()[0] == name)
