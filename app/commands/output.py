"""How commands print: JSON for programs, aligned columns for people, notices on stderr."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from app.commands.command import home_of
from app.services import Services, build
from app.sources.model import Damage, Session
from app.text import count, printable, shortened
from compaction.messages import Message
from compaction.provenance import Draft

Json = dict[str, Any]

_WIDEST = 60


def services_of(args: Namespace) -> Services:
    """The services over the folder that was named."""
    return build(args.folder, home_of(args))


def session_of(args: Namespace) -> Session:
    """The session that was named; what of it could not be read is said on stderr."""
    services = services_of(args)
    session = services.session(services.workspace.resolve(args.session))
    warn(session.damage)
    return session


def warn(damage: Iterable[Damage]) -> None:
    """Say on stderr what could not be read."""
    for one in damage:
        place = f"{one.path}:{one.line}" if one.line else str(one.path)
        print(f"anchorline: {printable(place)}: {printable(one.says)}", file=sys.stderr)


def print_json(value: Json | Sequence[Json]) -> None:
    """`value` in ASCII: a terminal's encoding cannot then spoil what a program reads."""
    print(json.dumps(value, indent=2))


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns, each as wide as its longest cell; those of numbers stand to the right."""
    values = [tuple(row) for row in rows]
    columns = [
        _aligned([title, *map(_cell, column)], all(isinstance(value, int) for value in column))
        for title, *column in zip(head, *values, strict=True)
    ]
    for line in zip(*columns, strict=True):
        print("  ".join(line).rstrip())


def _aligned(texts: Sequence[str], to_the_right: bool) -> list[str]:
    width = max(map(len, texts))
    return [text.rjust(width) if to_the_right else text.ljust(width) for text in texts]


def _cell(value: object) -> str:
    if isinstance(value, int):
        return count(value)
    return shortened(printable(str(value)).replace("\n", " "), _WIDEST)


def message_json(message: Message) -> Json:
    """A message in harness9's own shape; arguments stay raw text."""
    data: Json = {"role": message.role, "content": message.content}
    if message.tool_calls:
        data["tool_calls"] = [asdict(call) for call in message.tool_calls]
    if message.tool_call_id:
        data["tool_call_id"] = message.tool_call_id
    return data


def draft_json(draft: Draft) -> Json:
    """A compacted view with where each of its messages came from, and what left no trace."""
    return {
        "after": [
            {
                "fate": slot.fate.value,
                "sources": list(slot.sources),
                "reason": slot.reason,
                **message_json(slot.message),
            }
            for slot in draft.slots
        ],
        "drops": [{"source": drop.source, "reason": drop.reason} for drop in draft.drops],
    }
