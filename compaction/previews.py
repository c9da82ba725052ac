"""Large tool results moved to files under safe names, with a preview bounded in bytes and lines."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from compaction.messages import Message
from compaction.offload import FOLDER, HOOK_PREFIX, PLACEHOLDER_PREFIX, filled
from compaction.ports import Offloads
from compaction.provenance import Draft, Fate, Slot
from compaction.records import OffloadEntry
from compaction.settings import Settings
from compaction.tokens import message_bytes
from compaction.utf8 import byte_length, encoded

PREVIEW_BYTES = 1_200
"""UTF-8 bytes of a result that stay in view, at most."""
CUT_PREFIX = "[tool result cut:"

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_READABLE = 40
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Moved:
    """A draft with results moved to files."""

    draft: Draft
    entries: tuple[OffloadEntry, ...] = ()
    written: frozenset[str] = frozenset()
    """Paths of everything written so far."""
    notes: tuple[str, ...] = ()
    """What could not be moved as it was, and why."""


def safe_path(session_id: str, call_id: str, content: str) -> str:
    """Where a result is kept, relative to the project: one component per id, whatever they hold.

    What is readable of an id comes first, a hash of id and content makes the name its own; two
    results share a name only if they are the same.
    """
    digest = hashlib.sha256(encoded(f"{len(call_id)}:{call_id}{content}")).hexdigest()[:20]
    names = [_name(session_id)] if session_id else []
    return posixpath.join(FOLDER, *names, f"{_readable(call_id)}-{digest}.txt")


def _name(session_id: str) -> str:
    readable = _readable(session_id)
    if readable == session_id:
        return readable
    return f"{readable}-{hashlib.sha256(encoded(session_id)).hexdigest()[:12]}"


def _readable(text: str) -> str:
    return _UNSAFE.sub("_", text)[:_READABLE] or "_"


def printable(text: str) -> str:
    """`text` with every lone surrogate replaced, so that it can be written and sent."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def preview(text: str, lines: int, room: int = PREVIEW_BYTES) -> str:
    """The first lines of `text` in at most `room` UTF-8 bytes, cut between two characters."""
    head = "\n".join(text[: room + 1].split("\n", lines)[:lines])
    raw = encoded(head)
    return head if len(raw) <= room else raw[:room].decode("utf-8", "ignore")


def is_reduced(message: Message) -> bool:
    """Whether its text is already somewhere else, or already cut, and as short as that makes it.

    A preview that another tool left may be of any length; ours of it begins with the same path.
    """
    marked = message.content.startswith((PLACEHOLDER_PREFIX, HOOK_PREFIX, CUT_PREFIX))
    return marked and byte_length(message.content) <= 2 * PREVIEW_BYTES


def reduce(
    draft: Draft,
    where: Iterable[int],
    settings: Settings,
    store: Offloads | None,
    written: frozenset[str],
    *,
    enough: int | None = None,
    or_cut: bool = False,
) -> Moved:
    """The tool results at the positions `where`, in their order, each as a bounded preview.

    Stops once the draft is down to `enough` bytes. A result that cannot be saved stays, or, with
    `or_cut`, keeps only its preview. Nothing becomes larger, and nothing is reduced twice.
    """
    moved = Moved(draft, written=written)
    size = sum(map(message_bytes, draft.messages)) if enough is not None else 0
    changes: dict[int, Slot] = {}
    for position in where:
        if enough is not None and size <= enough:
            break
        slot = draft.slots[position]
        if not slot.message.is_tool_result or is_reduced(slot.message):
            continue
        moved, changed = _reduced(moved, slot, settings, store, or_cut)
        if changed is not None:
            size += message_bytes(changed.message) - message_bytes(slot.message)
            changes[position] = changed
    return replace(moved, draft=draft.with_slots(dict(sorted(changes.items()))))


def _reduced(
    moved: Moved, slot: Slot, settings: Settings, store: Offloads | None, or_cut: bool
) -> tuple[Moved, Slot | None]:
    call_id, content = slot.message.tool_call_id, printable(slot.message.content)
    path = safe_path(settings.session_id, call_id, content)
    lines, size = content.count("\n") + 1, byte_length(content)
    entry = OffloadEntry(call_id, "", path, size, lines)
    shown = preview(content, settings.preview_lines)
    text = filled(entry, shown, shown.count("\n") + 1)
    if byte_length(text) < byte_length(slot.message.content):
        refused = _save(store, entry, content, moved.written)
        if not refused:
            notes = moved.notes
            if content != slot.message.content:
                notes += (f"{path}: characters that are no text were replaced",)
            moved = Moved(moved.draft, (*moved.entries, entry), moved.written | {path}, notes)
            return moved, _changed(slot, text, Fate.OFFLOADED, f"moved to {path}")
        moved = replace(moved, notes=(*moved.notes, f"{call_id!r} could not be saved: {refused}"))
    if or_cut:
        text = f"{CUT_PREFIX} {lines:,} lines, {size:,} bytes, kept nowhere]\n{shown}\n…"
        if byte_length(text) < byte_length(slot.message.content):
            return moved, _changed(slot, text, Fate.TRIMMED, f"cut, {size:,} bytes")
    return moved, None


def _save(
    store: Offloads | None, entry: OffloadEntry, content: str, written: frozenset[str]
) -> str:
    """Keep it; returns why that failed."""
    if entry.file_path in written:
        return ""
    if store is None:
        return "there is no place for files"
    try:
        store.save(entry, content)
    except Exception as error:  # whatever a disk does, the session goes on
        return str(error) or type(error).__name__
    return ""


def _changed(slot: Slot, text: str, fate: Fate, reason: str) -> Slot:
    # A summary or an insertion is no offload, whatever becomes of its text.
    own = slot.fate in (Fate.KEPT, Fate.TRIMMED, Fate.OFFLOADED)
    message = replace(slot.message, content=text)
    return replace(slot, message=message, fate=fate if own else slot.fate, reason=reason)
