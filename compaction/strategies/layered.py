"""Five layers, the mildest first, until the budget holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction.compose import compose
from compaction.messages import Message
from compaction.offload import Gate, offload
from compaction.ports import Ports
from compaction.provenance import Draft
from compaction.result import Memory
from compaction.rounds import marked, recent_from
from compaction.settings import Settings
from compaction.strategies import rolling, sparse, trimming, vector
from compaction.strategies.budget import TOO_LARGE, allowed_bytes
from compaction.strategies.contract import Options, Outcome, Strategy
from compaction.strategies.options import BUDGET, DIGEST, TRIM, rounds
from compaction.tokens import message_bytes

_NEAR_ROUNDS = 3
"""What the later layers keep: the last turns of the chain of thought."""


@dataclass(frozen=True, slots=True)
class _Layer:
    name: str
    strategy: Strategy
    values: Mapping[str, Any]


def _layers(options: Options) -> tuple[_Layer, ...]:
    keep = {"rounds": options["rounds"]}
    near = {"rounds": min(_NEAR_ROUNDS, options["rounds"])}
    trims = {name: options[name] for name in ("trim_over", "trim_head", "trim_tail")}
    extracts = {**trims, "digest_bytes": options["digest_bytes"]}
    return (
        _Layer("trim", trimming.STRATEGY, {**keep, **trims}),
        _Layer("sparse", sparse.STRATEGY, {**keep, **extracts}),
        _Layer("window with summary", rolling.STRATEGY, keep),
        _Layer("rolling summary", rolling.STRATEGY, near),
        _Layer("recall", vector.STRATEGY, {"rounds": 1, "budget": options["budget"]}),
    )


def _run(
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports,
    memory: Memory,
    options: Options,
) -> Outcome:
    so_far = Outcome(Draft.of(messages), memory)
    room = allowed_bytes(settings, options)
    if room <= 0 or _fits(so_far.draft, room):
        return so_far
    so_far = _offloaded(so_far, settings, ports, options)
    for layer in _layers(options):
        if _fits(so_far.draft, room):
            break
        so_far = _then(so_far, layer, settings, ports)
    error = "" if _fits(so_far.draft, room) else so_far.error or TOO_LARGE
    return replace(so_far, error=error)


def _fits(draft: Draft, room: int) -> bool:
    return sum(map(message_bytes, draft.messages)) <= room


def _offloaded(so_far: Outcome, settings: Settings, ports: Ports, options: Options) -> Outcome:
    messages = so_far.draft.messages
    kept = marked(messages, ports.keep)
    older = [i for i in range(recent_from(messages, options["rounds"])) if i not in kept]
    gate = Gate(settings.session_id, settings.offloader_bytes, settings.preview_lines)
    moved = offload(
        so_far.draft, older, settings.offload_bytes, gate, ports.offloads, so_far.memory.written
    )
    return replace(
        so_far,
        draft=moved.draft,
        memory=replace(so_far.memory, written=moved.written),
        offloaded=moved.entries,
        ran=("offload",) if moved.entries else (),
    )


def _then(so_far: Outcome, layer: _Layer, settings: Settings, ports: Ports) -> Outcome:
    """One more layer on what the earlier ones left."""
    options = layer.strategy.read(layer.values)
    view = so_far.draft.messages
    step = layer.strategy.run(view, settings, ports, so_far.memory, options)
    if step.draft.messages == view:
        return replace(so_far, error=step.error or so_far.error)
    return replace(
        so_far,
        draft=compose(so_far.draft, step.draft),
        memory=step.memory,
        error=step.error,
        calls=so_far.calls + step.calls,
        sent_bytes=so_far.sent_bytes + step.sent_bytes,
        ran=(*so_far.ran, layer.name),
    )


STRATEGY = Strategy(
    name="layered",
    label="Five layers",
    says="When a budget has to hold and as little as possible should go for it.",
    loses="Nothing that a milder layer saves; in the end all but what is similar to the task.",
    fields=(rounds(8), BUDGET, *TRIM, DIGEST),
    run=_run,
)
