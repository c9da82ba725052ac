"""Readers of other people's files. They never write: not a byte, not a time stamp."""

from app.sources.workspace import Workspace, open_folder

__all__ = ["Workspace", "open_folder"]
