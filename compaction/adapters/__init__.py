"""To and from the message formats of providers: dicts in, dicts out, nothing else touched."""

from __future__ import annotations

from compaction.adapters.anthropic import Thinking, from_anthropic, to_anthropic
from compaction.adapters.chat import Chat, Json, Written
from compaction.adapters.openai import from_openai, to_openai

__all__ = [
    "Chat",
    "Json",
    "Thinking",
    "Written",
    "from_anthropic",
    "from_openai",
    "to_anthropic",
    "to_openai",
]
