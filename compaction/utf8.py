"""Text as the bytes that Go holds: what is counted, hashed and written to files."""

from __future__ import annotations

import codecs

_REPLACEMENT = "\ufffd".encode()


def is_raw_byte(char: str) -> bool:
    """Whether `char` stands for one byte that was not UTF-8 (PEP 383)."""
    return "\udc80" <= char <= "\udcff"


def _as_go(error: UnicodeError) -> tuple[bytes, int]:
    # A surrogate that stands for no byte came from a lone \ud800-style escape, which Go's JSON
    # decoder turns into U+FFFD.
    if not isinstance(error, UnicodeEncodeError):
        raise error
    raw = b"".join(
        bytes([ord(char) - 0xDC00]) if is_raw_byte(char) else _REPLACEMENT
        for char in error.object[error.start : error.end]
    )
    return raw, error.end


codecs.register_error("compaction.as_go", _as_go)


def encoded(text: str) -> bytes:
    """`text` as UTF-8; bytes smuggled in by `surrogateescape` come out as they were."""
    return text.encode("utf-8", "compaction.as_go")


def byte_length(text: str) -> int:
    """How many UTF-8 bytes `text` takes."""
    return len(text) if text.isascii() else len(encoded(text))


def decoded(raw: bytes) -> str:
    """The inverse of `encoded`: never fails, and loses no byte."""
    return raw.decode("utf-8", "surrogateescape")
