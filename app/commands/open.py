"""`anchorline FOLDER`: a window on a project, or the browser where there is no web view."""

from __future__ import annotations

from argparse import Namespace

from app.commands.command import Command, add_folder, home_of


def _run(args: Namespace) -> int:
    from app.desktop import launcher
    from app.desktop.host import serving

    with serving(args.folder, home_of(args)) as url:
        launcher.show(url, title=f"{args.folder.resolve().name} - Anchorline")
    return 0


COMMAND = Command(
    name="open",
    summary="open a window on a project (the same as no command at all)",
    add_arguments=add_folder,
    run=_run,
)
