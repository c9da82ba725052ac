"""How the engine's cost grows with a session: `python benchmarks/engine.py [--quick]`.

Each figure is the best of a few runs; the last columns say how much longer the next size took. A
linear step takes as many times longer as there are times more messages.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1]))

from compaction import (
    HARNESS9_VIEW,
    HARNESS9_WRITEBACK,
    STRATEGIES,
    Draft,
    MemoryOffloads,
    Message,
    Ports,
    Settings,
    SummaryRequest,
    Tier,
    ToolCall,
    compact,
    estimate,
    replay,
)
from compaction.budget import cut_to_budget
from compaction.repair import repair

SIZES = (1_000, 3_000, 10_000)
QUICK = (300, 1_000)
WINDOW = 128_000
SYSTEM = Message("system", "You are a coding agent. " * 160)

Step = Callable[[list[Message]], object]


class Stub:
    """A summariser that costs nothing, so that what is measured is the engine."""

    def summarise(self, request: SummaryRequest) -> Message:  # noqa: ARG002 - the protocol's
        """The same answer to everything."""
        return Message("assistant", "### User Intent\nport it\n\n## Summary\nwork went on")


def session(count: int, seed: int = 9) -> list[Message]:
    """`count` messages as agents leave them: asks, batches of calls, results of many sizes."""
    dice = random.Random(seed)
    said: list[Message] = []
    while len(said) < count:
        said.append(Message("user", "please look into the report " * dice.randint(1, 20)))
        for _ in range(dice.randint(1, 6)):
            said.extend(_batch(dice, len(said)))
        said.append(Message("assistant", dice.choice(["done. ", "已完成。"]) * dice.randint(5, 60)))
    return said[:count]


def _batch(dice: random.Random, number: int) -> list[Message]:
    calls = tuple(
        ToolCall(f"call_{number}_{index}", "bash", f'{{"cmd":"sed -n {number}p src/app.py"}}')
        for index in range(dice.choice([1, 1, 1, 2, 3]))
    )
    line = dice.choice(["a line of output, as tools write them\n", "输出的一行，和工具写的一样\n"])
    results = (
        Message("user", line * int(min(2_000, dice.lognormvariate(3, 1.3))), tool_call_id=call.id)
        for call in calls
    )
    return [Message("assistant", "Let me look at that.", calls), *results]


def _world() -> Ports:
    return Ports(Stub(), MemoryOffloads())


def _replay(settings: Settings, messages: list[Message]) -> object:
    return list(replay(SYSTEM, messages, settings, _world()))


def _strategy(name: str) -> Step:
    return lambda messages: STRATEGIES[name].compact(
        [SYSTEM, *messages], Settings(max(1, estimate(messages))), _world()
    )


def _compaction(tier: Tier) -> Step:
    return lambda messages: (
        compact([SYSTEM, *messages], Settings(WINDOW), _world(), tier=tier).record
    )


STEPS: dict[str, Step] = {
    "estimate": estimate,
    "replay, view, 128k window": lambda m: _replay(Settings(WINDOW, rules=HARNESS9_VIEW), m),
    "replay, view, window of its size": lambda m: _replay(
        Settings(estimate(m) * 2 // 3, rules=HARNESS9_VIEW), m
    ),
    "replay, write-back, 128k window": lambda m: _replay(
        Settings(WINDOW, rules=HARNESS9_WRITEBACK), m
    ),
    "cut to budget": lambda m: cut_to_budget(Draft.of([SYSTEM, *m]), estimate(m) // 2),
    "one Warn compaction": _compaction(Tier.WARN),
    "one Soft compaction": _compaction(Tier.SOFT),
    "one Full compaction": _compaction(Tier.FULL),
    "repair": lambda m: repair(Draft.of(m[1::2])),
    **{name: _strategy(name) for name in STRATEGIES if name != "progressive"},
}


def seconds(step: Step, messages: list[Message], runs: int) -> float:
    """The shortest of `runs` runs; fewer where one takes long."""
    best = float("inf")
    spent = 0.0
    for _ in range(runs):
        started = perf_counter()
        step(messages)
        took = perf_counter() - started
        best, spent = min(best, took), spent + took
        if spent > 3:
            break
    return best


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="How the engine's cost grows with length.")
    options.add_argument("--quick", action="store_true", help="smaller sizes, one run each")
    quick = options.parse_args().quick
    sizes, runs = (QUICK, 1) if quick else (SIZES, 7)
    sessions = {size: session(size) for size in sizes}
    steps = [f"×{later / earlier:.1f}" for earlier, later in pairwise(sizes)]
    print(_row("milliseconds for messages", [f"{size:,}" for size in sizes], steps))
    for name, step in STEPS.items():
        took = [seconds(step, sessions[size], runs) for size in sizes]
        growth = [f"{later / earlier:.1f}" for earlier, later in pairwise(took)]
        print(_row(name, [f"{each * 1000:,.2f}" for each in took], growth))


def _row(name: str, figures: list[str], growth: list[str]) -> str:
    return f"{name:<34}" + "".join(f"{figure:>11}" for figure in figures + growth)


if __name__ == "__main__":
    main()
