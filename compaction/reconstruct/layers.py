"""The texts that a tool result had one after another, as compactions moved it to its file.

A result becomes a placeholder; one whose preview is long is itself over the limit and becomes a
placeholder of a placeholder, and so on. Version 0 is what it was when its run began.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compaction.messages import Message
from compaction.offload import placeholder
from compaction.placeholder import Gate, parse_placeholder
from compaction.records import OffloadEntry
from compaction.utf8 import byte_length

_DEEPEST = 64
"""Layers to try before a placeholder is taken not to come from the text at hand."""


@dataclass(frozen=True, slots=True)
class Version:
    """One text of a tool result; `text` is None where it is gone and only its size is known."""

    text: str | None
    bytes: int
    lines: int

    @classmethod
    def of(cls, text: str) -> Version:
        return cls(text, byte_length(text), text.count("\n") + 1)


def is_placeholder(message: Message) -> bool:
    """Whether a compaction moved this result away."""
    found = parse_placeholder(message.content) if message.is_tool_result else None
    return found is not None and found.gate is Gate.COMPACTION


def wrapped(version: Version, path: str, preview_lines: int) -> Version | None:
    """The next version: the placeholder for `version`; None when its text is gone."""
    if version.text is None:
        return None
    entry = OffloadEntry("", "", path, version.bytes, version.lines)
    return Version.of(placeholder(entry, version.text, preview_lines))


@dataclass(frozen=True, slots=True)
class Clues:
    """What may tell the earlier versions of a placeholder."""

    original: str | None = None
    """What the file it names holds now."""
    sizes: Sequence[tuple[int, int]] = ()
    """Bytes and lines that records list for its call, in order: one for each time it was moved."""


def unwrapped(stored: Message, clues: Clues, preview_lines: int) -> tuple[Version, ...]:
    """All versions up to the placeholder in `stored`, oldest first.

    The file is believed only if wrapping what it holds, once or more often, comes out as exactly
    the stored text. Without it the layers are peeled off as far as their previews are whole; of
    those below, the sizes are known from the records.
    """
    found = parse_placeholder(stored.content)
    if found is None:
        return (Version.of(stored.content),)
    if clues.original is not None:
        versions = [Version.of(clues.original)]
        while len(versions) < _DEEPEST:
            following = wrapped(versions[-1], found.path, preview_lines)
            if following is None:
                break
            versions.append(following)
            if following.text == stored.content:
                return tuple(versions)
    inner = replace(stored, content=found.preview)
    if byte_length(found.preview) == found.bytes and found.preview.count("\n") + 1 == found.lines:
        peeled = unwrapped(inner, Clues(sizes=clues.sizes), preview_lines)
    else:
        peeled = _by_size((found.bytes, found.lines), clues.sizes)
    return (*peeled, Version.of(stored.content))


def _by_size(last: tuple[int, int], listed: Sequence[tuple[int, int]]) -> tuple[Version, ...]:
    """Versions whose texts are gone, up to the one of size `last`."""
    until = listed.index(last) + 1 if last in listed else 0
    return tuple(Version(None, *size) for size in listed[:until] or (last,))
