"""`anchorline compactions FOLDER SESSION`: what each compaction did, and how sure that is."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.commands.command import Command, add_session_arguments

if TYPE_CHECKING:
    from app.services.compactions import Entry
    from compaction.records import CompactionRecord


def _run(args: Namespace) -> int:
    from app.commands.output import print_json, print_table, session_of
    from app.services.compactions import entries
    from app.text import count

    session = session_of(args)
    every = entries(session)
    if args.json:
        records = (verdict.record for verdict in session.account.verdicts)
        print_json([compaction_json(*pair) for pair in zip(every, records, strict=True)])
        return 0
    if not every:
        print("No compaction is recorded in this session.")
        return 0
    print_table(
        ("n", "tier", "tokens (reported)", "messages", "evidence", "what happened"),
        (
            (
                entry.n,
                entry.tier_label,
                f"{count(entry.tokens_before)} → {count(entry.tokens_after)}",
                f"{entry.msgs_before} → {entry.msgs_after}",
                entry.evidence,
                "; ".join(filter(None, (entry.says, entry.error))),
            )
            for entry in every
        ),
    )
    return 0


def compaction_json(entry: Entry, record: CompactionRecord) -> dict[str, Any]:
    """One compaction as scripts get it: the record's own fields, and how much is known."""
    return {
        "n": entry.n,
        "tier": entry.tier,
        "tier_name": entry.tier_label,
        "tokens_before": entry.tokens_before,
        "tokens_after": entry.tokens_after,
        "msgs_before": entry.msgs_before,
        "msgs_after": entry.msgs_after,
        "evidence": entry.evidence,
        "reason": entry.reason,
        "timestamp": record.timestamp,
        "summarized": record.summarized,
        "preserved_tail": record.preserved_tail,
        "offloaded": [asdict(item) for item in record.offloaded or ()],
        "anchors": {anchor.kind: anchor.content for anchor in record.anchors or ()},
        "summary_text": record.summary_text,
        "duration_ns": record.duration,
        "error": record.error,
    }


COMMAND = Command(
    name="compactions",
    summary="list a session's recorded compactions",
    add_arguments=add_session_arguments,
    run=_run,
)
