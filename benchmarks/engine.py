"""How the engine's cost grows with a session: `python benchmarks/engine.py [--quick] [--made]`.

The messages are those of the bundled sessions, one after the other and again from the front until
there are enough; with `--made`, invented ones. Each figure is the best of a few runs; the last
columns say how much longer the next size took. A linear step takes as many times longer as there
are times more messages.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import count as counting
from itertools import islice, pairwise
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.corpus import sessions  # noqa: E402
from compaction import (  # noqa: E402
    HARNESS9_VIEW,
    HARNESS9_WRITEBACK,
    SAFE,
    STRATEGIES,
    ContextManager,
    Draft,
    Memory,
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
from compaction.budget import cut_to_budget  # noqa: E402
from compaction.counters import COUNTERS, Count, measured  # noqa: E402
from compaction.repair import repair  # noqa: E402

SIZES = (1_000, 3_000, 10_000)
QUICK = (300, 1_000)
WINDOW = 128_000
SYSTEM = Message("system", "You are a coding agent. " * 160)

IMPORTS = ("import compaction", "from compaction import compact", "from compaction import *")

Step = Callable[[list[Message]], object]


class Stub:
    """A summariser that costs nothing, so that what is measured is the engine."""

    def summarise(self, request: SummaryRequest) -> Message:  # noqa: ARG002 - the protocol's
        """The same answer to everything."""
        return Message("assistant", "### User Intent\nport it\n\n## Summary\nwork went on")


def real(count: int) -> list[Message]:
    """`count` messages of the bundled sessions; call ids are made unique from time to time."""
    return list(islice(_bundled(), count))


def _bundled() -> Iterator[Message]:
    for lap in counting():
        for message in _corpus():
            calls = tuple(replace(call, id=f"{call.id}.{lap}") for call in message.tool_calls)
            answers = message.tool_call_id and f"{message.tool_call_id}.{lap}"
            yield replace(message, tool_calls=calls, tool_call_id=answers)


@cache
def _corpus() -> tuple[Message, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return tuple(
            message
            for _, session in sessions(Path(folder))
            for message in session.messages
            if not message.is_system
        )


def made(count: int, seed: int = 9) -> list[Message]:
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


def _managed(messages: list[Message]) -> object:
    """An agent's loop: the manager is asked before every call of the model."""
    manager = ContextManager(Settings(WINDOW), _world())
    view, memory = [SYSTEM], Memory()
    for message in messages:
        view.append(message)
        if message.role == "assistant":
            managed = manager.manage(view[:-1], memory)
            view, memory = [*managed.messages, message], managed.memory
    return view


def _strategy(name: str) -> Step:
    return lambda messages: STRATEGIES[name].compact(
        [SYSTEM, *messages], Settings(max(1, estimate(messages))), _world()
    )


def _counted(name: str) -> Step:
    return lambda messages: COUNTERS[name]().count([SYSTEM, *messages])


def _compaction(tier: Tier) -> Step:
    return lambda messages: (
        compact([SYSTEM, *messages], Settings(WINDOW), _world(), tier=tier).record
    )


HARD = {
    "one letter": "x" * 1_000_000,
    "spaces": " " * 1_000_000,
    "base64": b64encode(random.Random(9).randbytes(750_000)).decode(),
    "one Chinese character": "汉" * 1_000_000,
    "English prose": ("The quick brown fox, line 12.\n" * 34_000)[:1_000_000],
}
"""Texts that make tokenizers slow, or panic."""

STEPS: dict[str, Step] = {
    **{f"count, {name}": _counted(name) for name in COUNTERS},
    "replay, view, 128k window": lambda m: _replay(Settings(WINDOW, rules=HARNESS9_VIEW), m),
    "replay, view, window of its size": lambda m: _replay(
        Settings(estimate(m) * 2 // 3, rules=HARNESS9_VIEW), m
    ),
    "replay, write-back, 128k window": lambda m: _replay(
        Settings(WINDOW, rules=HARNESS9_WRITEBACK), m
    ),
    "replay, safe, 128k window": lambda m: _replay(Settings(WINDOW, rules=SAFE), m),
    "manager at every call, 128k window": _managed,
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


def import_seconds(statement: str, runs: int = 5) -> float:
    """How long an import takes in a new interpreter, at best, without the interpreter's start."""
    code = f"from time import perf_counter as t; s = t(); {statement}; print(t() - s)"
    command = [sys.executable, "-S", "-c", code]
    return min(
        float(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
        for _ in range(runs)
    )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="How the engine's cost grows with length.")
    options.add_argument("--quick", action="store_true", help="smaller sizes, one run each")
    options.add_argument("--made", action="store_true", help="invented messages")
    chosen = options.parse_args()
    sizes, runs = (QUICK, 1) if chosen.quick else (SIZES, 7)
    session = made if chosen.made else real
    messages = {size: session(size) for size in sizes}
    for name in IMPORTS:
        print(f"{name:<42}{1000 * import_seconds(name):>7.1f} ms")
    print()
    steps = [f"×{later / earlier:.1f}" for earlier, later in pairwise(sizes)]
    print(_row("milliseconds for messages", [f"{size:,}" for size in sizes], steps))
    for name, step in STEPS.items():
        took = [seconds(step, messages[size], runs) for size in sizes]
        growth = [f"{later / earlier:.1f}" for earlier, later in pairwise(took)]
        print(_row(name, [f"{each * 1000:,.2f}" for each in took], growth))
    print(_row("\nmilliseconds, a million characters", ["o200k_base", "tokens", ""], []))
    for name, text in HARD.items():
        message = [Message("user", text)]
        took = 1000 * min(_counting(message)[1] for _ in range(runs))
        count = _counting(message)[0]
        kind = "exact" if count.is_exact else "estimate"
        print(_row(name, [f"{took:,.0f}", f"{count.tokens:,}", kind], []))


def _counting(messages: list[Message]) -> tuple[Count, float]:
    counter = COUNTERS["o200k_base"]()
    started = perf_counter()
    count = measured(counter, messages)
    return count, perf_counter() - started


def _row(name: str, figures: list[str], growth: list[str]) -> str:
    return f"{name:<34}" + "".join(f"{figure:>11}" for figure in figures + growth)


if __name__ == "__main__":
    main()
