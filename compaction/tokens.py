"""How large a conversation is: the byte-quarter estimate and the ports for other counters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol, runtime_checkable

from compaction.gojson import go_json
from compaction.messages import Message
from compaction.utf8 import byte_length

BYTES_PER_TOKEN = 4


class TokenCounter(Protocol):
    """Counts the tokens of a conversation."""

    name: str

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of all `messages` together."""
        ...


@dataclass(frozen=True, slots=True)
class Count:
    """A number of tokens, and how far it may be trusted."""

    tokens: int
    is_exact: bool = True
    """Whether all of the text was counted with the counter's own vocabulary."""
    why: str = ""
    """Why it is not exact."""

    @classmethod
    def total(cls, counts: Iterable[Count]) -> Count:
        """All of them together; the first reason stands for all."""
        tokens, inexact = 0, None
        for count in counts:
            tokens += count.tokens
            if inexact is None and not count.is_exact:
                inexact = count
        return cls(tokens, inexact is None, inexact.why if inexact else "")


@runtime_checkable
class FlaggedCounter(TokenCounter, Protocol):
    """A counter that can say whether it counted or estimated."""

    def measure(self, messages: Sequence[Message]) -> Count:
        """Tokens of all `messages` together, flagged where they are an estimate."""
        ...


def measured(counter: TokenCounter, messages: Sequence[Message]) -> Count:
    """What `counter` makes of the messages; of one that cannot say, an estimate."""
    if isinstance(counter, FlaggedCounter):
        return counter.measure(messages)
    return Count(counter.count(messages), is_exact=False, why=f"{counter.name} does not say")


def counted_or_estimated(counter: TokenCounter, messages: Sequence[Message]) -> Count:
    """What `counter` makes of the messages, or the estimate where it fails: it may be a service."""
    try:
        count = measured(counter, messages)
        if count.tokens >= 0:
            return count
        why = f"it counted {count.tokens}"
    except Exception as error:  # a counter of the caller's may raise anything
        why = str(error) or type(error).__name__
    says = f"estimated, since {getattr(counter, 'name', 'the counter')} could not count: {why}"
    return Count(estimate(messages), is_exact=False, why=says)


def message_bytes(message: Message) -> int:
    """UTF-8 bytes of everything the estimate sees; see `Message.bytes`."""
    return message.bytes


def estimate(messages: Iterable[Message]) -> int:
    """Estimated tokens: all bytes of all messages, divided by four *once*, rounded down."""
    return sum(map(message_bytes, messages)) // BYTES_PER_TOKEN


class ByteQuarter:
    """harness9's own counter: UTF-8 bytes over four."""

    name = "bytes/4"

    def count(self, messages: Sequence[Message]) -> int:
        """Estimated tokens of all `messages` together."""
        return estimate(messages)

    def measure(self, messages: Sequence[Message]) -> Count:
        """The same, flagged as the estimate that it is."""
        return Count(estimate(messages), is_exact=False, why="UTF-8 bytes over four")


def prefix_bytes(messages: Iterable[Message]) -> tuple[int, ...]:
    """Running byte totals: entry i is the size of the first i messages, so any range is O(1)."""
    return tuple(accumulate(map(message_bytes, messages), initial=0))


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as it is offered to the model."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] | None = None


def estimate_tools(tools: Iterable[ToolSchema]) -> int:
    """Estimated tokens of tool definitions; they fill the window but never decide the tier."""
    total = 0
    for tool in tools:
        total += byte_length(tool.name) + byte_length(tool.description)
        if tool.input_schema is not None:
            total += byte_length(go_json(tool.input_schema))
    return total // BYTES_PER_TOKEN


def format_count(tokens: int) -> str:
    """A token count as the status line prints it: `950`, `45.2K`, `1.3M`."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.1f}M"
    if tokens >= 1_000:
        return f"{tokens / 1_000:.1f}K"
    return str(tokens)
