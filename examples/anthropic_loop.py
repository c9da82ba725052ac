"""An agent on Anthropic's API whose context is managed.

ANTHROPIC_API_KEY=… python examples/anthropic_loop.py FOLDER "What does this project do?"

It answers questions about the text files of a folder, which it only reads. `run` is the whole loop;
`docs/agent-loops.md` goes through it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import anthropic

from compaction import ContextManager, Memory, MemoryOffloads, Ports, Settings
from compaction.adapters import Json, from_anthropic, to_anthropic
from examples.tools import SCHEMAS, run_tool

MODEL = os.environ.get("ANCHORLINE_MODEL", "claude-haiku-5-5")
SYSTEM = "You answer questions about a folder. Read what you need, then answer in a few sentences."
TOOLS: list[Json] = [
    {"name": name, "description": says, "input_schema": schema}
    for name, (says, schema) in SCHEMAS.items()
]


def run(client: Any, question: str, folder: Path, manager: ContextManager) -> list[Json]:
    """Ask until the model calls no tool any more; the conversation as it was last sent."""
    messages: list[Json] = [{"role": "user", "content": question}]
    memory = Memory()
    while True:
        chat = from_anthropic(messages, SYSTEM)
        managed = manager.manage(chat.messages, memory)
        sent, memory = to_anthropic(chat, managed.result.draft), managed.memory
        answer = client.messages.create(
            model=MODEL, max_tokens=4096, tools=TOOLS, **sent.request
        ).to_dict()
        messages = [*sent.messages, {"role": "assistant", "content": answer["content"]}]
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not calls:
            return messages
        messages.append({"role": "user", "content": [result(call, folder) for call in calls]})


def result(call: Json, folder: Path) -> Json:
    """What a tool call is answered with."""
    text, is_error = run_tool(call["name"], call["input"], folder)
    return {
        "type": "tool_result",
        "tool_use_id": call["id"],
        "content": text,
        "is_error": is_error,
    }


def main(folder: str, question: str, window: int = 100_000) -> None:
    """Print the answer."""
    ports = Ports(offloads=MemoryOffloads())
    manager = ContextManager(Settings(window, session_id="example"), ports, "sparse")
    with anthropic.Anthropic() as client:
        messages = run(client, question, Path(folder), manager)
    print(*(block["text"] for block in messages[-1]["content"] if block["type"] == "text"))


if __name__ == "__main__":
    main(*sys.argv[1:3])
