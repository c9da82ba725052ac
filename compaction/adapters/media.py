"""How large an image or a file is to a model, judged by its header and length alone.

Base64 is never read through or tokenised: a few kilobytes of it say how large a picture is.
"""

from __future__ import annotations

import base64
import struct
from math import ceil

HEADER = 131_072
"""Base64 characters looked at, at most: a JPEG may carry a thumbnail before its size."""

MOST_IMAGE_TOKENS = 4_000
"""Larger images are scaled down before a model sees them."""
UNKNOWN_IMAGE_TOKENS = 1_600
"""For an image that only a URL or a file id stands for."""

PIXELS_PER_TOKEN = 750
"""Anthropic's published rule."""

BYTES_PER_FILE_TOKEN = 30
"""A rough guess for PDF files: some 2 000 tokens for a page of 60 kB."""
LEAST_FILE_TOKENS = 2_000
BYTES_PER_AUDIO_TOKEN = 1_600
"""A rough guess: ten tokens a second, at 128 kbit/s."""

Size = tuple[int, int]
"""Width and height in pixels."""


def image_size(data: str) -> Size | None:
    """The size of a PNG, JPEG, GIF or WebP in base64; None where its header is unclear."""
    head = data[:HEADER]
    try:
        raw = base64.b64decode(head[: len(head) // 4 * 4])
        return _size(raw)
    except (ValueError, struct.error, IndexError):
        return None


def image_tokens(size: Size | None) -> int:
    """Estimated tokens of an image of that size."""
    if size is None:
        return UNKNOWN_IMAGE_TOKENS
    width, height = size
    return min(max(ceil(width * height / PIXELS_PER_TOKEN), 1), MOST_IMAGE_TOKENS)


def file_tokens(characters: int) -> int:
    """Estimated tokens of a document, from the length of its base64; 0 if that is unknown."""
    return max(_bytes(characters) // BYTES_PER_FILE_TOKEN, LEAST_FILE_TOKENS)


def audio_tokens(characters: int) -> int:
    """Estimated tokens of a recording, from the length of its base64."""
    return _bytes(characters) // BYTES_PER_AUDIO_TOKEN + 1


def _bytes(characters: int) -> int:
    return characters * 3 // 4


def _size(raw: bytes) -> Size | None:
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return _pair(">II", raw, 16)
    if raw.startswith((b"GIF87a", b"GIF89a")):
        return _pair("<HH", raw, 6)
    if raw.startswith(b"\xff\xd8"):
        return _jpeg_size(raw)
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return _webp_size(raw)
    return None


def _pair(form: str, raw: bytes, offset: int) -> Size:
    first, second = struct.unpack_from(form, raw, offset)
    return int(first), int(second)


def _jpeg_size(raw: bytes) -> Size | None:
    at = 2
    while raw[at] == 0xFF:
        marker = raw[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = _pair(">HH", raw, at + 5)
            return width, height
        (length,) = struct.unpack_from(">H", raw, at + 2)
        at += 2 + length
    return None


def _webp_size(raw: bytes) -> Size | None:
    kind = raw[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = _pair("<HH", raw, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None
