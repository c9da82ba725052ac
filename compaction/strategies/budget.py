"""Token budget: the newest messages that fit, and what must stay, without a model."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.messages import Message
from compaction.ports import Ports
from compaction.provenance import Draft
from compaction.result import Memory
from compaction.rounds import pinned, units
from compaction.settings import Settings
from compaction.strategies.contract import Options, Outcome, Strategy
from compaction.strategies.options import BUDGET
from compaction.tokens import BYTES_PER_TOKEN, message_bytes

TOO_LARGE = "what must stay is alone over the budget"


def allowed_bytes(settings: Settings, options: Options) -> int:
    """The budget in bytes of the estimate; zero or less where there is no window."""
    return int(settings.context_window * options["budget"]) * BYTES_PER_TOKEN


def _run(
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports,  # noqa: ARG001 - needs nothing of the world
    memory: Memory,
    options: Options,
) -> Outcome:
    room = allowed_bytes(settings, options)
    sizes = list(map(message_bytes, messages))
    draft = Draft.of(messages)
    if room <= 0 or sum(sizes) <= room:
        return Outcome(draft, memory)
    pins = pinned(messages)
    room -= sum(sizes[index] for index in pins)
    wanted = [index in pins for index in range(len(messages))]
    for unit in reversed(units(messages)):
        room -= sum(sizes[index] for index in unit if not wanted[index])
        if room < 0:
            break
        wanted[unit.start : unit.stop] = [True] * len(unit)
    else:
        return Outcome(draft, memory)
    kept = draft.keep(wanted, "over the token budget")
    alone = sum(wanted) == len(pins)
    return Outcome(kept, memory, error=TOO_LARGE if alone else "")


STRATEGY = Strategy(
    name="token-budget",
    label="Token budget",
    says="A hard limit that must hold without a model call; also the last resort of others.",
    loses="Everything but the task, the newest human line and the newest messages that fit.",
    fields=(BUDGET,),
    run=_run,
)
