"""What a summariser is asked, and the message its answer becomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compaction.anchors import HEADINGS, Anchor, render
from compaction.messages import Message
from compaction.records import OffloadEntry

COMPACTION_MARKER = "[Context Compaction]"
ONE_SHOT_MARKER = "[Conversation Summary]"

_SHAPE = "\n\n".join(
    ["## Anchors", *(f"### {heading}\n- …" for heading in HEADINGS.values()), "## Summary\n…"]
)

_RULES = f"""\
You condense the older part of a working session between a person, a coding agent and its tools, so
that the agent can carry on without it. Answer in exactly this shape and with nothing around it:

{_SHAPE}

Write all five sections, in this order, one fact per line. Keep names, paths, identifiers, numbers
and error texts as they are. Where a section has nothing to say, write N/A. An entry that begins
with [offloaded: stands for a large output that was saved to the file it names: keep the path."""

_FIRST = "Condense this part of the session:\n\n<session>\n{conversation}\n</session>"

_INCREMENTAL = """\
This is what was condensed earlier:

<previous>
{previous}
</previous>

Bring it up to date with what happened since, in the same shape. Keep what still holds, replace what
has changed:

<session>
{conversation}
</session>"""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One question to a summariser: a first summary, or one that continues a previous one."""

    messages: tuple[Message, ...]
    """The part to condense."""
    previous: str = ""
    """The previous compaction as text; non-empty makes the request incremental."""

    @property
    def conversation(self) -> str:
        """The part to condense as text, one line per item; see `as_text`."""
        return as_text(self.messages)

    @property
    def is_incremental(self) -> bool:
        """Whether it continues an earlier compaction."""
        return self.previous != ""

    @property
    def system_prompt(self) -> str:
        """What is asked for, and in which shape; the same for every request."""
        return _RULES

    @property
    def user_prompt(self) -> str:
        """The text to condense, with the previous compaction where there is one."""
        template = _INCREMENTAL if self.is_incremental else _FIRST
        return template.format(previous=self.previous, conversation=self.conversation)


def as_text(messages: Iterable[Message]) -> str:
    """A conversation as a summariser reads it: one line per result, text and tool call."""
    return "\n".join(line for message in messages for line in _lines(message))


def _lines(message: Message) -> Iterator[str]:
    if message.is_tool_result:
        yield f"[tool_result {message.tool_call_id}]: {message.content}"
        return
    if message.content:
        yield f"[{message.role}]: {message.content}"
    for call in message.tool_calls:
        yield f"[tool_call {call.name}({call.id})]: {call.arguments}"


def previous_text(summary: str, anchors: Sequence[Anchor]) -> str:
    """The last compaction as an incremental request quotes it; empty where there is none."""
    if not summary or not anchors:
        return summary
    return f"{render(anchors)}\n\n## Summary\n{summary}"


def compaction_message(
    anchors: Sequence[Anchor], summary: str, offloaded: Sequence[OffloadEntry]
) -> Message:
    """The message that takes the place of everything summarised."""
    text = f"{COMPACTION_MARKER}\n## Anchors\n\n{render(anchors)}\n\n## Summary\n{summary}"
    if offloaded:
        references = "".join(
            f"- {entry.file_path} ({entry.lines}行) - offloaded tool result\n"
            for entry in offloaded
        )
        text += f"\n\n## Offloaded References\n{references}"
    return Message("user", text)
