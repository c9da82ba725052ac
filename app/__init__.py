"""Anchorline: see what context compaction did to an agent session."""

__version__ = "0.1.0"
