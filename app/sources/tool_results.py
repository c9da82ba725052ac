"""Tool results that were moved to files: listed, paged through, and put back on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from app.errors import SourceUnreadable
from app.sources.folder import files_in, is_inside, opened, safe_child
from app.sources.model import Damage, OffloadFile
from compaction.messages import Message
from compaction.placeholder import Placeholder, parse_placeholder
from compaction.utf8 import decoded

SUFFIX = ".txt"

LARGEST_ORIGINAL = 64 * 1024 * 1024
"""Bytes. A larger file can be paged through, but is not put back into its message."""

_CHUNK = 1024 * 1024


def offload_files(
    folder: Path, shown_as: str
) -> tuple[tuple[OffloadFile, ...], tuple[Damage, ...]]:
    """The tool results in one session's folder; only names and sizes are looked at.

    `shown_as` is how a placeholder names the folder.
    """
    found = files_in(folder)
    files = []
    for name, path in found.paths.items():
        if not name.endswith(SUFFIX):
            continue
        try:
            size = path.lstat().st_size
        except OSError:
            continue
        files.append(OffloadFile(name.removesuffix(SUFFIX), path, f"{shown_as}/{name}", size))
    return tuple(files), found.damage


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of a file, cut between characters."""

    text: str
    start: int
    """Bytes from the beginning of the file."""
    end: int
    size: int
    """Of the whole file, in bytes."""

    @property
    def is_last(self) -> bool:
        return self.end >= self.size


def read_page(path: Path, offset: int, limit: int) -> Page:
    """About `limit` bytes of a file from `offset` on; never part of a character.

    An offset inside a character moves on to the next one. A page holds at least one character,
    however small the limit, so paging always gets on.

    Raises SourceUnreadable.
    """
    limit = max(limit, 4)
    with opened(path) as file:
        size = file.seek(0, 2)
        start = min(max(offset, 0), size)
        ahead = min(start, 3)
        file.seek(start - ahead)
        # Three more where the offset lies inside a character, and three where the end does.
        raw = file.read(ahead + limit + 6)
    first = _character_around(raw, ahead)[1]
    last = _character_around(raw, min(first + limit, len(raw)))[0]
    begin = start - ahead
    return Page(decoded(raw[first:last]), begin + first, begin + last, size)


def _character_around(raw: bytes, at: int) -> tuple[int, int]:
    """Start and end of the character that `at` cuts in two; both `at` where it cuts none."""
    for start in range(at - 1, max(at - 4, -1), -1):
        byte = raw[start]
        if byte & 0xC0 == 0x80:
            continue
        length = 2 + (byte >= 0xE0) + (byte >= 0xF0) if byte >= 0xC0 else 1
        end = start + length
        whole = at < end <= len(raw) and all(b & 0xC0 == 0x80 for b in raw[start + 1 : end])
        return (start, end) if whole else (at, at)
    return at, at


def count_lines(path: Path) -> int:
    """Lines as harness9 counts them: newlines and one.

    Raises SourceUnreadable.
    """
    return sum(chunk.count(b"\n") for chunk in _chunks(path)) + 1


def line_at(path: Path, offset: int) -> int:
    """The 1-based line that the byte at `offset` stands in.

    Raises SourceUnreadable.
    """
    line, left = 1, offset
    for chunk in _chunks(path):
        line += chunk.count(b"\n", 0, left)
        left -= len(chunk)
        if left <= 0:
            break
    return line


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with opened(path) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror}.") from error


@dataclass(frozen=True, slots=True)
class Original:
    """The text that a placeholder stands for, as far as it is still there."""

    placeholder: Placeholder
    path: Path | None
    """The file that was read; None when there is none."""
    text: str | None
    """None when it is not to be had; `says` has the reason."""
    says: str = ""
    """Why there is no text, or why it may not be the original."""

    @property
    def is_sound(self) -> bool:
        """Whether the file holds exactly what the placeholder says."""
        return self.text is not None and not self.says


def original_of(message: Message, folders: Iterable[Path], project: Path) -> Original | None:
    """What `message` stood for before it was offloaded; None when it is no placeholder.

    `folders` are the `tool_results` folders: nothing outside them is read, whatever path the
    placeholder names. Never raises for what is on disk.
    """
    placeholder = parse_placeholder(message.content)
    if placeholder is None:
        return None
    path = _located(placeholder.path, tuple(folders), project)
    if path is None:
        return Original(placeholder, None, None, "The file it names is not in this project.")
    try:
        size = path.lstat().st_size
        if size > LARGEST_ORIGINAL:
            return Original(placeholder, path, None, "The file is too large to put back whole.")
        with opened(path) as file:
            raw = file.read(LARGEST_ORIGINAL)
    except OSError as error:
        return Original(placeholder, path, None, f"The file cannot be read: {error.strerror}.")
    except SourceUnreadable as error:
        return Original(placeholder, path, None, str(error))
    return Original(placeholder, path, decoded(raw), _mismatch(placeholder, raw))


def _located(named: str, folders: tuple[Path, ...], project: Path) -> Path | None:
    """The file a placeholder names, if it lies in one of `folders` and is a real file.

    A project that was moved or copied still finds its files: then the last two parts of the
    path, session and file, are looked up in `folders`.
    """
    if "\0" in named:
        return None
    direct = project / named
    if any(is_inside(direct, folder) for folder in folders) and _is_file(direct):
        return direct
    parts = PurePath(named.replace("\\", "/")).parts
    if len(parts) < 3 or parts[-3] != "tool_results":
        return None
    moved = (safe_child(folder, *parts[-2:]) for folder in folders)
    return next((path for path in moved if path is not None and _is_file(path)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except (OSError, ValueError):
        return False


def _mismatch(placeholder: Placeholder, raw: bytes) -> str:
    # After a restart harness9 may offload a placeholder again, over the file it stands for.
    if parse_placeholder(decoded(raw)) is not None:
        return "The file holds a placeholder itself: the original was overwritten and is lost."
    lines = raw.count(b"\n") + 1
    if (len(raw), lines) == (placeholder.bytes, placeholder.lines):
        return ""
    return (
        f"The file has {len(raw)} bytes in {lines} lines, but the placeholder speaks of "
        f"{placeholder.bytes} bytes in {placeholder.lines}."
    )
