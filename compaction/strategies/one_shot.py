"""The older default: above 80 % of the window, everything but the tail becomes one summary."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.budget import cut_to_budget, forced_cut
from compaction.messages import Message
from compaction.ports import Ports
from compaction.provenance import Draft
from compaction.repair import repair
from compaction.settings import Settings
from compaction.split import split
from compaction.strategies.progressive import replace_range
from compaction.summary import ONE_SHOT_MARKER, SummaryRequest
from compaction.tokens import estimate


def compact(
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports,
    *,
    forced: bool = False,
    plan: str = "",
) -> Draft:
    """The conversation with its head summarised, if it is over the trigger or `forced`.

    An earlier summary in the head is taken out and continued instead of being summarised again.
    `plan` is the text of the active task list, appended to the summary. Where the summary fails,
    the conversation is cut instead: to the budget, or by force when `forced`.
    """
    draft = Draft.of(messages)
    parts = split(messages, 1 if forced else settings.tail)
    if parts is None or not (forced or estimate(messages) > settings.budget):
        return draft
    head = draft.messages[parts.head.start : parts.head.stop]
    answer = _ask(head, ports)
    if answer is None:
        if forced:
            return forced_cut(draft, settings.rules.forced_cut, settings.budget)
        return cut_to_budget(draft, settings.budget)
    text = f"{ONE_SHOT_MARKER}\n{answer.content}"
    if plan:
        text += f"\n\n## Active Tasks\n{plan}"
    return repair(replace_range(draft, parts.head, Message("user", text)))


def _ask(head: Sequence[Message], ports: Ports) -> Message | None:
    if ports.summariser is None:
        return None
    earlier = [message for message in head if message.content.startswith(ONE_SHOT_MARKER)]
    fresh = tuple(m for m in head if not m.content.startswith(ONE_SHOT_MARKER))
    previous = earlier[-1].content.removeprefix(ONE_SHOT_MARKER + "\n") if earlier else ""
    try:
        return ports.summariser.summarise(SummaryRequest(fresh, previous))
    except Exception:  # whatever a summariser raises, the session goes on
        return None
