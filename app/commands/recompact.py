"""`anchorline recompact FOLDER SESSION`: one compaction again, with other settings, in memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from app.commands.command import Command, add_session_arguments, compaction_number
from app.commands.counting import add_counter_argument
from app.commands.live import CLAUDE, add_live_arguments
from app.errors import UsageError

if TYPE_CHECKING:
    from app.llm.access import Access
    from app.llm.quote import Quote
    from app.services.recompact import Choice, Input, Outcome
    from app.sources.model import Session


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
    add_counter_argument(parser)
    add_live_arguments(parser, ("recorded", "offline", CLAUDE, "none"))


def _run(args: Namespace) -> int:
    from app.commands.counting import announced, counted, counts_json, rows_of
    from app.commands.live import (
        access_of,
        agree,
        failure_json,
        live_json,
        quoted,
        summariser_of,
        tell,
    )
    from app.commands.output import print_json, print_table, session_of
    from app.services.recompact import Writer, input_for, recompact

    session = session_of(args)
    choice = _choice(args, session)
    given = input_for(session, choice, n=args.at)
    access = access_of(args) if CLAUDE in (args.summariser, args.counter) else None
    quote = claude = None
    says = []
    if access and choice.writer is Writer.CLAUDE:
        quote = _quote(access, given, choice)
        says += [quoted(quote)] if quote.calls else []
    if access and args.counter == CLAUDE:
        says += [announced(access, given.before)]
    agree(says, args)
    if access and quote:
        claude = summariser_of(args, access)
    outcome = recompact(given, choice, claude)
    counts = counted(args.counter, access, given.before, outcome.result.messages)
    if args.json:
        told = _json(session, choice, given, outcome)
        told["summary"] = {
            "by": choice.writer.value,
            "failure": failure_json(outcome.failure) if outcome.failure else None,
            **(live_json(claude, quote) if claude and quote else {}),
        }
        told["counts"] = counts_json(counts) if counts else None
        print_json(told)
    else:
        print(given.says)
        rows = [(f"{m.name} {m.unit}".strip(), m.recorded or "–", m.ours) for m in outcome.measures]
        print_table(("", "recorded", "this run"), [*rows, *(rows_of(counts) if counts else ())])
    tell(claude, outcome.failure)
    return int(outcome.failure is not None)


def _choice(args: Namespace, session: Session) -> Choice:
    from app.services.recompact import Writer, default_choice, read_choice
    from compaction.settings import SettingsError

    try:
        choice = read_choice(values_of(args.set), default_choice(session))
    except SettingsError as error:
        raise UsageError(str(error)) from error
    return replace(choice, writer=Writer(args.summariser)) if args.summariser else choice


def _quote(access: Access, given: Input, choice: Choice) -> Quote:
    from app.llm.quote import Rehearsal
    from app.services.recompact import compacted
    from compaction.ports import MemoryOffloads

    rehearsal = Rehearsal(access)
    compacted(given, choice, rehearsal, MemoryOffloads())
    return rehearsal.quote


def _json(session: Session, choice: Choice, given: Input, outcome: Outcome) -> dict[str, Any]:
    from app.commands.output import draft_json, message_json

    result = outcome.result
    return {
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
