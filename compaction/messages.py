"""What was said: the messages of a conversation, as immutable values."""

from __future__ import annotations

from dataclasses import dataclass, field

from compaction.utf8 import byte_length


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request by the model to run one tool."""

    id: str
    name: str
    arguments: str = ""
    """The raw JSON as stored: its bytes are what the token estimate counts. Empty when absent."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message, in the form harness9 keeps it.

    A tool result is a *user* message with a `tool_call_id`; there is no tool role.
    """

    role: str
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    _bytes: int = field(default=-1, init=False, repr=False, compare=False)

    @property
    def bytes(self) -> int:
        """UTF-8 bytes of everything the estimate sees: content, calls and result id.

        The role and the message's envelope are free (facts: harness9 §3, *Estimate*). Measured
        when first asked for, and once: every step asks, and a message never changes.
        """
        if self._bytes < 0:
            object.__setattr__(self, "_bytes", _measured(self))
        return self._bytes

    @property
    def is_system(self) -> bool:
        """The instructions that open a conversation."""
        return self.role == "system"

    @property
    def is_tool_result(self) -> bool:
        """An answer to a tool call, whatever its role."""
        return self.tool_call_id != ""

    @property
    def is_human(self) -> bool:
        """Written by the person, or at least in their role: a user message that answers no call."""
        return self.role == "user" and not self.tool_call_id


def _measured(message: Message) -> int:
    size = byte_length(message.content) + byte_length(message.tool_call_id)
    for call in message.tool_calls:
        size += byte_length(call.id) + byte_length(call.name) + byte_length(call.arguments)
    return size
