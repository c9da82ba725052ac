"""The `.harness9` folders in reach of a project, and which files in them are whose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.errors import SourceError
from app.sources.folder import Entries, files_in, folders_in, is_inside
from app.sources.model import Damage
from app.sources.plans import PlanFile, read_plan
from app.sources.sessions_db import NAMES

NAME = ".harness9"
_RECORDS_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class Store:
    """One `.harness9` folder. Methods look at the disk anew; none opens a path made of ids."""

    root: Path
    """Absolute, with links followed."""
    of_project: bool

    def databases(self) -> Entries:
        """The session databases, by name."""
        found = files_in(self.root)
        wanted = {name: found.paths[name] for name in NAMES if name in found.paths}
        return Entries(wanted, tuple(one for one in found.damage if one.path.name in NAMES))

    def records(self) -> Entries:
        """Record files by session id."""
        found = files_in(self._folder("compaction_records"))
        wanted = {
            name.removesuffix(_RECORDS_SUFFIX): path
            for name, path in found.paths.items()
            if name.endswith(_RECORDS_SUFFIX)
        }
        return Entries(wanted, found.damage)

    def offload_folders(self) -> Entries:
        """Folders of offloaded tool results by session id."""
        return folders_in(self.tool_results)

    def stamp(self) -> frozenset[Mark]:
        """What would be different if anything in the store had changed."""
        paths = [self.root, *(self.root / (name + end) for name in NAMES for end in ("", "-wal"))]
        for name in ("compaction_records", "plans", "tool_results"):
            paths += [self._folder(name), *files_in(self._folder(name)).paths.values()]
        for folder in self.offload_folders().paths.values():
            paths += [folder, *files_in(folder).paths.values()]
        return frozenset(mark for path in paths if (mark := mark_of(path)))

    @property
    def tool_results(self) -> Path:
        return self._folder("tool_results")

    def plans(self) -> tuple[tuple[PlanFile, ...], tuple[Damage, ...]]:
        """All plan files, oldest first."""
        found = self.plan_files()
        plans, damage = [], list(found.damage)
        for name, path in found.paths.items():
            if not name.endswith(".md"):
                continue
            try:
                plans.append(read_plan(path))
            except SourceError as error:
                damage.append(Damage(path, str(error)))
        return tuple(plans), tuple(damage)

    def plan_files(self) -> Entries:
        """What lies in the folder of plans, by name."""
        return files_in(self._folder("plans"))

    def shown_as(self, folder: Path) -> str:
        """How a placeholder names `folder`: relative to a project, else whole."""
        inside = folder.relative_to(self.root).as_posix()
        return f"{NAME}/{inside}" if self.of_project else f"{self.root.as_posix()}/{inside}"

    def _folder(self, name: str) -> Path:
        folder = self.root / name
        # A link that leads out is replaced by a folder that cannot exist.
        return folder if is_inside(folder, self.root) else self.root / NAME / name


Mark = tuple[str, int, int, int]
"""Path, inode, size in bytes, and time of the last change in nanoseconds."""


def mark_of(path: Path) -> Mark | None:
    """How the file at `path` looks from outside; None when there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns


def project_folder(path: Path) -> Path:
    """The project that `path` means: itself, or what holds the `.harness9` that it is or is in."""
    path = path.absolute()
    for place in (path, *path.parents):
        if place.name == NAME:
            return place.parent
    return path


def stores_of(folder: Path, home: Path) -> tuple[Store, ...]:
    """The stores that exist, the project's first; one that serves as both is listed once."""
    found: list[Store] = []
    for place, of_project in ((folder, True), (home, False)):
        root = place / NAME
        if not root.is_dir():
            continue
        root = root.resolve()
        if root not in (store.root for store in found):
            found.append(Store(root, of_project))
    return tuple(found)
