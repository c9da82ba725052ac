"""The texts that a tool result had one after another, as compactions moved it to its file.

A result becomes a placeholder; one whose preview is long is itself over the limit and becomes a
placeholder of a placeholder, and so on. Version 0 is what it was when its run began.
"""

from __future__ import annotations

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


def unwrapped(stored: Message, original: str | None, preview_lines: int) -> tuple[Version, ...]:
    """All versions up to the placeholder in `stored`, oldest first.

    `original` is what its file holds; it is believed only if wrapping it, once or more often,
    comes out as exactly the stored text. Without it the layers are peeled off as far as their
    previews are whole; below that only a size is known.
    """
    found = parse_placeholder(stored.content)
    if found is None:
        return (Version.of(stored.content),)
    if original is not None:
        versions = [Version.of(original)]
        while len(versions) < _DEEPEST:
            following = wrapped(versions[-1], found.path, preview_lines)
            if following is None:
                break
            versions.append(following)
            if following.text == stored.content:
                return tuple(versions)
    inner = replace(stored, content=found.preview)
    if byte_length(found.preview) == found.bytes and found.preview.count("\n") + 1 == found.lines:
        peeled = unwrapped(inner, None, preview_lines)
    else:
        peeled = (Version(None, found.bytes, found.lines),)
    return (*peeled, Version.of(stored.content))
