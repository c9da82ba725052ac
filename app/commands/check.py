"""`anchorline check FOLDER`: what went wrong with compaction, for people and for CI."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from app.commands.command import Command, add_data_arguments


def _run(args: Namespace) -> int:
    from app.commands.output import print_json, services_of, warn
    from app.services.problems import problems
    from app.text import printable
    from compaction.antipatterns import Severity

    services = services_of(args)
    listing = services.workspace.listing()
    warn(listing.damage)
    found = [
        (info.id, problem)
        for info in listing.sessions
        if info.belongs
        for problem in problems(services.session(info.id))
    ]
    if args.json:
        print_json([{"session_id": session, **asdict(problem)} for session, problem in found])
    for session, problem in found if not args.json else ():
        place = " ".join(filter(None, (session[:8], _where(problem.of, problem.where))))
        print(f"{place}: {problem.severity}: {problem.rule}: {printable(problem.says)}")
        print(f"    {problem.advice}")
    if not found and not args.json:
        print("nothing found")
    return int(any(problem.severity is Severity.ERROR for _, problem in found))


def _where(of: str, numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers[:3])) + ("…" if len(numbers) > 3 else "")
    return f"{of} {shown}".strip()


COMMAND = Command(
    name="check",
    summary="look for compaction's anti-patterns in all sessions; exit code 1 on errors",
    add_arguments=add_data_arguments,
    run=_run,
)
