"""To and from the message formats of providers: dicts in, dicts out, nothing else touched."""

from __future__ import annotations

from compaction.adapters.anthropic import Thinking, as_anthropic, from_anthropic, to_anthropic
from compaction.adapters.chat import Chat, Json, Written
from compaction.adapters.openai import as_openai, from_openai, to_openai

__all__ = [
    "Chat",
    "Json",
    "Thinking",
    "Written",
    "as_anthropic",
    "as_openai",
    "from_anthropic",
    "from_openai",
    "to_anthropic",
    "to_openai",
]
