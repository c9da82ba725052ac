"""How text and numbers are put before a person: nothing invisible, nothing that cannot be sent."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\x7f-\x9f"  # controls; tab and newline are layout
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # would reorder the text around them
    "\u200b\u2028\u2029\ufeff"  # invisible
    "\ud800-\udfff\ufffe\uffff]"  # cannot be sent as UTF-8, or must not be
)
_CRLF = re.compile("\r+\n")

_ELLIPSIS = "…"


def printable(text: str) -> str:
    """`text` with everything invisible or unsendable made visible.

    Control characters become their Unicode pictures, bytes that were not UTF-8 (which sqlite3 and
    open() hand us as lone surrogates) `⟨xNN⟩`, and the rest `⟨U+NNNN⟩`. A CRLF counts as a newline.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_visible, _CRLF.sub("\n", text))


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xDC80 <= code <= 0xDCFF:
        return f"⟨x{code - 0xDC00:02X}⟩"
    return f"⟨U+{code:04X}⟩"


def first_line(text: str, longest: int = 120) -> str:
    """The first line that says something, shortened to `longest` characters."""
    for line in text[: 20 * longest].splitlines():
        if stripped := " ".join(line.split()):
            return shortened(stripped, longest)
    return ""


def shortened(text: str, longest: int) -> str:
    """`text`, cut to `longest` characters with an ellipsis in the last place."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + _ELLIPSIS


def short_id(session_id: str) -> str:
    """The part of a session's id that people say: the first eight characters of a UUID."""
    return shortened(session_id.partition("-")[0] or session_id, 16)


def count(number: int) -> str:
    """`31657` as `31,657`."""
    return f"{number:,}"


def span(low: int, high: int) -> str:
    """`39,355–39,375`, or one number where both are the same."""
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def percent(share: float, digits: int = 0) -> str:
    """`0.747` as `75 %`, or as `74.7 %` with one digit."""
    return f"{share * 100:,.{digits}f} %"


def size(number: int) -> str:
    """A number of bytes as `950 B`, `6.6 kB`, `141 kB`, `2.3 MB`."""
    value, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if round(value, 1) < 1000:
            break
        value, unit = value / 1000, larger
    if unit == "B":
        return f"{number} B"
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"


def plural(number: int, one: str, many: str) -> str:
    """`1 message`, `1,204 messages`."""
    return f"{count(number)} {one if number == 1 else many}"


def moment(seconds: int | None, zone: tzinfo | None = None) -> str:
    """Unix seconds as `4 Aug 2026, 10:31`, in local time unless a zone is given."""
    when = _local(seconds, zone)
    return f"{when.day} {when:%b %Y, %H:%M}" if when else "unknown"


def seconds_of(written: str) -> int | None:
    """Unix seconds written as a number; None when `written` is something else."""
    return int(written) if written.isascii() and written.isdigit() else None


def stamp(seconds: int | None, zone: tzinfo | None = None) -> str:
    """Unix seconds as `2026-08-04T10:31:12+08:00`; empty when there is no such time."""
    when = _local(seconds, zone)
    return when.isoformat(timespec="seconds") if when else ""


def when(written: str, zone: tzinfo | None = None) -> str:
    """An RFC 3339 time as `4 Aug 2026, 10:31:12`, in local time unless a zone is given.

    What is no such time is returned as it stands.
    """
    try:
        found = datetime.fromisoformat(written).astimezone(zone)
    except (OverflowError, ValueError):
        return printable(written)
    return f"{found.day} {found:%b %Y, %H:%M:%S}"


def _local(seconds: int | None, zone: tzinfo | None) -> datetime | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, zone).astimezone(zone)
    except (OverflowError, OSError, ValueError):
        return None


_AGES = (
    (timedelta(days=365), "year", "y"),
    (timedelta(days=30), "month", "mo"),
    (timedelta(days=7), "week", "w"),
    (timedelta(days=1), "day", "d"),
    (timedelta(hours=1), "hour", "h"),
    (timedelta(minutes=1), "minute", "min"),
)


def age(seconds: int | None, now: int) -> str:
    """How long ago, in the largest unit that fits: `3 days ago`."""
    if seconds is None:
        return "unknown"
    for unit, name, _ in _AGES:
        if number := _passed(seconds, now) // unit:
            return f"{plural(number, name, name + 's')} ago"
    return "just now"


def short_age(seconds: int | None, now: int) -> str:
    """The same where room is scarce: `3 d`."""
    if seconds is None:
        return "–"
    for unit, _, short in _AGES:
        if number := _passed(seconds, now) // unit:
            return f"{number} {short}"
    return "now"


def _passed(seconds: int, now: int) -> timedelta:
    # A clock that was set back must not make a session seem to come from the future.
    return timedelta(seconds=max(0, now - seconds))
