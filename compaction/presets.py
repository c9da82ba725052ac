"""Strategies set up in the manner of other systems: data, each with where it was read.

None claims to do what its namesake does: a preset takes over the numbers that this engine has a
place for, and `differs` says what is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class Confidence(StrEnum):
    """How well the numbers are known."""

    READ = "read"
    """In the system's code or its official documentation."""
    SECOND_HAND = "second-hand"
    """In what others wrote about it."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A strategy with the numbers of another system."""

    name: str
    manner_of: str
    strategy: str
    source: str
    """What was read, with its version where it has one."""
    confidence: Confidence
    differs: str
    """What its namesake does otherwise."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """For `read_settings`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """For the strategy."""


_PRESETS = (
    Preset(
        "harness9",
        "harness9",
        "progressive",
        "internal/memory/progressive_compactor.go, commits 10287f3 to c0bfc71",
        Confidence.READ,
        "Nothing: golden vectors hold the tier ladder to it.",
        {"rules": "harness9-writeback"},
    ),
    Preset(
        "deepagents",
        "deepagents",
        "rolling-summary",
        "summarization middleware, commit 23b83ad",
        Confidence.READ,
        "Keeps six messages, taken here for three rounds; clips old arguments; evicts results over "
        "20,000 tokens to files; the person's lines are not pinned.",
        {"soft": 0.85, "full": 0.90},
        {"rounds": 3},
    ),
    Preset(
        "langchain-summarization",
        "LangChain's SummarizationMiddleware",
        "rolling-summary",
        "langchain, as deepagents 23b83ad uses it",
        Confidence.READ,
        "Keeps twenty messages, taken here for ten rounds; its trigger has no default; an error's "
        "text may become the summary.",
        {},
        {"rounds": 10},
    ),
    Preset(
        "openhands",
        "OpenHands' LLMSummarizingCondenser",
        "rolling-summary",
        "software-agent-sdk, commit 611629e",
        Confidence.READ,
        "Triggers at 240 events, not by tokens; keeps the first two events and half of all; its "
        "log is only appended to.",
        {},
        {"rounds": 60},
    ),
    Preset(
        "opencode",
        "opencode's pruning",
        "tool-trim",
        "compaction.ts 001aa6c, overflow.ts 08f74b9",
        Confidence.READ,
        "Clears whole results beyond 40,000 tokens of them, where this cuts each to its ends; "
        "protects the last two turns of the person, taken here for two rounds.",
        {},
        {"rounds": 2, "trim_over": 1, "trim_head": 0, "trim_tail": 0},
    ),
    Preset(
        "gemini-cli",
        "Gemini CLI",
        "rolling-summary",
        "gemini-cli, commit 5411f11",
        Confidence.READ,
        "Keeps the last 30 % by characters, cut at a turn of the person; asks a second time to "
        "verify; masks results beyond 50,000 tokens.",
        {"warn": 0.45, "soft": 0.50, "full": 0.80},
        {"rounds": 8},
    ),
    Preset(
        "inspect-trim",
        "Inspect AI's CompactionTrim",
        "token-budget",
        "inspect_ai, commit 499e615",
        Confidence.READ,
        "Keeps 80 % of the messages, where this keeps a share of the window.",
        {"warn": 0.85, "soft": 0.90, "full": 0.93},
        {"budget": 0.70},
    ),
    Preset(
        "inspect-edit",
        "Inspect AI's CompactionEdit",
        "tool-trim",
        "inspect_ai, commit 499e615",
        Confidence.READ,
        "Replaces results before the last three tool uses altogether; drops old thinking.",
        {"warn": 0.85, "soft": 0.90, "full": 0.93},
        {"rounds": 3, "trim_over": 1, "trim_head": 0, "trim_tail": 0},
    ),
    Preset(
        "inspect-summary",
        "Inspect AI's CompactionSummary",
        "rolling-summary",
        "inspect_ai, commit 499e615",
        Confidence.READ,
        "Keeps the system message and the input only, no recent round; up to three attempts.",
        {"warn": 0.85, "soft": 0.90, "full": 0.93},
        {"rounds": 1},
    ),
    Preset(
        "letta",
        "Letta's sliding window",
        "rolling-summary",
        "commit 0ca33c5 and its documentation",
        Confidence.READ,
        "Summarises about 30 % and tries again in steps of 10 %; clips what it sends.",
        {"warn": 0.90, "soft": 0.93, "full": 0.94},
        {"rounds": 12},
    ),
    Preset(
        "hermes",
        "Hermes, lean profile",
        "layered",
        "documentation, commit 042431a",
        Confidence.READ,
        "Its tail is 2.5 % of the window and at least twenty messages, taken here for ten rounds; "
        "pins the first three messages; writes a mechanical index of facts.",
        {"warn": 0.45, "soft": 0.50, "full": 0.80},
        {"rounds": 10, "budget": 0.25},
    ),
    Preset(
        "pydantic-ai-harness",
        "pydantic-ai-harness",
        "layered",
        "commit 080620e",
        Confidence.READ,
        "Its limits are the user's to set; clamps parts to 2,000 + 2,000 characters, clears all "
        "but three results, then summarises; keeps twenty messages.",
        {},
        {"rounds": 10, "trim_over": 4000, "trim_head": 2000, "trim_tail": 2000},
    ),
    Preset(
        "strands",
        "Strands' SummarizingConversationManager",
        "rolling-summary",
        "strands, commit 1232230",
        Confidence.READ,
        "Summarises the oldest 30 % and keeps the last ten messages, taken here for five rounds.",
        {},
        {"rounds": 5},
    ),
    Preset(
        "strands-sliding",
        "Strands' SlidingWindowConversationManager",
        "sliding-window",
        "strands, commit 1232230",
        Confidence.READ,
        "Keeps forty messages, taken here for twenty rounds; does not keep the task.",
        {},
        {"rounds": 20},
    ),
    Preset(
        "omicsclaw",
        "OmicsClaw's runtime",
        "sparse",
        "TianGzlab, commit 958a009",
        Confidence.READ,
        "Counts characters (96,000); snips contents over 2,400 to head 70 % and tail 30 %; "
        "collapses to highlights in the system prompt at 82 and 92 %.",
        {"warn": 0.75, "soft": 0.82, "full": 0.92},
        {"rounds": 8, "far_rounds": 8, "trim_over": 2400, "trim_head": 1680, "trim_tail": 720},
    ),
    Preset(
        "codex",
        "Codex",
        "rolling-summary",
        "commit 0100b10; the 90 % trigger was not checked",
        Confidence.SECOND_HAND,
        "Keeps the person's lines, up to 20,000 tokens, and the summary; no tool call stays.",
        {"warn": 0.85, "soft": 0.90, "full": 0.93},
        {"rounds": 1},
    ),
    Preset(
        "anthropic-clear-tools",
        "Anthropic's clear_tool_uses_20250919",
        "tool-trim",
        "documentation of two ports; 100,000 input tokens, of a window of 200,000",
        Confidence.SECOND_HAND,
        "Clears results before the last three tool uses altogether, on the server and for one "
        "request; may ask for a least gain and spare tools by name.",
        {"warn": 0.45, "soft": 0.50, "full": 0.80},
        {"rounds": 3, "trim_over": 1, "trim_head": 0, "trim_tail": 0},
    ),
    Preset(
        "anthropic-compact",
        "Anthropic's compact_20260112",
        "rolling-summary",
        "anthropic 2.14.0, types/beta; 150,000 input tokens, of a window of 200,000",
        Confidence.READ,
        "Summarises on the server, everything before the summary being ignored from then on; the "
        "client keeps all; takes instructions, and may pause afterwards.",
        {"warn": 0.70, "soft": 0.75, "full": 0.90},
        {"rounds": 1},
    ),
    Preset(
        "anthropic-tool-runner",
        "Anthropic's SDK, compaction_control of tool_runner",
        "rolling-summary",
        "a copy of its documentation; 100,000 tokens, of a window of 200,000",
        Confidence.SECOND_HAND,
        "Keeps nothing but the summary, of five headings of its own, and counts what the last "
        "answer took too.",
        {"warn": 0.45, "soft": 0.50, "full": 0.80},
        {"rounds": 1},
    ),
    Preset(
        "claude-code",
        "Claude Code's automatic compaction",
        "rolling-summary",
        "what others wrote of it; 33,000 tokens below a window of 200,000",
        Confidence.SECOND_HAND,
        "Reads up to five files again, 50,000 tokens in all; summarises under nine headings; stops "
        "after three failures; clears old results when it was idle for an hour.",
        {"warn": 0.735, "soft": 0.835, "full": 0.90},
        {"rounds": 1},
    ),
    Preset(
        "openai-compaction",
        "OpenAI's Responses API, compact_threshold",
        "rolling-summary",
        "developers.openai.com, guide on compaction",
        Confidence.READ,
        "Its threshold is the caller's to set, so there is no number here; what comes back is "
        "encrypted and for OpenAI's models only.",
        {},
        {"rounds": 1},
    ),
    Preset(
        "langchain-clear-tools",
        "LangChain's ClearToolUsesEdit",
        "tool-trim",
        "reference.langchain.com; 100,000 tokens, of a window of 200,000",
        Confidence.READ,
        "Replaces results before the last three by a placeholder, and may clear the calls' "
        "arguments too.",
        {"warn": 0.45, "soft": 0.50, "full": 0.80},
        {"rounds": 3, "trim_over": 1, "trim_head": 0, "trim_tail": 0},
    ),
    Preset(
        "llamaindex-buffer",
        "LlamaIndex's ChatMemoryBuffer",
        "token-budget",
        "excerpts of llama_index.core.memory",
        Confidence.SECOND_HAND,
        "Drops the oldest messages at every question to stay below 75 % of the window; does not "
        "keep the task.",
        {"warn": 0.70, "soft": 0.75, "full": 0.90},
        {"budget": 0.75},
    ),
    Preset(
        "llamaindex-summary",
        "LlamaIndex's ChatSummaryMemoryBuffer",
        "rolling-summary",
        "excerpts of llama_index.core.memory",
        Confidence.SECOND_HAND,
        "Keeps what fits into 75 % of the window and summarises the rest; here eight rounds are "
        "kept.",
        {"warn": 0.70, "soft": 0.75, "full": 0.90},
        {"rounds": 8},
    ),
    Preset(
        "google-adk",
        "Google's ADK",
        "rolling-summary",
        "adk-docs, context/compaction",
        Confidence.READ,
        "Its token threshold is the app's to set; retains five events in its example, taken here "
        "for three rounds; or compacts every third invocation with an overlap of one; appends the "
        "summary as an event.",
        {},
        {"rounds": 3},
    ),
    Preset(
        "pi",
        "pi's coding agent",
        "rolling-summary",
        "commit 83378aa; 16,384 tokens below a window of 200,000",
        Confidence.READ,
        "Keeps the last 20,000 tokens, where this keeps eight rounds; parts a long turn into two "
        "summaries; lists the files that were read and changed; appends to its log only.",
        {"warn": 0.85, "soft": 0.918, "full": 0.94},
        {"rounds": 8},
    ),
    Preset(
        "dcp",
        "Dynamic Context Pruning, a plugin for opencode",
        "sparse",
        "commit fbd75bc",
        Confidence.READ,
        "The model itself chooses ranges to compress, which may be nested and opened again, and is "
        "reminded above 150,000 tokens; the same call's older results go; inputs of failed calls "
        "go after four turns.",
        {},
        {"rounds": 4},
    ),
    Preset(
        "opencode-compact",
        "opencode's compaction",
        "rolling-summary",
        "compaction.ts 001aa6c, overflow.ts 08f74b9; 20,000 tokens below a window of 200,000",
        Confidence.READ,
        "Keeps what came after its last summary; the reserve is smaller for models with short "
        "answers; tries again with the results cleared, then with the last five turns.",
        {"warn": 0.85, "soft": 0.90, "full": 0.93},
        {"rounds": 1},
    ),
    Preset(
        "openhands-agent",
        "OpenHands' default agent",
        "rolling-summary",
        "software-agent-sdk, commit 611629e",
        Confidence.READ,
        "Triggers at 80 events, not by tokens; keeps the first four events and half of all, taken "
        "here for twenty rounds.",
        {},
        {"rounds": 20},
    ),
    Preset(
        "harness9-one-shot",
        "harness9 before the tier ladder",
        "rolling-summary",
        "internal/memory/compaction.go, commit 10287f3",
        Confidence.READ,
        "Keeps six messages, taken here for three rounds; writes no anchors; cuts to 80 % of the "
        "window where the summary fails.",
        {"warn": 0.75, "soft": 0.80, "full": 0.90},
        {"rounds": 3},
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _PRESETS})
"""By name."""
