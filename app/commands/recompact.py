"""`anchorline recompact FOLDER SESSION`: one compaction again, with other settings, in memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import asdict

from app.commands.command import Command, add_session_arguments, compaction_number
from app.errors import UsageError


def _add_arguments(parser: ArgumentParser) -> None:
    add_session_arguments(parser)
    parser.add_argument(
        "--at", type=compaction_number, metavar="N", help="as recorded compaction N was called"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting, such as soft=65%% or min_tail=8; may be repeated",
    )


def _run(args: Namespace) -> int:
    from app.commands.output import draft_json, message_json, print_json, print_table, session_of
    from app.services.recompact import default_choice, input_for, read_choice, recompact
    from compaction.settings import SettingsError

    session = session_of(args)
    try:
        choice = read_choice(values_of(args.set), default_choice(session))
    except SettingsError as error:
        raise UsageError(str(error)) from error
    given = input_for(session, choice, n=args.at)
    outcome = recompact(given, choice)
    if args.json:
        result = outcome.result
        print_json(
            {
                "session_id": session.info.id,
                "n": given.n,
                "input": given.says,
                "settings": {
                    **asdict(choice.settings),
                    "rules": choice.settings.rules.name,
                    "tier": choice.tier.name.lower() if choice.tier else "auto",
                    "summariser": choice.writer.value,
                    "system_bytes": choice.system_bytes,
                },
                "evidence": "exact",
                "record": asdict(result.record),
                "recorded": asdict(given.recorded) if given.recorded else None,
                "messages": [message_json(message) for message in result.messages],
                **draft_json(result.draft),
            }
        )
        return 0
    print(given.says)
    print_table(
        ("", "recorded", "this run"),
        ((f"{m.name} {m.unit}".strip(), m.recorded or "–", m.ours) for m in outcome.measures),
    )
    return 0


def values_of(pairs: Iterable[str]) -> dict[str, str]:
    values = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair}: write NAME=VALUE, for example --set soft=65%")
        values[name.strip()] = value
    return values


COMMAND = Command(
    name="recompact",
    summary="compact once more with other settings, and compare; writes nothing",
    add_arguments=_add_arguments,
    run=_run,
)
