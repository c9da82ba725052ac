"""A tool call's arguments, laid out for reading without changing what they say.

Numbers and the order of keys stay as they are written: only white space is put between the pieces
of the raw JSON, never a value parsed and printed again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder

LONGEST = 1_000_000
"""Characters. Longer arguments are shown as they are stored."""

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder()
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Argument:
    """One named argument."""

    name: str
    text: str
    """A string's own text; anything else as JSON."""


def arguments(raw: str) -> tuple[Argument, ...] | None:
    """The members of the JSON object in `raw`, in order; None when it is not an object."""
    if len(raw) > LONGEST:
        return None
    try:
        return tuple(_members(raw))
    except (ValueError, RecursionError):
        return None


def _members(raw: str) -> list[Argument]:
    found: list[Argument] = []
    at = _skipped(raw, _expected(raw, _skipped(raw, 0), "{"))
    if raw[at : at + 1] == "}":
        _end(raw, at + 1)
        return found
    while True:
        name, at = _DECODER.raw_decode(raw, _skipped(raw, at))
        if not isinstance(name, str):
            raise JSONDecodeError("a name is missing", raw, at)
        start = _skipped(raw, _expected(raw, _skipped(raw, at), ":"))
        value, end = _DECODER.raw_decode(raw, start)
        text = value if isinstance(value, str) else indented(raw[start:end])
        found.append(Argument(name, text))
        at = _skipped(raw, end)
        if raw[at : at + 1] != ",":
            _end(raw, _expected(raw, at, "}"))
            return found
        at += 1


def _skipped(raw: str, at: int) -> int:
    match = _SPACE.match(raw, at)
    return match.end() if match else at


def _expected(raw: str, at: int, char: str) -> int:
    if raw[at : at + 1] != char:
        raise JSONDecodeError(f"expected {char}", raw, at)
    return at + 1


def _end(raw: str, at: int) -> None:
    if _skipped(raw, at) != len(raw):
        raise JSONDecodeError("something follows", raw, at)


def indented(raw: str) -> str:
    """JSON with one member or element a line; anything else as it is."""
    if not _is_json(raw):
        return raw
    lines: list[str] = []
    line, depth = "", 0
    pieces = _PIECE.findall(raw)
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        if piece in "{[" and following not in ("}", "]"):
            lines.append(line + piece)
            depth += 1
            line = _INDENT * depth
        elif piece in "}]" and not line.endswith(("{", "[")):
            lines.append(line)
            depth -= 1
            line = _INDENT * depth + piece
        elif piece == ",":
            lines.append(line + piece)
            line = _INDENT * depth
        else:
            line += piece + (" " if piece == ":" else "")
    return "\n".join([*lines, line])


def _is_json(raw: str) -> bool:
    if len(raw) > LONGEST:
        return False
    try:
        _end(raw, _DECODER.raw_decode(raw, _skipped(raw, 0))[1])
    except (ValueError, RecursionError):
        return False
    return True
