"""Sliding window: the newest rounds whole, everything older gone."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.messages import Message
from compaction.ports import Ports
from compaction.provenance import Draft
from compaction.result import Memory
from compaction.rounds import marked, pinned, recent_from
from compaction.settings import Settings
from compaction.strategies.contract import Options, Outcome, Strategy
from compaction.strategies.options import rounds


def _run(
    messages: Sequence[Message],
    settings: Settings,  # noqa: ARG001 - counts rounds, not tokens
    ports: Ports,
    memory: Memory,
    options: Options,
) -> Outcome:
    start, pins = recent_from(messages, options["rounds"]), pinned(messages)
    pins |= marked(messages, ports.keep)
    wanted = [index >= start or index in pins for index in range(len(messages))]
    return Outcome(Draft.of(messages).keep(wanted, "older than the window"), memory)


STRATEGY = Strategy(
    name="sliding-window",
    label="Sliding window",
    says="Short, independent requests; and whatever else failed, since it always works.",
    loses="Everything before the window but the task and the newest human line.",
    fields=(rounds(8),),
    run=_run,
)
