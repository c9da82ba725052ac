"""The sessions of one database, followed: appends are read alone, rewrites as a whole.

harness9 replaces rows by a DELETE and an INSERT in two transactions. A session that has nothing
left is therefore looked at again a moment later, before it is believed to be empty.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from gettext import gettext as _
from pathlib import Path

from app.catalog import index, snapshots
from app.catalog.catalog import Catalog
from app.catalog.changes import Cancelled, Outcome, SessionChange
from app.catalog.index import Known, Placed
from app.catalog.texts import Role, of_message, role_of
from app.errors import SourceBusy
from app.sources import sessions_db
from app.sources.model import Damage, Row
from app.sources.sessions_db import Extent
from app.sources.untouched import Look, looking, mark
from compaction.tokens import message_bytes

SECOND_LOOK = 0.3
"""Seconds before an empty session is believed."""

_ATTEMPTS = 8
_BATCH_ROWS = 500
_BATCH_BYTES = 2_000_000
_TITLE = 400
_NEW = Known(0, "", None, 0, 0, 0, 0, 0)
_NOTHING = Extent(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Follower:
    """What following a database needs of the world."""

    catalog: Catalog
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    step: Callable[[int, int], None]
    """Called after each session with how many are done of how many."""
    is_cancelled: Callable[[], bool]
    outcome: Outcome = field(default_factory=Outcome)

    def follow(self, path: Path) -> None:
        """Take in what changed in the database since it was followed last.

        Raises Cancelled; SourceBusy when a writer was in the way each time, and SourceUnreadable
        when it cannot be read at all.
        """
        known, _top = index.database(self.catalog.reader(), str(path))
        now = mark(path)
        if now and now == known:
            return
        vanished: frozenset[str] = frozenset()
        for attempt in range(_ATTEMPTS):
            if vanished:
                self.sleep(SECOND_LOOK)
            try:
                gone = self._look(path, vanished)
            except SourceBusy:
                if attempt == _ATTEMPTS - 1:
                    raise
                continue
            if gone <= vanished:
                return
            vanished = gone
        self.outcome.is_complete = False

    def _look(self, path: Path, believed: frozenset[str]) -> frozenset[str]:
        """Read what changed; returns the sessions that have nothing left.

        They are left as they were known, except those in `believed`.
        """
        seen = mark(path)
        with looking(path) as look:
            changed = _Changed.since(self.catalog.reader(), look.db, path)
            gone = frozenset(one for one in changed.sessions if changed.is_gone(one))
            wanted = [one for one in changed.sessions if one not in gone or one in believed]
            for done, session_id in enumerate(wanted):
                self.step(done, len(wanted))
                self._session(look, path, session_id, changed)
            self.step(len(wanted), len(wanted))
        if gone <= believed:
            with self.catalog.writing_index() as db:
                index.set_database(db, str(path), seen, changed.top)
        return gone

    def _session(self, look: Look, path: Path, session_id: str, changed: _Changed) -> None:
        known = changed.known.get(session_id, _NEW)
        extent = changed.extents.get(session_id, _NOTHING)
        if changed.is_append(session_id):
            try:
                self._take(look, path, session_id, changed, known, known.last_row)
            except LookupError:
                # Rows in the middle are gone, or we were ended once after the witness was told
                # of a state and before the index was.
                self._take(look, path, session_id, changed, _restarted(known), None)
        elif extent.rows or known.state:
            self._take(look, path, session_id, changed, _restarted(known), None)
        else:
            self._note_empty(path, session_id, changed)
        if not extent.rows and session_id not in changed.times:
            with self.catalog.writing_index() as db:
                index.forget_session(db, known.key)

    def _take(
        self,
        look: Look,
        path: Path,
        session_id: str,
        changed: _Changed,
        known: Known,
        after: int | None,
    ) -> None:
        """Read the rows behind `after`, or all, and note what the session holds now."""
        taken = _Taken(title=known.title)
        rows = _rows(look.db, session_id, after)
        try:
            for batch in _batches(rows):
                if self.is_cancelled():
                    raise Cancelled
                self._keep(batch, taken)
        except sqlite3.DatabaseError as error:
            if not look.is_sound():
                raise SourceBusy(f"{path} was written to while it was read; try again.") from error
            says = _("{path} is damaged after {n} messages of session {id}: {error}.")
            says = says.format(path=path, n=len(taken.contents), id=session_id, error=error)
            self.outcome.damage.append(Damage(path, says))
            return
        if not look.is_sound():
            raise SourceBusy(f"{path} was written to while it was read; try again.")
        expected = changed.extents.get(session_id, _NOTHING).rows - known.messages
        if after is not None and len(taken.contents) != expected:
            raise LookupError(f"session {session_id} was not only appended to")
        self._note(path, session_id, changed, known, after, taken)

    def _keep(self, batch: list[Row], taken: _Taken) -> None:
        with self.catalog.writing_witness() as db:
            ids = snapshots.keep_contents(db, (row.message for row in batch))
        with self.catalog.writing_index() as db:
            for content, row in zip(ids, batch, strict=True):
                index.add_entries(db, content, of_message(row.message))
        taken.add(ids, batch)

    def _note(
        self,
        path: Path,
        session_id: str,
        changed: _Changed,
        known: Known,
        after: int | None,
        taken: _Taken,
    ) -> None:
        seen_at = self.clock()
        with self.catalog.writing_witness() as db:
            key = snapshots.session_key(db, session_id)
            if after is None:
                found = snapshots.observe(db, key, taken.contents, seen_at)
                state = found[0] if found else snapshots.last_state(db, key)
            else:
                found = snapshots.append(db, key, known.state, taken.contents, seen_at)
                state = found[0] if found else known.state
        rows = taken.rows
        created_at, updated_at = changed.times.get(session_id, (None, None))
        now = Known(
            key,
            taken.title,
            updated_at,
            known.messages + len(taken.contents),
            known.bytes + taken.bytes,
            known.first_row or (rows[0] if rows else 0),
            rows[-1] if rows else known.last_row,
            state,
        )
        with self.catalog.writing_index() as db:
            index.set_session(db, session_id, str(path), now, created_at)
            index.set_messages(db, key, known.messages, taken.placed())
        if found:
            before = changed.known.get(session_id, _NEW).messages
            change = SessionChange(session_id, found[1], before, now.messages)
            self.outcome.changes.append(change)

    def _note_empty(self, path: Path, session_id: str, changed: _Changed) -> None:
        with self.catalog.writing_witness() as db:
            key = snapshots.session_key(db, session_id)
        created_at, updated_at = changed.times.get(session_id, (None, None))
        with self.catalog.writing_index() as db:
            now = Known(key, "", updated_at, 0, 0, 0, 0, 0)
            index.set_session(db, session_id, str(path), now, created_at)


def _restarted(known: Known) -> Known:
    """The session without what is known of its messages."""
    return Known(known.key, "", None, 0, 0, 0, 0, known.state)


@dataclass(slots=True)
class _Taken:
    """The messages of one session, as numbers only: it may have any number of them."""

    title: str
    contents: array[int] = field(default_factory=lambda: array("Q"))
    rows: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    bytes: int = 0

    def add(self, ids: list[int], batch: list[Row]) -> None:
        self.contents.extend(ids)
        for row in batch:
            self.rows.append(row.id)
            self.times.append(row.created_at)
            self.bytes += message_bytes(row.message)
            if not self.title and role_of(row.message) is Role.HUMAN:
                self.title = _title(row.message.content)

    def placed(self) -> list[Placed]:
        return [Placed(*one) for one in zip(self.contents, self.rows, self.times, strict=True)]


def _title(text: str) -> str:
    lines = text[:_TITLE].splitlines()
    return next((line.strip() for line in lines if line.strip()), "")


def _rows(db: sqlite3.Connection, session_id: str, after: int | None) -> Iterator[Row]:
    if after is None:
        return sessions_db.rows_after(db, session_id)
    return sessions_db.rows_after(db, session_id, after)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row.message.content)
        if len(batch) >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _Changed:
    """Which sessions of a database are not as the index has them."""

    sessions: tuple[str, ...]
    """Newest first."""
    known: dict[str, Known]
    extents: dict[str, Extent]
    """Of those sessions at least."""
    times: dict[str, tuple[int | None, int | None]]
    top: int
    numbers_are_final: bool

    @classmethod
    def since(cls, ours: sqlite3.Connection, theirs: sqlite3.Connection, path: Path) -> _Changed:
        known = index.sessions_of(ours, str(path))
        _mark, top = index.database(ours, str(path))
        elsewhere = index.sessions_elsewhere(ours, str(path))
        final = sessions_db.numbers_are_final(theirs)
        extents = _extents(theirs, known, top if final and not elsewhere else None)
        times = sessions_db.times_in(theirs)
        found = [
            one
            for one in {**extents, **times, **known}
            if one not in elsewhere
            and (not final or _differs(known.get(one), extents, times.get(one), one))
        ]
        found.sort(key=lambda one: -(times.get(one, (None, None))[1] or 0))
        top = max((top, *(extent.last for extent in extents.values())))
        return cls(tuple(found), known, extents, times, top, final)

    def is_append(self, session_id: str) -> bool:
        """Whether all known rows seem to be there still, so that those behind are enough."""
        known, extent = self.known.get(session_id), self.extents.get(session_id)
        return (
            self.numbers_are_final
            and known is not None
            and extent is not None
            and known.messages > 0
            and extent.first == known.first_row
            and extent.last > known.last_row
            and extent.rows > known.messages
        )

    def is_gone(self, session_id: str) -> bool:
        """Whether a session that had messages has none left."""
        known = self.known.get(session_id)
        rows = self.extents.get(session_id, _NOTHING).rows
        return known is not None and known.messages > 0 and rows == 0


def _extents(
    theirs: sqlite3.Connection, known: dict[str, Known], top: int | None
) -> dict[str, Extent]:
    """The extents of sessions that may have changed; known ones that did not are as known."""
    same = {
        name: Extent(one.messages, one.first_row, one.last_row)
        for name, one in known.items()
        if one.messages
    }
    if top is None:
        return sessions_db.extents_in(theirs)
    grown = sessions_db.extents_in(theirs, top)
    found = {**same, **grown}
    # Rows that were only taken away show in the total alone.
    if sum(extent.rows for extent in found.values()) == sessions_db.total_in(theirs):
        return found
    return sessions_db.extents_in(theirs)


def _differs(
    known: Known | None,
    extents: dict[str, Extent],
    times: tuple[int | None, int | None] | None,
    session_id: str,
) -> bool:
    if known is None:
        return True
    extent = extents.get(session_id, _NOTHING)
    if extent.rows != known.messages:
        return True
    if extent.rows and (extent.first, extent.last) != (known.first_row, known.last_row):
        return True
    # The same rows, saved again: something may have been changed in place.
    return times is not None and times[1] != known.updated_at
