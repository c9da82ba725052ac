"""What a session looked like each time we saw it: the flight recorder's memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.catalog.contents import body_of, hash_of, message_of, packed
from app.catalog.splices import Splice, is_key_due, packed_ids, splice, unpacked_ids
from compaction.messages import Message
from compaction.utf8 import encoded

_BATCH = 500


class How(StrEnum):
    """In what way a state differs from the one before it."""

    FIRST = "first"
    """It is the first we saw."""
    APPENDED = "appended"
    """Only new messages at the end."""
    REWRITTEN = "rewritten"
    """Earlier messages were replaced or taken away."""
    CLEARED = "cleared"
    """Nothing was left, and still nothing after a second look."""


@dataclass(frozen=True, slots=True)
class State:
    """One observed state of a session; `messages_in` gives what it held."""

    id: int
    """Grows with time, over all sessions."""
    session_id: str
    seen_at: float
    """Unix seconds: when we saw it, which is not when it came to be."""
    how: How
    length: int
    """Messages."""
    start: int
    """The first message that differs from the state before, from 0."""
    removed: int
    """Messages of the state before that stand here no more, or not here."""
    added: int
    """Messages that took their place, or came behind."""


def session_key(db: sqlite3.Connection, session_id: str) -> int:
    """The number of a session in both files; given out at the first call."""
    raw = encoded(session_id)
    found = db.execute("SELECT key FROM sessions WHERE id = ?", (raw,)).fetchone()
    if found is None:
        found = db.execute("INSERT INTO sessions (id) VALUES (?) RETURNING key", (raw,)).fetchone()
    return int(found[0])


def keep_contents(db: sqlite3.Connection, messages: Iterable[Message]) -> list[int]:
    """The contents' numbers, in order; what was not known is kept from now on."""
    return [_keep(db, body_of(message)) for message in messages]


def _keep(db: sqlite3.Connection, body: bytes) -> int:
    name = hash_of(body)
    found = db.execute("SELECT id FROM contents WHERE hash = ?", (name,)).fetchone()
    if found is None:
        found = db.execute(
            "INSERT INTO contents (hash, size, body) VALUES (?, ?, ?) RETURNING id",
            (name, len(body), packed(body)),
        ).fetchone()
    return int(found[0])


def observe(
    db: sqlite3.Connection, key: int, ids: Sequence[int], seen_at: float
) -> tuple[int, How] | None:
    """Note that the session holds the contents `ids` now; None when that is known already.

    Returns the new state's id and how it differs.
    """
    last = _last(db, key)
    if last is None:
        change = Splice(0, 0, tuple(ids))
        return _add(db, _New(key, seen_at, How.FIRST, change, len(ids), 0, ids)) if ids else None
    before = ids_in(db, last.id)
    change = splice(before, ids)
    if change.is_nothing:
        return None
    weight = last.weight + change.weight
    if is_key_due(weight, len(ids)):
        return _add(db, _New(key, seen_at, _how(before, change), change, len(ids), 0, ids))
    return _add(db, _New(key, seen_at, _how(before, change), change, len(ids), weight))


def append(
    db: sqlite3.Connection, key: int, onto: int, new: Sequence[int], seen_at: float
) -> tuple[int, How] | None:
    """Note that `new` contents stand behind those of the state `onto`, without reading it.

    Returns None when there is nothing new. Raises LookupError when `onto` is not the session's
    last state: then the whole session has to be observed.
    """
    last = _last(db, key)
    if last is None or last.id != onto:
        raise LookupError(f"state {onto} is not the last one of session {key}")
    if not new:
        return None
    # An append never makes a key due: the list grows by as much as the weight does.
    change = Splice(last.length, 0, tuple(new))
    length, weight = last.length + len(new), last.weight + change.weight
    return _add(db, _New(key, seen_at, How.APPENDED, change, length, weight))


def _how(before: Sequence[int], change: Splice) -> How:
    if change.start == len(before):
        return How.APPENDED
    if change.start == 0 and change.removed == len(before) and not change.inserted:
        return How.CLEARED
    return How.REWRITTEN


@dataclass(frozen=True, slots=True)
class _New:
    """A state that is to be stored; as a key where `whole` is given."""

    session: int
    seen_at: float
    how: How
    change: Splice
    length: int
    weight: int
    whole: Sequence[int] | None = None


def _add(db: sqlite3.Connection, new: _New) -> tuple[int, How]:
    ids = new.change.inserted if new.whole is None else new.whole
    query = (
        "INSERT INTO states (session, seen_at, how, length, weight, is_key, start, removed, added, "
        "ids) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
    )
    cells = (
        new.session,
        new.seen_at,
        new.how.value,
        new.length,
        new.weight,
        new.whole is not None,
        new.change.start,
        new.change.removed,
        len(new.change.inserted),
        packed_ids(ids),
    )
    return int(db.execute(query, cells).fetchone()[0]), new.how


@dataclass(frozen=True, slots=True)
class _Last:
    id: int
    length: int
    weight: int


def last_state(db: sqlite3.Connection, key: int) -> int:
    """The id of a session's newest state; 0 when it has none."""
    last = _last(db, key)
    return last.id if last else 0


def _last(db: sqlite3.Connection, key: int) -> _Last | None:
    query = "SELECT id, length, weight FROM states WHERE session = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(query, (key,)).fetchone()
    return None if row is None else _Last(*row)


def ids_in(db: sqlite3.Connection, state: int) -> list[int]:
    """The contents of a state, in order. Raises LookupError when there is no such state."""
    found = db.execute("SELECT session FROM states WHERE id = ?", (state,)).fetchone()
    if found is None:
        raise LookupError(f"there is no state {state}")
    key = db.execute(
        "SELECT max(id) FROM states WHERE session = ? AND id <= ? AND is_key",
        (found[0], state),
    ).fetchone()[0]
    steps = db.execute(
        "SELECT is_key, start, removed, ids FROM states "
        "WHERE session = ? AND id BETWEEN ? AND ? ORDER BY id",
        (found[0], key, state),
    )
    ids: list[int] = []
    for is_key, start, removed, raw in steps:
        if is_key:
            ids = list(unpacked_ids(raw))
        else:
            Splice(start, removed, unpacked_ids(raw)).apply(ids)
    return ids


def states_of(db: sqlite3.Connection, session_id: str) -> tuple[State, ...]:
    """Every state of a session that is still kept, oldest first."""
    query = (
        "SELECT states.id, seen_at, how, length, start, removed, added "
        "FROM states JOIN sessions ON sessions.key = states.session "
        "WHERE sessions.id = ? ORDER BY states.id"
    )
    rows = db.execute(query, (encoded(session_id),))
    return tuple(
        State(number, session_id, seen_at, How(how), *numbers)
        for number, seen_at, how, *numbers in rows
    )


def messages_in(db: sqlite3.Connection, ids: Sequence[int]) -> Iterator[Message]:
    """The messages with these contents, in order; never more than a batch in memory at once.

    Raises LookupError when one is missing.
    """
    for at in range(0, len(ids), _BATCH):
        wanted = ids[at : at + _BATCH]
        marks = ",".join("?" * len(wanted))
        query = f"SELECT id, body FROM contents WHERE id IN ({marks})"
        bodies: dict[int, bytes] = dict(db.execute(query, tuple(wanted)))
        for one in wanted:
            yield message_of(bodies[one])
