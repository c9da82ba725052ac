"""An agent loop with compaction, without a network: `python examples/agent_loop.py`.

The model is a script that reads files until it has seen enough; the summariser is the offline one.
What each compaction did is printed as it happens: how full the window was, what that led to, and
what became of every message.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.llm.offline import OfflineSummariser
from compaction import (
    CompactionResult,
    Memory,
    MemoryOffloads,
    Message,
    Ports,
    Settings,
    Tier,
    ToolCall,
    compact,
    takes_effect,
)

SETTINGS = Settings(context_window=12_000, session_id="demo")
FILES = [f"reports/{name}.py" for name in ("billing", "tax", "stock", "payroll", "refunds")]
CALLS = 6 * len(FILES)


def model(call: int) -> Message:
    """What the scripted model answers at its `call`-th turn; the real one reads the messages."""
    if call == CALLS:
        return Message("assistant", "All reports write CSV now, header row included. Tests pass.")
    path = FILES[call % len(FILES)]
    said = f"I decided to use csv.writer instead of joining strings. Next I'll open {path}."
    arguments = f'{{"path":"{path}"}}'
    return Message("assistant", said, (ToolCall(f"call-{call}", "read_file", arguments),))


def run_tool(call: ToolCall) -> Message:
    """The result of a tool call: a file of a few hundred lines, or an error."""
    if call.id.endswith("7"):
        return Message("user", "error: no such file or directory", tool_call_id=call.id)
    body = "".join(f"{n:4} total += row.amount  # {call.arguments}\n" for n in range(90))
    return Message("user", body, tool_call_id=call.id)


def main() -> None:
    """Run the loop to its end."""
    history = [
        Message("system", "You are a coding agent."),
        Message("user", "Port every report to CSV and keep the header row"),
    ]
    offloads, memory = MemoryOffloads(), Memory()
    ports = Ports(OfflineSummariser(), offloads)
    for turn in range(CALLS + 1):
        result = compact(history, SETTINGS, ports, memory)
        memory = result.memory
        if result.tier is not Tier.NONE:
            print(f"turn {turn + 1:2}  {told(result)}")
        if takes_effect(result, SETTINGS.rules):
            history = list(result.messages)
        answer = model(turn)  # a real model is given result.messages
        history += [answer, *map(run_tool, answer.tool_calls)]
    print(f"\n{len(offloads.files)} results were moved to files. What the model last saw:\n")
    print(outline(history))


def told(result: CompactionResult) -> str:
    """One compaction in a line."""
    record = result.record
    fates = Counter(str(slot.fate) for slot in result.draft.slots)
    fates["dropped"] = len(result.draft.drops)
    counted = ", ".join(f"{count} {fate}" for fate, count in fates.items() if count)
    tokens = f"{record.tokens_before:,} → {record.tokens_after:,} tokens"
    return f"{result.tier.label:<9} {tokens:<22} {counted} {result.fallback}".rstrip()


def outline(messages: Sequence[Message]) -> str:
    """The beginning of every message."""
    kinds = ("result" if m.is_tool_result else m.role for m in messages)
    firsts = (m.content.partition("\n")[0][:80] for m in messages)
    return "\n".join(f"{kind:<10} {first}" for kind, first in zip(kinds, firsts, strict=True))


if __name__ == "__main__":
    main()
