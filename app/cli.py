"""The command line: finds the command, runs it, and says in one sentence what went wrong."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from app import __version__
from app.commands import COMMANDS
from app.errors import AnchorlineError, UsageError

BAD_DATA, BAD_USAGE, INTERRUPTED = 1, 2, 130
_DEFAULT = "open"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 1 for bad data, or 2 for bad usage."""
    _never_fail_to_print()
    parser = _parser()
    args = parser.parse_args(_with_command(sys.argv[1:] if argv is None else list(argv)))
    if args.command is None:
        parser.error("name the folder of a project, as in `anchorline .`")
    command = next(one for one in COMMANDS if one.name == args.command)
    if "home" in args and not args.home.is_dir():
        # Nothing forbids it, but mistyped it would look like a home without sessions.
        said = "there is no such folder; only the project's own .harness9 is read"
        print(f"anchorline: --home {args.home}: {said}", file=sys.stderr)
    try:
        return command.run(args)
    except AnchorlineError as error:
        print(f"anchorline: {error}", file=sys.stderr)
        return BAD_USAGE if isinstance(error, UsageError) else BAD_DATA
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"anchorline: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_DATA


def _never_fail_to_print() -> None:
    # A terminal's encoding may lack what a session holds: an escape is better than no answer.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _with_command(argv: list[str]) -> list[str]:
    """`argv` with the word that may be left out: `anchorline .` opens.

    A folder that is named like a command is reached as `./list`.
    """
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] != "--":
        at += 2 if argv[at] == "--home" else 1
    if at >= len(argv) or argv[at] in {command.name for command in COMMANDS}:
        return argv
    return [*argv[:at], _DEFAULT, *argv[at:]]


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="anchorline",
        usage="anchorline [--home DIR] [COMMAND] FOLDER …",
        description="See what context compaction did to the agent sessions of a project.",
        epilog="`anchorline COMMAND --help` says more about one; without a command, FOLDER is "
        "opened. A folder named like a command is reached as ./NAME.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"anchorline {__version__}")
    _add_home(parser)
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", prog="anchorline"
    )
    for command in COMMANDS:
        one = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.summary[0].upper() + command.summary[1:] + ".",
            allow_abbrev=False,
        )
        _add_home(one)
        command.add_arguments(one)
    return parser


def _add_home(parser: ArgumentParser) -> None:
    # Before or after the command; suppressed, the second parser leaves what the first found.
    parser.add_argument(
        "--home",
        metavar="DIR",
        type=Path,
        default=SUPPRESS,
        help="the folder that holds the home .harness9 (else ANCHORLINE_HOME, else yours)",
    )
