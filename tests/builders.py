"""Builders of session folders: realistic harness9 files, written from values."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from compaction.messages import Message, ToolCall
from compaction.records import CompactionRecord, record_line

SESSION = "1c0ffee1-0000-4000-8000-000000000001"
STARTED = 1_786_000_000

SESSIONS_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT NOT NULL, tool_calls TEXT, tool_call_id TEXT, created_at INTEGER NOT NULL,
    FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE);
CREATE INDEX IF NOT EXISTS idx_messages_session ON messages(session_id, id);
"""
TODOS_SCHEMA = """
CREATE TABLE session_todos (
    id TEXT NOT NULL, session_id TEXT NOT NULL, content TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending', position INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (id, session_id));
"""
PLANS_SCHEMA = """
CREATE TABLE session_plans (
    session_id TEXT PRIMARY KEY, items TEXT NOT NULL DEFAULT '[]',
    updated_at INTEGER NOT NULL DEFAULT 0);
"""


def human(text: str) -> Message:
    return Message("user", text)


def says(text: str, *calls: ToolCall) -> Message:
    return Message("assistant", text, calls)


def call(call_id: str, name: str = "bash", arguments: str = "{}") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def result(call_id: str, text: str) -> Message:
    return Message("user", text, (), call_id)


def record(**fields: object) -> CompactionRecord:
    """A record that could stand in a file; `fields` replace what it says."""
    usual: dict[str, object] = {
        "id": "r1",
        "session_id": SESSION,
        "timestamp": "2026-08-12T10:00:00Z",
        "tier": 1,
        "tokens_before": 700,
        "tokens_after": 700,
        "msgs_before": 20,
        "msgs_after": 20,
        "compression_ratio": 1.0,
    }
    return CompactionRecord(**{**usual, **fields})  # type: ignore[arg-type]


@dataclass(frozen=True)
class SessionData:
    """What a session leaves behind. `runs` are batches of messages, each saved at once."""

    id: str = SESSION
    runs: Sequence[Sequence[Message]] = ((),)
    records: Sequence[CompactionRecord] | bytes = ()
    """Records, or the raw bytes of their file."""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    """Offloaded tool results by call id."""


def tool_calls_cell(calls: Iterable[ToolCall]) -> str | None:
    """The `tool_calls` cell as harness9 stores it."""
    shown = [
        f'{{"id":{json.dumps(c.id)},"name":{json.dumps(c.name)},"arguments":{c.arguments}}}'
        for c in calls
    ]
    return f"[{','.join(shown)}]" if shown else None


def make_database(path: Path, sessions: Iterable[SessionData], schema: str = "") -> Path:
    """A session database in WAL mode, closed cleanly."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(SESSIONS_SCHEMA + schema)
        for one in sessions:
            insert_session(db, one)
        db.commit()
    path.chmod(0o600)
    return path


def insert_session(db: sqlite3.Connection, session: SessionData) -> None:
    last = STARTED + 60 * len(session.runs)
    db.execute("INSERT INTO sessions VALUES (?, ?, ?)", (session.id, STARTED, last))
    for number, run in enumerate(session.runs):
        db.executemany(
            "INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    session.id,
                    m.role,
                    m.content,
                    tool_calls_cell(m.tool_calls),
                    m.tool_call_id or None,
                    STARTED + 60 * number,
                )
                for m in run
            ],
        )


def make_store(root: Path, sessions: Sequence[SessionData], schema: str = "") -> Path:
    """A `.harness9` folder under `root` with database, records and offloads; returns `root`."""
    store = root / ".harness9"
    if any(any(one.runs) for one in sessions):
        make_database(store / "sessions.db", sessions, schema)
    for one in sessions:
        write_records(store, one)
        write_files(store, one)
    return root


def write_records(store: Path, session: SessionData) -> Path:
    raw = session.records
    if not isinstance(raw, bytes):
        raw = "".join(map(record_line, raw)).encode()
    path = store / "compaction_records" / f"{session.id}.jsonl"
    if raw:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(raw)
        path.chmod(0o600)
    return path


def write_files(store: Path, session: SessionData) -> None:
    for call_id, text in session.files.items():
        path = store / "tool_results" / session.id / f"{call_id}.txt"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o600)


def traces(root: Path) -> dict[str, tuple[int, int, int, str]]:
    """Everything a reader could have changed under `root`: names, modes, sizes, times, content."""
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode,
            path.lstat().st_size,
            path.lstat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted([root, *root.rglob("*")])
    }
