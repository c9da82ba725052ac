"""What a command of `anchorline` is: a name, a sentence, its arguments, and what it does."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Command:
    """One word after `anchorline`."""

    name: str
    summary: str
    """One sentence for the help."""
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
    """Does it and gives the exit code. May raise AnchorlineError, whose sentence is then shown.

    What it needs is imported when it runs, so that no command waits for another's libraries.
    """


def add_folder(parser: ArgumentParser) -> None:
    """The argument that nearly every command has."""
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="a project folder")


def add_data_arguments(parser: ArgumentParser) -> None:
    """A folder, and whether JSON is wanted."""
    add_folder(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_session_arguments(parser: ArgumentParser) -> None:
    """A folder, a session in it, and whether JSON is wanted."""
    add_data_arguments(parser)
    parser.add_argument("session", metavar="SESSION", help="its id, or enough of its beginning")


def compaction_number(text: str) -> int:
    """The type of an argument that names a recorded compaction."""
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"{text!r} is no number of a compaction: they count from 1")
    return int(text)


def home_of(args: Namespace) -> Path | None:
    """What `--home` names; None when it was not given."""
    home: Path | None = getattr(args, "home", None)
    return home
