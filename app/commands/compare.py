"""`anchorline compare FOLDER SESSION --strategies a,b,c`: which strategy serves a session best."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.commands.command import Command, add_session_arguments
from app.commands.live import CLAUDE, add_live_arguments

if TYPE_CHECKING:
    from compaction.compare import Row

HEAD = (
    "strategy",
    "tokens (est.)",
    "ratio",
    "compactions",
    "first at call",
    "over window",
    "asked",
    "sent tokens",
    "cache break",
    "human lines",
    "anchors",
    "mended",
    "in view",
    "in files",
    "lost",
    "ms",
)

SUMMARIES = {
    "offline": "summaries are extracts made offline",
    "none": "there is no summariser",
    CLAUDE: "summaries are Claude's",
}


def _add_arguments(parser: ArgumentParser) -> None:
    add_session_arguments(parser)
    parser.add_argument(
        "--strategies",
        metavar="NAMES",
        help="strategies and presets, with commas between; default: every strategy, and harness9",
    )
    parser.add_argument(
        "--fit",
        type=float,
        metavar="SHARE",
        help="a window that holds this share of the session, such as 0.5, instead of its own",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting for all, such as context_window=32000; may be repeated",
    )
    add_live_arguments(parser, tuple(SUMMARIES))


def _run(args: Namespace) -> int:
    from app.commands.live import access_of, agree, live_json, quoted, summariser_of, tell
    from app.commands.output import print_json, print_table, session_of
    from app.commands.recompact import values_of
    from app.errors import UsageError
    from app.llm.quote import Rehearsal
    from app.services.compare import (
        OFFLINE,
        SIDE_BY_SIDE,
        compared,
        contestants,
        fitted,
        settings_for,
    )

    if args.fit is not None and not 0 < args.fit <= 1:
        raise UsageError(f"--fit {args.fit}: write a share above 0 and up to 1, for example 0.5")
    session = session_of(args)
    settings = settings_for(session, values_of(args.set))
    if args.fit is not None:
        settings = fitted(settings, session, args.fit)
    names = [name.strip() for name in (args.strategies or "").split(",") if name.strip()]
    chosen = contestants(names or SIDE_BY_SIDE, settings)
    writer = args.summariser or "offline"
    quote = claude = None
    if writer == CLAUDE:
        access = access_of(args)
        rehearsal = Rehearsal(access)
        compared(session, chosen, rehearsal)
        quote = rehearsal.quote
        agree([quoted(quote)] if quote.calls else [], args)
        claude = summariser_of(args, access, in_all=False)
    rows = compared(session, chosen, claude or (OFFLINE if writer == "offline" else None))
    if args.json:
        told = {
            "session_id": session.info.id,
            "context_window": settings.context_window,
            "summariser": writer,
            "tokens": "estimated",
            "rows": [row_json(row) for row in rows],
        }
        print_json({**told, "summary": live_json(claude, quote)} if claude and quote else told)
    else:
        print(
            f"{len(session.messages)} messages, window {settings.context_window:,} tokens; tokens "
            f"are estimated, {SUMMARIES[writer]}"
        )
        print_table(HEAD, map(cells, rows))
    failed = next((one.failure for one in claude.outcomes if one.failure), None) if claude else None
    tell(claude, failed)
    return int(failed is not None)


def cells(row: Row) -> tuple[str, ...]:
    """A row as the columns of `HEAD`."""
    return (
        row.name,
        f"{row.tokens_whole:,} → {row.tokens_end:,}",
        f"{row.ratio:.0%}",
        str(len(row.steps)),
        _or_none(row.first_trigger),
        f"{row.calls_over} of {row.calls}",
        str(row.asked),
        f"{row.sent_tokens:,}",
        _or_none(row.cache_break),
        f"{row.human_kept} of {row.human_lines}",
        _or_none(row.anchors),
        str(row.mended),
        *(_share(share) for share in (row.in_view, row.in_files, row.lost)),
        f"{row.nanoseconds / 1e6:,.0f}",
    )


def _or_none(value: int | None) -> str:
    return "–" if value is None else str(value)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def row_json(row: Row) -> dict[str, Any]:
    """A row for scripts, with each compaction and the facts it lost."""
    return {
        **asdict(row),
        "ratio": row.ratio,
        "first_trigger": row.first_trigger,
        "cache_break": row.cache_break,
        "mended": row.mended,
        "in_view": row.in_view,
        "in_files": row.in_files,
        "lost": row.lost,
    }


COMMAND = Command(
    name="compare",
    summary="play a session back under several strategies, and compare; writes nothing",
    add_arguments=_add_arguments,
    run=_run,
)
