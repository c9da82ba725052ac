"""An agent on OpenAI's chat API, or any server that speaks it, whose context is managed.

OPENAI_API_KEY=… OPENAI_MODEL=… python examples/openai_loop.py FOLDER "What does this project do?"

It answers questions about the text files of a folder, which it only reads. No package is needed:
`ask` is one HTTP request. With the package `openai` it would be

    client.chat.completions.create(model=…, messages=messages, tools=TOOLS)
        .choices[0].message.to_dict()

`run` is the whole loop; `docs/agent-loops.md` goes through it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).parents[1]))

from compaction import ContextManager, Memory, MemoryOffloads, Ports, Settings
from compaction.adapters import Json, from_openai, to_openai
from examples.tools import SCHEMAS, run_tool

SYSTEM = "You answer questions about a folder. Read what you need, then answer in a few sentences."
TOOLS: list[Json] = [
    {
        "type": "function",
        "function": {"name": name, "description": says, "parameters": schema},
    }
    for name, (says, schema) in SCHEMAS.items()
]


def run(
    ask: Callable[[list[Json]], Json], question: str, folder: Path, manager: ContextManager
) -> list[Json]:
    """Ask until the model calls no tool any more; the conversation as it was last sent."""
    messages: list[Json] = [
        {"role": "developer", "content": SYSTEM},
        {"role": "user", "content": question},
    ]
    memory = Memory()
    while True:
        chat = from_openai(messages)
        managed = manager.manage(chat.messages, memory)
        sent, memory = to_openai(chat, managed.result.draft), managed.memory
        answer = ask(sent.messages)
        messages = [*sent.messages, answer]
        if not answer.get("tool_calls"):
            return messages
        messages += [result(call, folder) for call in answer["tool_calls"]]


def result(call: Json, folder: Path) -> Json:
    """What a tool call is answered with."""
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = {}
    text, _ = run_tool(call["function"]["name"], arguments, folder)
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def ask(messages: list[Json]) -> Json:
    """One answer of the model. Raises OSError where there is none."""
    base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
    body = {"model": os.environ["OPENAI_MODEL"], "messages": messages, "tools": TOOLS}
    headers = {
        "authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}",
        "content-type": "application/json",
    }
    request = Request(f"{base}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310
    with urlopen(request, timeout=120) as response:  # noqa: S310 - the person's own address
        answer: Any = json.load(response)
    message = answer["choices"][0]["message"]
    return {name: value for name, value in message.items() if value is not None}


def main(folder: str, question: str, window: int = 100_000) -> None:
    """Print the answer."""
    ports = Ports(offloads=MemoryOffloads())
    manager = ContextManager(Settings(window, session_id="example"), ports, "sparse")
    print(run(ask, question, Path(folder), manager)[-1]["content"])


if __name__ == "__main__":
    main(*sys.argv[1:3])
