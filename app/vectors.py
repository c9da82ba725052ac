"""The vectors of a recall in SQLite instead of in memory: for sessions with very many messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from math import isfinite

from compaction.embedding import Vector

_TABLES = """
CREATE TABLE vectors (key INTEGER PRIMARY KEY);
CREATE TABLE weights (
    coordinate INTEGER, key INTEGER, weight REAL, PRIMARY KEY (coordinate, key)
) WITHOUT ROWID;
CREATE TABLE wanted (coordinate INTEGER PRIMARY KEY, weight REAL);
"""
# By coordinate first, so that a question reads only what it has in common with anything.
_NEAREST = """
WITH scores AS MATERIALIZED (
    SELECT key, sum(weights.weight * wanted.weight) AS score
    FROM wanted JOIN weights USING (coordinate) GROUP BY key
)
SELECT key, coalesce(score, 0.0) FROM vectors LEFT JOIN scores USING (key)
ORDER BY 2 DESC, 1 LIMIT ?
"""


class SqliteVectors:
    """A `compaction.ports.Vectors` in a temporary database: `Ports(vectors=SqliteVectors)`.

    SQLite holds it in memory while it is small and in a nameless file beyond that; it is gone with
    the object. Not for two threads at once.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript(_TABLES)

    def add(self, key: int, vector: Vector) -> None:
        """Keep a vector under `key`; a second one of the same key replaces it.

        Raises ValueError for a weight that is no number.
        """
        weights = [(coordinate, key, weight) for coordinate, weight in _finite(vector)]
        if self._db.execute("INSERT OR IGNORE INTO vectors VALUES (?)", (key,)).rowcount == 0:
            self._db.execute("DELETE FROM weights WHERE key = ?", (key,))
        self._db.executemany("INSERT INTO weights VALUES (?, ?, ?)", weights)

    def nearest(self, vector: Vector, count: int) -> list[tuple[int, float]]:
        """The `count` most similar keys and their similarity, best first, ties in key order.

        Raises ValueError for a weight that is no number.
        """
        wanted = list(_finite(vector))
        self._db.execute("DELETE FROM wanted")
        self._db.executemany("INSERT INTO wanted VALUES (?, ?)", wanted)
        return [(int(key), float(score)) for key, score in self._db.execute(_NEAREST, (count,))]


def _finite(vector: Vector) -> Iterable[tuple[int, float]]:
    for coordinate, weight in vector.items():
        if not isfinite(weight):
            raise ValueError(f"coordinate {coordinate} of a vector is {weight}")
        yield coordinate, weight
