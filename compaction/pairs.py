"""Tool calls and results in pairs by position, as a provider asks: each call's results come next.

`repair` compares sets of ids, as the original does; a result that stands in the wrong place passes
there, and the provider refuses the list. Here it is put in its place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from compaction.messages import Message, ToolCall
from compaction.provenance import Draft, Fate, Slot, dropped
from compaction.repair import UNAVAILABLE
from compaction.runs import joined

NO_CALL = "its tool call is gone"
SECOND_RESULT = "its tool call is answered already"
CAME_LATER = "the real result came later"
NO_ID = "a tool call without an id cannot be answered"
MOVED = "moved to its tool call"


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """The tool calls that the next messages must answer, in their order."""
    return message.tool_calls if message.role == "assistant" and not is_result(message) else ()


def is_result(message: Message) -> bool:
    """Whether it stands for the answer to a tool call; a system message never does."""
    return message.is_tool_result and not message.is_system


def broken_pairs(messages: Sequence[Message]) -> list[str]:
    """Every place where a call and its result do not stand as they must; empty when valid.

    After an assistant message with n calls the next n messages are their results, one each, in any
    order, and no result stands anywhere else. Calls that the end of the list leaves open are
    pending, which is no fault.
    """
    return list(_faults(messages))


def _faults(messages: Sequence[Message]) -> Iterator[str]:
    waiting: Counter[str] = Counter()
    for index, message in enumerate(messages):
        if is_result(message):
            if waiting[message.tool_call_id] > 0:
                waiting[message.tool_call_id] -= 1
            else:
                yield f"message {index} answers {message.tool_call_id!r}, which waits for nothing"
            continue
        if waiting:
            yield from (f"call {it!r} before message {index} is open" for it in waiting.elements())
            waiting = Counter()
        if calls := calls_of(message):
            waiting = Counter(call.id for call in calls)
            if waiting.pop("", 0):
                yield f"message {index} calls a tool without an id"


def mend(draft: Draft) -> Draft:
    """The draft with every result directly behind its call; itself where that is so already.

    A real result is moved to its place however far off it stands; of several calls with its id the
    nearest before it that is still open gets it. A result without such a call is left out. A call
    without a result gets one marked placeholder, unless the list ends in it: then it is pending,
    and its result may still come. A placeholder gives way to the real result.
    """
    if not broken_pairs(draft.messages):
        return draft
    named = _with_ids(draft)
    pairing = _paired(named.messages)
    drops = (dropped([named.slots[at]], why) for at, why in sorted(pairing.refused.items()))
    return Draft(joined(*_in_pairs(named.slots, pairing)), joined(named.drops, *drops))


def _with_ids(draft: Draft) -> Draft:
    """Without the calls that no result could name, and the messages that were nothing else."""
    if all(call.id for message in draft.messages for call in calls_of(message)):
        return draft
    slots: list[Slot] = []
    drops = draft.drops
    for slot in draft.slots:
        message, calls = slot.message, calls_of(slot.message)
        if all(call.id for call in calls):
            slots.append(slot)
            continue
        rest = tuple(call for call in calls if call.id)
        if rest or message.content:
            fate = Fate.TRIMMED if slot.fate is Fate.KEPT else slot.fate
            named = replace(message, tool_calls=rest)
            slots.append(replace(slot, message=named, fate=fate, reason=slot.reason or NO_ID))
        else:
            drops = joined(drops, dropped([slot], NO_ID))
    return Draft(tuple(slots), drops)


@dataclass(slots=True)
class _Pairing:
    """Which slot answers which call."""

    answers: dict[int, list[int | None]] = field(default_factory=dict)
    """Slot of every message that is no result, in order, to the slots that answer its calls."""
    refused: dict[int, str] = field(default_factory=dict)
    """Slots of results that answer nothing, and why."""


def _paired(messages: Sequence[Message]) -> _Pairing:
    pairing = _Pairing()
    # By id, the calls so far that are open, or answered by a placeholder only; nearest last.
    open_calls: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    made_up: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    known: set[str] = set()
    for at, message in enumerate(messages):
        call_id = message.tool_call_id
        if not is_result(message):
            calls = calls_of(message)
            pairing.answers[at] = [None] * len(calls)
            for number in reversed(range(len(calls))):
                open_calls[calls[number].id].append((at, number))
                known.add(calls[number].id)
            continue
        is_real = message.content != UNAVAILABLE
        if open_calls[call_id]:
            caller, number = open_calls[call_id].pop()
            if not is_real:
                made_up[call_id].append((caller, number))
        elif made_up[call_id] and is_real:
            caller, number = made_up[call_id].pop()
            stand_in = pairing.answers[caller][number]
            if stand_in is not None:
                pairing.refused[stand_in] = CAME_LATER
        else:
            pairing.refused[at] = SECOND_RESULT if call_id in known else NO_CALL
            continue
        pairing.answers[caller][number] = at
    return pairing


def _in_pairs(slots: Sequence[Slot], pairing: _Pairing) -> Iterator[Sequence[Slot]]:
    """The slots with every call's results behind it: what is so already in stretches, as it is."""
    start = stop = 0
    last = max(pairing.answers, default=0)
    for at, answers in pairing.answers.items():
        if at != stop:
            yield slots[start:stop]
            start = at
        stop = at + 1
        if _is_in_place(answers, at):
            stop += len(answers)
            continue
        yield slots[start:stop]
        yield tuple(_answers(slots, at, answers, is_last=at == last))
        start = stop
    yield slots[start:stop]


def _is_in_place(answers: Sequence[int | None], at: int) -> bool:
    """Whether they are all there: tools that ran side by side may have ended in any order."""
    found = [place for place in answers if place is not None]
    return sorted(found) == list(range(at + 1, at + 1 + len(answers)))


def _answers(
    slots: Sequence[Slot], at: int, answers: Sequence[int | None], *, is_last: bool
) -> Iterator[Slot]:
    calls = calls_of(slots[at].message)
    for number, (call, place) in enumerate(zip(calls, answers, strict=True)):
        if place is not None:
            slot = slots[place]
            is_in_place = place == at + 1 + number
            yield slot if is_in_place or slot.reason else replace(slot, reason=MOVED)
        elif not is_last:
            placeholder = Message("user", UNAVAILABLE, tool_call_id=call.id)
            yield Slot(placeholder, Fate.INSERTED, reason="its result is gone")
