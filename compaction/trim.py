"""Long texts cut to their beginning and end, with the paths that stood in between."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compaction.utf8 import byte_length

LIMIT, HEAD, TAIL = 3_000, 500, 500
"""Characters: what is too long, and what stays of it."""

_NAMED, _LONGEST = 5, 60
_ROOM = 60 + _NAMED * (_LONGEST + 2)
_PATH = re.compile(r"(?<![\w./-])(?:[\w.-]{1,40}/|/){1}(?:[\w.-]{1,40}/){0,8}[\w.-]{1,40}")


def trim(text: str, limit: int = LIMIT, head: int = HEAD, tail: int = TAIL) -> str | None:
    """`text` without its middle; None where it is short enough. Limits are in characters.

    What is left is never long enough to be trimmed again, and always smaller in bytes.
    """
    if len(text) <= max(limit, head + tail + _ROOM):
        return None
    end = len(text) - tail
    middle = text[head:end]
    named = ", ".join(_paths(middle))
    marker = f"[{len(middle):,} characters left out{'; they name ' + named if named else ''}]"
    short = f"{text[:head]}\n{marker}\n{text[end:]}"
    return short if byte_length(short) < byte_length(text) else None


def _paths(text: str) -> Iterator[str]:
    seen: set[str] = set()
    for match in _PATH.finditer(text):
        path = match[0]
        if path not in seen and len(path) <= _LONGEST:
            seen.add(path)
            yield path
        if len(seen) == _NAMED:
            return
