"""Stepping into a folder that may be hostile: no id becomes a path, no link leads out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from app.errors import SourceUnreadable
from app.sources.model import Damage

_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Entries:
    """The names in a folder that may be opened, and those that may not."""

    paths: dict[str, Path] = field(default_factory=dict)
    damage: tuple[Damage, ...] = ()


def is_plain_name(name: str) -> bool:
    """Whether `name` can only ever mean an entry of the folder it is looked up in."""
    return (
        name not in ("", ".", "..")
        and not any(char in name for char in "/\\\0")
        and len(name.encode("utf-8", "surrogatepass")) <= _LONGEST_NAME
    )


def is_inside(path: Path, root: Path) -> bool:
    """Whether `path`, with every link followed, lies in `root`; nothing is opened."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def safe_child(root: Path, *names: str) -> Path | None:
    """The path of `names` under `root`, or None when it could mean anything outside."""
    if not all(map(is_plain_name, names)):
        return None
    child = root.joinpath(*names)
    return child if is_inside(child, root) else None


def files_in(folder: Path) -> Entries:
    """The regular files of `folder`, by name. Links, pipes and devices are never among them."""
    return _entries(folder, folders=False)


def folders_in(folder: Path) -> Entries:
    """The real subfolders of `folder`, by name."""
    return _entries(folder, folders=True)


def _entries(folder: Path, *, folders: bool) -> Entries:
    paths, damage = {}, []
    try:
        with os.scandir(folder) as found:
            for entry in found:
                path = Path(entry.path)
                if entry.is_symlink():
                    damage.append(Damage(path, f"{path} is a link; it was not followed."))
                elif entry.is_dir() if folders else entry.is_file():
                    paths[entry.name] = path
                elif not entry.is_dir() and not entry.is_file():
                    says = f"{path} is neither a file nor a folder; it was not opened."
                    damage.append(Damage(path, says))
    except (FileNotFoundError, NotADirectoryError):
        return Entries()
    except OSError as error:
        damage.append(Damage(folder, f"{folder} cannot be listed: {error.strerror}."))
    return Entries(dict(sorted(paths.items())), tuple(damage))


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open for reading; a link or a pipe put in its place is refused.

    Raises SourceUnreadable.
    """
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SourceUnreadable(f"{path} is not a regular file; it was not read.")
            yield file
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror}.") from error
