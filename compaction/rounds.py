"""Where the rounds of a conversation begin, and which messages no strategy may take away.

A round is one turn of the agent's loop: a model call with its tool results, together with the
human lines that asked for it. So no round begins at a tool result, and a cut between two rounds
parts no call from its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

from compaction.messages import Message
from compaction.pairs import is_result
from compaction.summary import COMPACTION_MARKER, ONE_SHOT_MARKER


def is_summary(message: Message) -> bool:
    """Whether a compaction wrote it: it stands in the person's role, but is not theirs."""
    return message.is_human and message.content.startswith((COMPACTION_MARKER, ONE_SHOT_MARKER))


def is_persons(message: Message) -> bool:
    """Whether the person wrote it."""
    return message.is_human and not is_summary(message)


def units(messages: Sequence[Message]) -> list[range]:
    """The least that may be taken away: a message with the tool results right after it.

    A system message in front belongs to none.
    """
    first = _first(messages)
    starts = [i for i in range(first, len(messages)) if i == first or _opens(messages[i])]
    return [range(start, end) for start, end in pairwise([*starts, len(messages)])]


def round_starts(messages: Sequence[Message]) -> list[int]:
    """The index at which each round begins, oldest first."""
    return list(_round_starts(messages))


def recent_from(messages: Sequence[Message], rounds: int) -> int:
    """The index at which the newest `rounds` begin; the first message that may be cut when there
    are no more than that."""
    starts = round_starts(messages)
    if len(starts) <= rounds:
        return _first(messages)
    return starts[-rounds] if rounds > 0 else len(messages)


def pinned(messages: Sequence[Message]) -> frozenset[int]:
    """What every strategy keeps: the system message in front, the task, the newest human line.

    The task is the person's first line. Where the person has none left, the newest summary stands
    for it.
    """
    pins = set(range(_first(messages)))
    persons = [i for i, message in enumerate(messages) if is_persons(message)]
    if persons:
        pins |= {persons[0], persons[-1]}
    else:
        pins.update([i for i, message in enumerate(messages) if is_summary(message)][-1:])
    return frozenset(pins)


def marked(messages: Sequence[Message], keep: Callable[[Message], bool]) -> frozenset[int]:
    """What the caller wants word for word, with all of its tool batch: a call without its results
    would be no valid prompt."""
    kept = (unit for unit in units(messages) if any(keep(messages[index]) for index in unit))
    return frozenset(chain.from_iterable(kept))


def _first(messages: Sequence[Message]) -> int:
    return 1 if messages and messages[0].is_system else 0


def _opens(message: Message) -> bool:
    return not is_result(message)


def _round_starts(messages: Sequence[Message]) -> Iterator[int]:
    first = _first(messages)
    for index in range(first, len(messages)):
        follows_human = index > first and messages[index - 1].is_human
        if index == first or (_opens(messages[index]) and not follows_human):
            yield index
