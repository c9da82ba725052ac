"""`anchorline serve FOLDER`: the same pages for a browser, at an address that is printed."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

from app.commands.command import Command, add_folder, home_of


def _add_arguments(parser: ArgumentParser) -> None:
    add_folder(parser)
    parser.add_argument(
        "--port",
        metavar="N",
        type=_port,
        default=0,
        help="the port; 0, the default, takes a free one",
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise ArgumentTypeError(f"{text!r} is no port: a number from 0 to 65535")
    return int(text)


def _run(args: Namespace) -> int:
    from app.desktop import launcher
    from app.desktop.host import serving

    with serving(args.folder, home_of(args), args.port) as url:
        launcher.wait_for_stop(started=lambda: print(url, flush=True))
    return 0


COMMAND = Command(
    name="serve",
    summary="print the address of the pages and serve them until stopped",
    add_arguments=_add_arguments,
    run=_run,
)
