"""`anchorline list FOLDER`: the sessions of a project."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from app.commands.command import Command, add_data_arguments


def _add_arguments(parser: ArgumentParser) -> None:
    add_data_arguments(parser)
    parser.add_argument(
        "--all",
        action="store_true",
        help="also other sessions of the home store (JSON has them anyway, as not belonging)",
    )


def _run(args: Namespace) -> int:
    from app.commands.output import print_json, print_table, services_of, warn

    services = services_of(args)
    warn(services.workspace.listing().damage)
    every = [row for group in services.overview().groups for row in group.sessions]
    if args.json:
        print_json(
            [
                {
                    "id": row.id,
                    "title": row.title,
                    "updated_at": row.updated_at,
                    "messages": row.messages,
                    "tokens": row.tokens,
                    "compactions": row.compactions,
                    "errors": row.errors,
                    "offloads": row.offloads,
                    "generation": services.badge(row.id).key,
                    "belongs": row.belongs,
                    "tie": row.tie,
                }
                for row in every
            ]
        )
        return 0
    if not every:
        workspace = services.workspace
        print(f"No sessions: looked for .harness9 in {workspace.folder} and {workspace.home}")
        return 0
    rows = [row for row in every if row.belongs or args.all]
    print_table(
        ("session", "messages", "tokens (est.)", "compactions", "title"),
        ((row.id, row.messages, row.tokens, row.compactions, row.title) for row in rows),
    )
    if hidden := len(every) - len(rows):
        print(f"{hidden} more in the home store that nothing ties to this folder: --all")
    return 0


COMMAND = Command(
    name="list",
    summary="list the sessions of a project",
    add_arguments=_add_arguments,
    run=_run,
)
