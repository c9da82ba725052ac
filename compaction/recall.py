"""Carry-over recall: of the facts the model needed again after a cut, how many it still had.

A fact is a path, an identifier, a number, an error's name or a quoted string. It is carried over a
cut if it occurs before it and the next to mention it after the cut is the model itself: had a tool
or a person said it again first, it need not have been remembered. `docs/measures.md` has the limits
of this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from compaction.messages import Message

_TOKEN = re.compile(r"[\w~/][\w./:@~-]{2,}", re.ASCII)
_QUOTED = re.compile(r'"([^"\n]{3,80})"|`([^`\n]{3,80})`|“([^”\n]{2,80})”|「([^」\n]{2,80})」')
_LONGEST = 100
_HUMP = re.compile(r"[a-z][A-Z]")
_DIGITS = re.compile(r"\d{3}|\d[.:]\d")
_DOTTED = re.compile(r"\w{2}\.[A-Za-z]\w|\w\.[A-Za-z]{1,4}$", re.ASCII)


def facts_in(text: str) -> frozenset[str]:
    """The concrete facts that a text mentions."""
    return frozenset(_facts(text))


def _facts(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(".:-/@")
        if len(token) <= _LONGEST and _is_concrete(token):
            yield token
    for match in _QUOTED.finditer(text):
        quoted = match[match.lastindex or 0].strip()
        # One plain word between quotes is more often a key than a fact.
        if not (quoted.isascii() and quoted.isalpha()):
            yield quoted


def _is_concrete(token: str) -> bool:
    return (
        "/" in token.strip("/")
        or "_" in token.strip("_")
        or bool(_DIGITS.search(token) or _HUMP.search(token) or _DOTTED.search(token))
        or (token.startswith("/") and len(token) > 3)
    )


def facts_of(message: Message) -> frozenset[str]:
    """The facts in a message's text and in the arguments of its calls."""
    arguments = (facts_in(_plain(call.arguments)) for call in message.tool_calls)
    return facts_in(message.content).union(*arguments)


def _plain(arguments: str) -> str:
    """Arguments as their values read, without the keys and escapes of JSON."""
    try:
        return "\n".join(_values(json.loads(arguments)))
    except (ValueError, RecursionError):
        return arguments


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _values(item)
    else:
        yield str(value)


class FactReader:
    """Reads each message once, however many views it stands in."""

    def __init__(self) -> None:
        self._read: dict[Message, frozenset[str]] = {}

    def of(self, messages: Iterable[Message]) -> set[str]:
        """All facts of these messages."""
        return set().union(*map(self.one, messages))

    def one(self, message: Message) -> frozenset[str]:
        """The facts of one message."""
        found = self._read.get(message)
        if found is None:
            found = self._read[message] = facts_of(message)
        return found


@dataclass(frozen=True, slots=True)
class _Need:
    """A fact last mentioned in one message that the model takes up again in a later one."""

    fact: str
    mentioned: int
    used: int


@dataclass(frozen=True, slots=True)
class Recall:
    """What became of the facts that were carried over a cut."""

    in_view: tuple[str, ...] = ()
    retrievable: tuple[str, ...] = ()
    """Not in view, but in a file whose path is."""
    lost: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many facts were carried over."""
        return len(self.in_view) + len(self.retrievable) + len(self.lost)


class Needs:
    """What a session's model took up again, and from where."""

    def __init__(self, messages: Sequence[Message], reader: FactReader) -> None:
        self._needs = tuple(_needs(messages, reader))

    def __len__(self) -> int:
        return len(self._needs)

    def over(self, cut: int, until: int | None = None) -> list[str]:
        """The facts carried over a cut: mentioned before message `cut`, used again from it on.

        With `until` only those that are used before that message.
        """
        return [
            need.fact
            for need in self._needs
            if need.mentioned < cut <= need.used and (until is None or need.used < until)
        ]

    def recall(
        self,
        cut: int,
        view: AbstractSet[str],
        files: AbstractSet[str],
        until: int | None = None,
    ) -> Recall:
        """What a compaction at `cut` left of them. `view` and `files` are the facts in each."""
        carried = sorted(self.over(cut, until))
        return Recall(
            tuple(fact for fact in carried if fact in view),
            tuple(fact for fact in carried if fact not in view and fact in files),
            tuple(fact for fact in carried if fact not in view and fact not in files),
        )


def _needs(messages: Sequence[Message], reader: FactReader) -> Iterator[_Need]:
    last: dict[str, int] = {}
    for index, message in enumerate(messages):
        for fact in reader.one(message):
            if message.role == "assistant" and fact in last:
                yield _Need(fact, last[fact], index)
            last[fact] = index


def recall(
    messages: Sequence[Message],
    cut: int,
    view: Sequence[Message],
    files: Mapping[str, str] | None = None,
) -> Recall:
    """What `view`, a compaction of `messages[:cut]`, left of what is used in `messages[cut:]`.

    `files` are offloaded texts by path. For many cuts of one session, keep `Needs` instead.
    """
    reader = FactReader()
    stored = set().union(*map(facts_in, (files or {}).values()))
    return Needs(messages, reader).recall(cut, reader.of(view), stored)
