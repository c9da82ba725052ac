"""`anchorline diff FOLDER SESSION N`: complete history against compacted view, in lines."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.commands.command import Command, add_session_arguments, compaction_number

if TYPE_CHECKING:
    from app.services.diff import Cell, Row

_SIGNS = {
    "kept": " ",
    "offloaded": "~",
    "trimmed": "~",
    "summarised": "⇒",
    "dropped": "-",
    "inserted": "+",
}


def _add_arguments(parser: ArgumentParser) -> None:
    add_session_arguments(parser)
    parser.add_argument(
        "n", metavar="N", type=compaction_number, help="number of the compaction, from 1"
    )


def _run(args: Namespace) -> int:
    from app.commands.compactions import compaction_json
    from app.commands.output import draft_json, message_json, print_json, session_of
    from app.services.compactions import entries, sides_of, verdict_of
    from app.services.diff import diff
    from app.text import count

    session = session_of(args)
    verdict = verdict_of(session, args.n)
    entry, view = entries(session)[args.n - 1], verdict.view()
    if args.json:
        shared = compaction_json(entry, verdict.record)
        if view is None:
            print_json({**shared, "before": None, "after": None, "drops": None})
            return 0
        before = [
            {"index": index, "known": index not in view.unknown, **message_json(message)}
            for index, message in enumerate(view.before)
        ]
        print_json({**shared, "before": before, **draft_json(view.draft)})
        return 0
    print(
        f"{entry.tier_label}: {count(entry.tokens_before)} → {count(entry.tokens_after)} tokens "
        "(reported), "
        f"{entry.msgs_before} → {entry.msgs_after} messages; {entry.evidence}: {entry.reason}"
    )
    if view is not None:
        for row in diff(sides_of(session, verdict.record, view)).rows:
            for line in _lines(row):
                print(line)
    return 0


def _lines(row: Row) -> Iterator[str]:
    from app.services.diff import Cell, Gap
    from app.text import count, plural

    sign = _SIGNS[row.fate]
    if row.fold:
        unchanged = plural(row.fold.count, "unchanged message", "unchanged messages")
        yield f"  … {unchanged}, {count(row.fold.tokens)} tokens (est.)"
        return
    for item in row.left:
        if isinstance(item, Cell):
            number = "" if item.number is None else f"#{item.number} "
            yield f"{sign} {number}{item.kind}: {_glimpse(item)}"
        elif isinstance(item, Gap):
            gone = plural(item.count, "message that is", "messages that are")
            yield f"{sign} … {gone} not in the store"
        else:
            more = plural(item.count, "more message", "more messages")
            yield f"{sign} … {more}, {count(item.tokens)} tokens (est.)"
    if row.right and row.fate != "kept":
        yield f"+ {row.right.kind}: {_glimpse(row.right)}"


def _glimpse(cell: Cell) -> str:
    from app.text import first_line, shortened

    said = cell.compaction
    text = cell.body.text
    if said is not None:
        text = " / ".join(f"{a.heading}: {first_line(a.text.text)}" for a in said.anchors)
    calls = ", ".join(f"{call.name} {call.arguments}" for call in cell.calls)
    return shortened(first_line(text or calls), 100)


COMMAND = Command(
    name="diff",
    summary="show one recorded compaction as a diff",
    add_arguments=_add_arguments,
    run=_run,
)
