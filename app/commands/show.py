"""`anchorline show FOLDER SESSION`: a session's messages as they are stored."""

from __future__ import annotations

from argparse import Namespace

from app.commands.command import Command, add_session_arguments


def _run(args: Namespace) -> int:
    from dataclasses import asdict

    from app.commands.output import message_json, print_json, session_of
    from app.services.messages import kind_of
    from app.text import printable

    session = session_of(args)
    if args.json:
        print_json(
            {
                "id": session.info.id,
                "title": session.info.title,
                "created_at": session.info.created_at,
                "updated_at": session.info.updated_at,
                "generation": session.generation.value,
                "generation_reason": session.generation_reason,
                "messages": [
                    {"n": n, **message_json(row.message), "created_at": row.created_at}
                    for n, row in enumerate(session.rows, start=1)
                ],
                "records": len(session.records.lines),
                "offloads": [
                    {"tool_call_id": o.tool_call_id, "path": str(o.path), "bytes": o.size}
                    for o in session.offloads
                ],
                "plans": [asdict(plan) for plan in session.plans],
                "damage": [
                    {"path": str(d.path), "line": d.line, "says": d.says} for d in session.damage
                ],
            }
        )
        return 0
    for n, row in enumerate(session.rows, start=1):
        message = row.message
        answers = f" of {printable(message.tool_call_id)}" if message.is_tool_result else ""
        print(f"#{n} {kind_of(message)}{answers}")
        lines = printable(message.content).split("\n") if message.content else []
        calls = [f"→ {printable(c.name)} {printable(c.arguments)}" for c in message.tool_calls]
        for line in (*lines, *calls):
            print(f"    {line}")
    return 0


COMMAND = Command(
    name="show",
    summary="print a session's messages",
    add_arguments=add_session_arguments,
    run=_run,
)
