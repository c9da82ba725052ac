"""The tier ladder of harness9 under the common contract."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.messages import Message
from compaction.ports import Ports
from compaction.result import Memory
from compaction.settings import Settings
from compaction.strategies.asking import Counting
from compaction.strategies.contract import Options, Outcome, Strategy
from compaction.strategies.progressive import compact


def _run(
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports,
    memory: Memory,
    options: Options,  # noqa: ARG001 - it has none: its numbers are `Settings`
) -> Outcome:
    ports, counting = Counting.within(ports)
    result = compact(messages, settings, ports, memory)
    return Outcome(
        result.draft,
        result.memory,
        result.record.error,
        counting.calls,
        counting.sent_bytes,
        result.record.offloaded or (),
        (result.tier.label.lower(),),
    )


STRATEGY = Strategy(
    name="progressive",
    label="Tier ladder",
    says="Agents with many tools: the fuller the window, the more is taken away.",
    loses="The wording of what is older than the tail; at Emergency nearly everything.",
    fields=(),
    run=_run,
    trigger="warn",
    guarded=False,
)
