"""Offloaded tool results as files: whole or not at all, and for their owner only."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path, PurePosixPath

from compaction.records import OffloadEntry
from compaction.utf8 import encoded


class FileOffloads:
    """A `compaction.Offloads` that keeps results below a folder of its own.

    Folders are made with mode 0700 and files with 0600. A file is written beside its place, synced,
    and then moved there, so that a reader, or a crash, never meets half of one.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def save(self, entry: OffloadEntry, content: str) -> None:
        """Keep `content` under `entry.file_path`.

        Raises OSError where it cannot be kept, ValueError for a path that leaves the folder.
        """
        target = self._inside(entry.file_path)
        self._make(target.parent)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".saving-")  # mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(encoded(content))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
        _sync(target.parent)

    def read(self, file_path: str) -> str:
        """The text kept under a path, as a placeholder names it.

        Raises OSError where there is none, ValueError for a path that leaves the folder.
        """
        return self._inside(file_path).read_bytes().decode("utf-8")

    def _inside(self, file_path: str) -> Path:
        parts = PurePosixPath(file_path).parts
        if parts and "\x00" not in file_path:
            target = (self._root / Path(*parts)).resolve()
            if target.is_relative_to(self._root):
                return target
        raise ValueError(f"{file_path!r} leads out of the folder for tool results")

    def _make(self, folder: Path) -> None:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir(mode=0o700, exist_ok=True)


def _sync(folder: Path) -> None:
    # So that the move itself outlasts a crash; Windows cannot open folders, and needs it not.
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
