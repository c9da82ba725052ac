"""`anchorline replay FOLDER SESSION`: every model call again, and which compactions come of it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.commands.command import Command, add_session_arguments
from app.errors import UsageError

if TYPE_CHECKING:
    from app.services.recompact import Choice
    from app.services.replay import Match, Replayed
    from app.sources.model import Session
    from compaction.records import CompactionRecord

HEAD = ("call", "tier", "tokens (est.)", "messages", "summarised", "moved", "recorded")
WRITERS = ("recorded", "offline", "none")


def _add_arguments(parser: ArgumentParser) -> None:
    add_session_arguments(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting, such as context_window=32000 or rules=safe; may be repeated",
    )
    parser.add_argument(
        "--summariser",
        choices=WRITERS,
        help="who writes summaries; recorded unless a setting is changed, then offline",
    )


def _run(args: Namespace) -> int:
    from app.commands.output import print_json, print_table, services_of, warn
    from app.services.replay import replayed

    services = services_of(args)
    session = services.session(services.workspace.resolve(args.session))
    warn(session.damage)
    choice = _choice(args, session)
    seen = replayed(session, choice, services.workspace.original_of, _progress())
    if args.json:
        print_json(_json(session, choice, seen))
        return 0
    window = choice.settings.context_window
    print(
        f"{len(session.messages)} messages, {seen.calls} model calls, window {window:,} tokens, "
        f"rules {choice.settings.rules.name}, summaries {choice.writer.value}"
    )
    print_table(HEAD, map(_cells, seen.matches))
    for line in _told(session, seen):
        print(line)
    return 0


def _choice(args: Namespace, session: Session) -> Choice:
    from app.commands.recompact import values_of
    from app.services.recompact import Writer, default_choice, read_choice
    from compaction.settings import SettingsError

    values = values_of(args.set)
    try:
        choice = read_choice(values, default_choice(session))
    except SettingsError as error:
        raise UsageError(str(error)) from error
    if args.summariser:
        return replace(choice, writer=Writer(args.summariser))
    return choice if values else replace(choice, writer=Writer.RECORDED)


def _progress() -> Callable[[int], None]:
    """Tells a person how far it is; a pipe is told nothing."""
    if not sys.stderr.isatty():
        return lambda _call: None

    def told(call: int) -> None:
        if call % 100 == 0:
            print(f"\rcall {call:,} …", end="\r", file=sys.stderr, flush=True)

    return told


def _cells(match: Match) -> tuple[str, ...]:
    record = match.ours or match.recorded
    assert record is not None  # a match is of at least one
    return (
        str(match.turn.number) if match.turn else "–",
        _tier(record.tier),
        f"{record.tokens_before:,} → {record.tokens_after:,}",
        f"{record.msgs_before:,} → {record.msgs_after:,}",
        str(record.summarized) if record.summarized else "–",
        str(len(record.offloaded)) if record.offloaded else "–",
        _compared(match),
    )


def _compared(match: Match) -> str:
    if match.n is None:
        return "not recorded"
    if match.turn is None:
        return f"#{match.n}, not in this replay"
    others = ", ".join(name.replace("_", " ") for name in match.differs)
    return f"#{match.n}, other {others}" if others else f"#{match.n}, same"


def _tier(code: int) -> str:
    from app.services.explorer import tier_label

    return tier_label(code)


def _told(session: Session, seen: Replayed) -> Iterator[str]:
    from app.sources.model import Generation
    from app.text import plural

    records = len(session.records.records)
    ours = plural(sum(1 for match in seen.matches if match.turn), "compaction", "compactions")
    yield f"{ours}; {seen.exact:,} of {records:,} recorded came out the same"
    if seen.put_back:
        yield f"{plural(seen.put_back, 'result', 'results')} put back from files first"
    if seen.missing:
        yield f"{plural(seen.missing, 'result', 'results')} left as placeholders: the file is gone"
    if session.generation is Generation.WRITE_BACK and records:
        yield "compactions replaced rows of this session: what the earlier ones saw is not stored"


def _json(session: Session, choice: Choice, seen: Replayed) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "session_id": session.info.id,
        "settings": {**asdict(choice.settings), "rules": choice.settings.rules.name},
        "system_bytes": choice.system_bytes,
        "summariser": choice.writer.value,
        "tokens": "estimated",
        "calls": seen.calls,
        "recorded": len(session.records.records),
        "same": seen.exact,
        "put_back": seen.put_back,
        "missing": seen.missing,
        "compactions": [_match_json(match) for match in seen.matches],
    }


def _match_json(match: Match) -> dict[str, Any]:
    return {
        "call": match.turn.number if match.turn else None,
        "position": match.turn.position if match.turn else None,
        "n": match.n,
        "differs": list(match.differs),
        "replayed": _counts(match.ours),
        "recorded": _counts(match.recorded),
    }


def _counts(record: CompactionRecord | None) -> dict[str, Any] | None:
    from app.services.replay import counts

    return {**counts(record), "error": record.error} if record else None


COMMAND = Command(
    name="replay",
    summary="play a session back call by call: when each tier fires, beside the record",
    add_arguments=_add_arguments,
    run=_run,
)
