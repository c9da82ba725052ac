"""Counting for the command line, by a counter of the person's choice."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from app.commands.live import CLAUDE

if TYPE_CHECKING:
    from app.llm.access import Access
    from compaction.messages import Message
    from compaction.tokens import Count, TokenCounter

COUNTERS = {"bytes": "bytes/4", "o200k_base": "o200k_base", "cl100k_base": "cl100k_base"}
"""What is typed, and the counter's own name."""


@dataclass(frozen=True, slots=True)
class Counts:
    """A conversation before and after, without its system prompt, whose text is not known."""

    counter: str
    before: Count
    after: Count


def add_counter_argument(parser: ArgumentParser) -> None:
    """How tokens are counted besides the estimate that decides."""
    parser.add_argument(
        "--counter",
        choices=(*COUNTERS, CLAUDE),
        default="bytes",
        help="count with this as well; claude sends the conversation, and asks first",
    )


def counted(
    name: str, access: Access | None, before: Sequence[Message], after: Sequence[Message]
) -> Counts | None:
    """Both counts; None where only the estimate is wanted, which every record holds."""
    from compaction.tokens import measured

    if name == "bytes":
        return None
    counter = _counter(name, access)
    return Counts(counter.name, measured(counter, said(before)), measured(counter, said(after)))


def _counter(name: str, access: Access | None) -> TokenCounter:
    if name == CLAUDE and access is not None:
        from app.llm.claude_counter import ClaudeCounter

        return ClaudeCounter(access)
    from compaction.counters import counter_named

    return counter_named(COUNTERS[name])


def said(messages: Sequence[Message]) -> list[Message]:
    """The messages whose words are known: a stand-in takes the system prompt's place."""
    return [message for message in messages if not message.is_system]


def announced(access: Access, before: Sequence[Message]) -> str:
    """What counting with Claude sends."""
    from compaction.tokens import estimate

    return (
        f"about {estimate(said(before)):,} tokens (estimated) of the session, and what is left of "
        f"them, go to {access.host} to be counted, free of charge"
    )


def counts_json(counts: Counts) -> dict[str, Any]:
    """Both counts for scripts."""
    return {**asdict(counts), "without_system_prompt": True}


def rows_of(counts: Counts) -> list[tuple[str, str, str]]:
    """Both counts as rows of the comparison."""
    both = (("before", counts.before), ("after", counts.after))
    return [(f"{counts.counter}, {when}", "–", _cell(count)) for when, count in both]


def _cell(count: Count) -> str:
    return f"{count.tokens:,}" if count.is_exact else f"{count.tokens:,} (est.: {count.why})"
