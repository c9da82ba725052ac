"""Rolling summary: everything but the newest rounds becomes one summary that is carried on."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.messages import Message
from compaction.ports import Ports
from compaction.provenance import Draft
from compaction.result import Memory
from compaction.rounds import marked, pinned, recent_from
from compaction.settings import Settings
from compaction.strategies.asking import Counting, stretches, summarise
from compaction.strategies.contract import Options, Outcome, Strategy
from compaction.strategies.options import rounds


def _run(
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports,
    memory: Memory,
    options: Options,
) -> Outcome:
    pins = pinned(messages) | marked(messages, ports.keep)
    older = (i for i in range(recent_from(messages, options["rounds"])) if i not in pins)
    ports, counting = Counting.within(ports)
    asked = summarise(
        Draft.of(messages), stretches(older), messages, ports, memory, settings.summary
    )
    return Outcome(asked.draft, asked.memory, asked.error, counting.calls, counting.sent_bytes)


STRATEGY = Strategy(
    name="rolling-summary",
    label="Rolling summary",
    says="Conversation and planning, where the drift of the talk matters more than its details.",
    loses="Wording, parameters and paths of old rounds, as far as the summary leaves them out.",
    fields=(rounds(8),),
    run=_run,
)
