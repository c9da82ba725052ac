"""Two tools that only read, for the example loops: nothing outside the folder they are given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

MOST = 200
"""Files that are listed."""
TEXT = {".md", ".py", ".toml", ".txt"}

SCHEMAS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "list_files": ("The text files of the folder.", {"type": "object", "properties": {}}),
    "read_file": (
        "One text file of the folder, in full.",
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    ),
}
"""Description and arguments, by name."""


def run_tool(name: str, arguments: Mapping[str, Any], folder: Path) -> tuple[str, bool]:
    """What a tool answers, and whether that is an error."""
    try:
        if name == "list_files":
            return _listed(folder), False
        if name == "read_file":
            return _read(str(arguments.get("path", "")), folder), False
    except (OSError, ValueError) as error:
        return f"error: {error}", True
    return f"error: there is no tool {name!r}", True


def _listed(folder: Path) -> str:
    found = sorted(path for path in folder.rglob("*") if path.suffix in TEXT and path.is_file())
    return "\n".join(path.relative_to(folder).as_posix() for path in found[:MOST])


def _read(path: str, folder: Path) -> str:
    target = (folder / path).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise ValueError(f"{path!r} leads out of the folder")
    return target.read_text("utf-8")
