"""A provider's conversation beside the engine's view of it, and the way back.

The provider's dicts stay the truth: they hold what a `Message` has no room for. Of each engine
message it is known which dict, and which blocks of it, it was read from; on the way back the
`Draft` says what became of each. A dict of which everything was kept returns as the same object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.messages import Message
from compaction.provenance import Draft, Fate
from compaction.tokens import Count, TokenCounter, measured

Json = dict[str, Any]
"""A JSON object as the providers' libraries take and give it."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one engine message was read from."""

    at: int | None
    """Index of the provider's message; None for a system prompt that is not among them."""
    blocks: tuple[Json, ...] = ()
    """The blocks of its content, where it has any."""
    unseen: int = 0
    """Estimated tokens of what the engine's text does not hold: images, files, thinking."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A provider's conversation, read for the engine; made by `from_anthropic`, `from_openai`."""

    messages: tuple[Message, ...]
    """What to compact. The system message comes first; where there is none, an empty one stands in
    for it, since the engine takes the first message for the system's."""
    parts: tuple[Part, ...]
    """One for each of the `messages`."""
    original: tuple[Json, ...]
    """The provider's messages, the same objects as were read."""
    system: str | list[Json] | None = None
    """The system prompt where it travels apart, as it was read."""

    @property
    def unseen_tokens(self) -> int:
        """Estimated tokens of images, files and thinking, which fill the window beside the text.

        Take them off `Settings.context_window`, or count with `counted_by`.
        """
        return sum(part.unseen for part in self.parts)

    def counted_by(self, counter: TokenCounter) -> TokenCounter:
        """`counter`, adding to each message of this chat what its text does not hold."""
        unseen = {
            message: part.unseen
            for message, part in zip(self.messages, self.parts, strict=True)
            if part.unseen
        }
        return _WithUnseen(counter, unseen)


class _WithUnseen:
    def __init__(self, counter: TokenCounter, unseen: Mapping[Message, int]) -> None:
        self.name = f"{counter.name} and images"
        self._counter = counter
        self._unseen = unseen

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of all `messages`, with images, files and thinking."""
        return self.measure(messages).tokens

    def measure(self, messages: Sequence[Message]) -> Count:
        """The same, flagged: the size of an image is always an estimate."""
        text = measured(self._counter, messages)
        more = sum(self._unseen.get(message, 0) for message in messages)
        extra = Count(more, is_exact=not more, why="images and files are estimated" * bool(more))
        return Count.total([text, extra])


@dataclass(frozen=True, slots=True)
class Written:
    """A conversation in a provider's format again."""

    messages: list[Json]
    system: str | list[Json] | None = None
    first_change: int | None = None
    """Index of the first message that differs from what was read, or 0 if the system prompt does;
    None when nothing does. A prompt cache holds up to there."""
    thinking_dropped: int = 0
    """How many thinking blocks were left out."""

    @property
    def request(self) -> Json:
        """What to pass to the client: `messages`, and `system` where there is one."""
        apart = {"system": self.system} if self.system is not None else {}
        return {"messages": self.messages, **apart}


@dataclass(frozen=True, slots=True)
class Piece:
    """One engine message on its way back."""

    message: Message
    source: int | None = None
    """The message of the chat that it is, or stands for alone; None for one that is new."""
    is_changed: bool = False


def pieces(chat: Chat, draft: Draft) -> Iterator[Piece]:
    """The draft's messages with what each was read from.

    Raises ValueError where the draft is not of this chat.
    """
    count = len(chat.messages)
    for slot in draft.slots:
        if any(source >= count for source in slot.sources):
            raise ValueError(
                f"the draft is not of this chat: it has a message {max(slot.sources)}, "
                f"the chat has {count}"
            )
        if slot.fate in (Fate.KEPT, Fate.OFFLOADED, Fate.TRIMMED):
            (source,) = slot.sources
            yield Piece(slot.message, source, slot.message != chat.messages[source])
        else:
            yield Piece(slot.message)


def first_change(now: Sequence[Json], before: Sequence[Json]) -> int | None:
    """Where two conversations part; None if they are the same objects throughout."""
    for index, (one, other) in enumerate(zip(now, before, strict=False)):
        if one is not other:
            return index
    return None if len(now) == len(before) else min(len(now), len(before))


def expect(value: Any, kind: type | tuple[type, ...], where: str, what: str) -> Any:
    """`value`, if it is of that kind. Raises ValueError naming the field and what it should be."""
    if not isinstance(value, kind):
        given = "missing" if value is None else f"{type(value).__name__} given"
        raise ValueError(f"{where}: {what} expected, {given}")
    return value


def named(value: Any, where: str) -> str:
    """A string that is not empty. Raises ValueError naming the field."""
    if expect(value, str, where, "text") == "":
        raise ValueError(f"{where}: must not be empty")
    return str(value)
