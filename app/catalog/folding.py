"""How text and search words are made alike, and which index entries a search word can be in.

The index knows three letters at a time. Texts get two more at their end, so that every letter
begins such a group of three: a word of one or two letters is then found through all the groups
that begin with it, in any script.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator

GROUP = 3
LONGEST_NEEDLE = 120
"""Characters of a search word that the index is asked about; the text itself decides the rest."""
MOST_GROUPS = 4_000

_END = "\n" * (GROUP - 1)


def folded(text: str) -> str:
    """`text` without differences of case and of compatible forms: full width, ligatures."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def indexable(text: str) -> str:
    """What the index is given for `text`."""
    # The tokenizer ends at a NUL; a lone surrogate cannot be bound.
    plain = folded(text).replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return plain + _END


def match_expression(db: sqlite3.Connection, needle: str) -> str | None:
    """The MATCH expression for every text that may contain `needle`; None when none can.

    It asks for all groups of the needle, wherever they stand: the text has to be checked.
    `db` is a reader of the catalog.
    """
    wanted = indexable(needle)[: -len(_END)][:LONGEST_NEEDLE]
    if not wanted:
        return None
    if len(wanted) >= GROUP:
        return " AND ".join(map(_quoted, _groups(wanted)))
    groups = [_quoted(group) for group in _beginning_with(db, wanted)]
    return " OR ".join(groups) if groups else None


def _groups(text: str) -> Iterator[str]:
    """As few groups as cover all of `text`."""
    last = len(text) - GROUP
    starts = sorted({*range(0, last + 1, GROUP), last})
    seen = dict.fromkeys(text[start : start + GROUP] for start in starts)
    yield from seen


def _beginning_with(db: sqlite3.Connection, letters: str) -> Iterator[str]:
    query = "SELECT term FROM search_terms WHERE term >= ? AND term < ? LIMIT ?"
    above = letters + chr(0x10FFFF)
    for (term,) in db.execute(query, (letters, above, MOST_GROUPS)):
        yield term


def _quoted(group: str) -> str:
    return '"' + group.replace('"', '""') + '"'
