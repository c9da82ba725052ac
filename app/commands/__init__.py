"""The commands of `anchorline`, one module each, in the order that the help lists them."""

from __future__ import annotations

from app.commands import check, compactions, compare, diff, recompact, replay, serve, show
from app.commands import list as list_
from app.commands import open as open_
from app.commands.command import Command

COMMANDS: tuple[Command, ...] = (
    open_.COMMAND,
    serve.COMMAND,
    list_.COMMAND,
    show.COMMAND,
    compactions.COMMAND,
    diff.COMMAND,
    recompact.COMMAND,
    replay.COMMAND,
    compare.COMMAND,
    check.COMMAND,
)
"""A new command is one module and one name here."""
