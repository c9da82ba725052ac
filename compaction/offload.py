"""Large tool results moved to files: two gates, two placeholder texts, one place on disk.

The literal texts stand in people's files and are the original's (facts: harness9 §4).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from compaction.messages import Message
from compaction.ports import Offloads
from compaction.provenance import Draft, Fate, Slot
from compaction.records import OffloadEntry
from compaction.utf8 import byte_length

HOOK_PREFIX = "[输出已保存至"
PLACEHOLDER_PREFIX = "[offloaded:"
FOLDER = posixpath.join(".harness9", "tool_results")

_PLACEHOLDER = (
    "[offloaded: {path} | {lines} 行 / {bytes} bytes]\n"
    "预览（前 {shown} 行）：\n"
    "{preview}\n"
    "...（完整结果已保存至文件，可通过 read_file 检索）"
)
_HOOK_PLACEHOLDER = (
    "[输出已保存至 {path}，共 {lines} 行 / {bytes} 字节。\n"
    "可通过 read_file 工具配合 offset/limit 参数分页读取。\n\n"
    "预览（前 {shown} 行）：\n"
    "{preview}\n"
    "...（已截断）]"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """The offloader's own limits, as opposed to the compactor's threshold before it."""

    session_id: str
    bytes: int
    preview_lines: int


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A draft after a gate, what it moved, and the call ids whose file is written."""

    draft: Draft
    entries: tuple[OffloadEntry, ...]
    written: frozenset[str]
    moved: Mapping[int, Slot] = field(default_factory=dict)
    """The slots that changed, by position."""


class NotOffloaded(Exception):
    """The offloader refused; the text is the original's reason."""


def file_path(session_id: str, call_id: str) -> str:
    """Where a result is kept, relative to the project, as placeholders name it.

    Ids are joined and cleaned unchecked, as the original does: never open the outcome without
    checking that it lies inside the folder.
    """
    return posixpath.normpath(posixpath.join(FOLDER, *_parts(session_id, call_id + ".txt")))


def _parts(*names: str) -> Iterable[str]:
    # Go's filepath.Join ignores empty parts and never lets a later absolute one take over.
    return (name.lstrip("/") for name in names if name.lstrip("/"))


def describe(result: Message, session_id: str) -> OffloadEntry:
    """The entry for a result: its size and lines as they are now. `tool_name` is never filled."""
    return OffloadEntry(
        tool_call_id=result.tool_call_id,
        tool_name="",
        file_path=file_path(session_id, result.tool_call_id),
        bytes=byte_length(result.content),
        lines=result.content.count("\n") + 1,
    )


def placeholder(entry: OffloadEntry, content: str, preview_lines: int) -> str:
    """What stays in view when a compaction moves `content` to a file."""
    return _filled(_PLACEHOLDER, entry, content, preview_lines)


def hook_placeholder(entry: OffloadEntry, content: str, preview_lines: int) -> str:
    """What stays in view when the hook after a tool moves `content` to a file."""
    return _filled(_HOOK_PLACEHOLDER, entry, content, preview_lines)


def filled(entry: OffloadEntry, preview: str, shown: int) -> str:
    """The same with a preview of `shown` lines that was made elsewhere."""
    return _PLACEHOLDER.format(
        path=entry.file_path, lines=entry.lines, bytes=entry.bytes, shown=shown, preview=preview
    )


def _filled(template: str, entry: OffloadEntry, content: str, preview_lines: int) -> str:
    shown = min(preview_lines, entry.lines)
    preview = "\n".join(content.split("\n", shown)[:shown])
    return template.format(
        path=entry.file_path, lines=entry.lines, bytes=entry.bytes, shown=shown, preview=preview
    )


def offload_result(
    result: Message, gate: Gate, store: Offloads, written: AbstractSet[str]
) -> tuple[OffloadEntry, str]:
    """Move one tool result to its file; returns its entry and placeholder.

    A call id in `written` gets a placeholder but no second file, even if its content differs.

    Raises NotOffloaded where the gate refuses, OSError where the store cannot write.
    """
    if not result.tool_call_id:
        raise NotOffloaded("empty ToolCallID")
    if byte_length(result.content) <= gate.bytes:
        raise NotOffloaded("content below threshold")
    if result.content.startswith(HOOK_PREFIX):
        raise NotOffloaded("already offloaded by OffloadHook")
    entry = describe(result, gate.session_id)
    if result.tool_call_id not in written:
        store.save(entry, result.content)
    return entry, placeholder(entry, result.content, gate.preview_lines)


def offload(
    draft: Draft,
    where: Iterable[int],
    threshold: int,
    gate: Gate,
    store: Offloads | None,
    written: frozenset[str],
) -> Offloaded:
    """Move every tool result at the positions `where` that is larger than `threshold` bytes.

    Positions rise. Fail-open: what cannot be moved stays as it is.
    """
    entries: list[OffloadEntry] = []
    moved: dict[int, Slot] = {}
    new: set[str] = set()
    if store is None:
        return Offloaded(draft, (), written)
    for index in where:
        slot = draft.slots[index]
        call_id = slot.message.tool_call_id
        if not slot.message.is_tool_result or byte_length(slot.message.content) <= threshold:
            continue
        try:
            entry, text = offload_result(
                slot.message, gate, store, new if call_id in new else written
            )
        except _REFUSALS:
            continue
        entries.append(entry)
        new.add(call_id)
        moved[index] = _moved(slot, text, entry)
    if not moved:
        return Offloaded(draft, (), written)
    return Offloaded(draft.with_slots(moved), tuple(entries), written | new, moved)


# An id may hold what no file name can, a NUL for one; Python says so with a ValueError.
_REFUSALS = (NotOffloaded, OSError, ValueError)


def _moved(slot: Slot, text: str, entry: OffloadEntry) -> Slot:
    message = replace(slot.message, content=text)
    return replace(slot, message=message, fate=Fate.OFFLOADED, reason=f"moved to {entry.file_path}")


HOOK_BYTES = 10_000
HOOK_PREVIEW_LINES = 20
HOOK_EXEMPT = frozenset({"read_file", "write_file", "edit_file"})


def offload_output(tool_name: str, result: Message, store: Offloads, gate: Gate) -> Message:
    """The gate right after a tool ran: a result over the limit is saved before anyone sees it.

    File tools and results without a call id are exempt. Fail-open: returns `result` unchanged
    where it is exempt, small enough or cannot be written.
    """
    if (
        not result.tool_call_id
        or tool_name in HOOK_EXEMPT
        or byte_length(result.content) <= gate.bytes
    ):
        return result
    entry = describe(result, gate.session_id)
    try:
        store.save(entry, result.content)
    except _REFUSALS:
        return result
    return replace(result, content=hook_placeholder(entry, result.content, gate.preview_lines))
