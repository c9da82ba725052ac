"""What was said: the messages of a conversation, as immutable values."""

from __future__ import annotations

from dataclasses import dataclass


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
