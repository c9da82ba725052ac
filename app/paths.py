"""Where our own files are, and where the person's system wants ours to be; nobody else knows."""

from __future__ import annotations

from pathlib import Path

from platformdirs import PlatformDirs

_USER = PlatformDirs("anchorline", appauthor=False)


def assets_dir() -> Path:
    """The folder that holds `templates` and `static`."""
    installed = Path(__file__).parent / "_assets"
    return installed if installed.is_dir() else Path(__file__).parents[1]


def cache_dir() -> Path:
    """What can be made again at will: the index. None of these folders need exist yet."""
    return _USER.user_cache_path


def data_dir() -> Path:
    """What cannot be made again: snapshots, runs, what a run offloaded."""
    return _USER.user_data_path


def config_dir() -> Path:
    """What the person decided: settings."""
    return _USER.user_config_path


def state_dir() -> Path:
    """What we remember between starts: recent folders, the size of the window."""
    return _USER.user_state_path
