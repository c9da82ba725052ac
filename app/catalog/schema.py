"""The tables of both files, as migrations: a change is a new function, never an edit of an old one.

Witness (user data dir): what only we saw, and so cannot be made again.
Index (user cache dir): what can be made again from the inspected folder at any time.
"""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

WITNESS = Migrations("witness")
INDEX = Migrations("index")


def _run(db: Database, script: str) -> None:
    # One by one: executescript would commit the migration's transaction first.
    for statement in script.split(";\n"):
        if statement.strip():
            db.conn.execute(statement)


@WITNESS()
def sessions_contents_states(db: Database) -> None:
    """Sessions by key; each content once; each observed state as a splice of the one before."""
    _run(
        db,
        """
CREATE TABLE sessions (key INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE TABLE states (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions(key),
    seen_at REAL NOT NULL,
    how TEXT NOT NULL,
    length INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    is_key INTEGER NOT NULL,
    start INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    added INTEGER NOT NULL,
    ids BLOB NOT NULL
);
CREATE INDEX states_by_session ON states(session, id);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
""",
    )


@INDEX()
def sessions_messages_records_files_texts(db: Database) -> None:
    """What the inspected folder holds now, and the search index over all of its texts."""
    _run(
        db,
        """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE databases (
    path BLOB PRIMARY KEY,
    mark TEXT NOT NULL,
    top INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    database BLOB NOT NULL,
    title TEXT NOT NULL,
    created_at INTEGER,
    updated_at INTEGER,
    messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    first_row INTEGER NOT NULL,
    last_row INTEGER NOT NULL,
    state INTEGER NOT NULL
);
CREATE TABLE messages (
    session INTEGER NOT NULL,
    position INTEGER NOT NULL,
    content INTEGER NOT NULL,
    row INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session, position)
) WITHOUT ROWID;
CREATE INDEX messages_by_content ON messages(content);
CREATE TABLE record_files (
    path BLOB PRIMARY KEY,
    session INTEGER NOT NULL,
    mark TEXT NOT NULL,
    head BLOB NOT NULL,
    offset INTEGER NOT NULL,
    line INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    path BLOB NOT NULL,
    line INTEGER NOT NULL,
    name TEXT NOT NULL,
    tier INTEGER NOT NULL,
    date INTEGER,
    error INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX records_by_session ON records(session, id);
CREATE INDEX records_by_path ON records(path, line);
CREATE TABLE damage (
    path BLOB NOT NULL,
    line INTEGER,
    says TEXT NOT NULL
);
CREATE INDEX damage_by_path ON damage(path);
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    session INTEGER,
    path BLOB NOT NULL UNIQUE,
    name BLOB NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL
);
CREATE INDEX files_by_session ON files(session, kind);
CREATE TABLE texts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    ref INTEGER NOT NULL,
    part INTEGER NOT NULL,
    role TEXT NOT NULL,
    tool TEXT NOT NULL,
    call TEXT NOT NULL,
    size INTEGER NOT NULL,
    UNIQUE (kind, ref, part)
);
CREATE INDEX texts_by_call ON texts(call, kind) WHERE call != '';
CREATE VIRTUAL TABLE search USING fts5(text, content='', tokenize='trigram', detail=none,
    columnsize=0);
CREATE VIRTUAL TABLE search_terms USING fts5vocab(search, row)
""",
    )
