"""The search index, fed: texts that are listed and not yet in it, a batch at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from app.catalog import index
from app.catalog.catalog import Catalog, Coverage, indexed_in
from app.catalog.changes import Cancelled
from app.catalog.folding import indexable

_BATCH = 400
_BATCH_CHARACTERS = 1_000_000


def feed(
    catalog: Catalog, report: Callable[[Coverage], None], is_cancelled: Callable[[], bool]
) -> None:
    """Make every listed text searchable. Searches may go on meanwhile, and find what is in.

    Raises Cancelled; the next call goes on where this one stopped.
    """
    reader = catalog.reader()
    total = reader.execute("SELECT coalesce(max(id), 0) FROM texts").fetchone()[0]
    last = indexed_in(reader)
    while last < total:
        if is_cancelled():
            raise Cancelled
        batch = list(_next(reader, last))
        last = batch[-1][0] if batch else total
        with catalog.writing_index() as db:
            db.executemany("INSERT INTO search (rowid, text) VALUES (?, ?)", batch)
            index.set_indexed(db, last)
        report(Coverage(last, total))


def _next(reader: sqlite3.Connection, last: int) -> Iterator[tuple[int, str]]:
    """The texts behind `last`: a batch of them, and at least one."""
    wanted = reader.execute(
        "SELECT id, kind, ref, part FROM texts WHERE id > ? ORDER BY id LIMIT ?", (last, _BATCH)
    )
    characters = 0
    for number, kind, ref, part in wanted.fetchall():
        text = indexable(_text(reader, kind, ref, part))
        yield number, text
        characters += len(text)
        if characters > _BATCH_CHARACTERS:
            return


def _text(reader: sqlite3.Connection, kind: str, ref: int, part: int) -> str:
    row = reader.execute(_QUERIES[kind], {"ref": ref, "kind": kind, "part": part}).fetchone()
    # A file may be gone before its turn came.
    return "" if row is None else str(row[0])


_MESSAGE = "SELECT message_text(body, :part) FROM witness.contents WHERE id = :ref"
_RECORD = "SELECT record_text(body, :kind, :part) FROM records WHERE id = :ref"
_FILE = "SELECT file_text(path, :part) FROM files WHERE id = :ref"
_QUERIES = {
    "message": _MESSAGE,
    "call": _MESSAGE,
    "summary": _RECORD,
    "anchor": _RECORD,
    "error": _RECORD,
    "offload": _FILE,
    "plan": _FILE,
}
