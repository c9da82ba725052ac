"""Where our own files are; nobody else knows."""

from __future__ import annotations

from pathlib import Path


def assets_dir() -> Path:
    """The folder that holds `templates` and `static`."""
    installed = Path(__file__).parent / "_assets"
    return installed if installed.is_dir() else Path(__file__).parents[1]
