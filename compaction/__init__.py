"""Context compaction for agent sessions, with an account of where every message went.

    from compaction import Ports, Settings, compact
    result = compact(messages, Settings(context_window=128_000), Ports(summariser=mine))
    result.messages      # what to send
    result.record        # the numbers, as harness9 writes them
    result.draft.slots   # every output message with the input it stands for
    result.memory        # pass it to the next call

Standard library only; everything that touches the world is handed in as a port.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compaction.anchors import Anchor, Summary, parse_summary
    from compaction.checks import Checks, Finding
    from compaction.manager import ContextManager, Managed
    from compaction.messages import Message, ToolCall
    from compaction.ports import MemoryOffloads, Offloads, Ports, Summariser
    from compaction.provenance import Draft, Drop, Fate, Slot, violations
    from compaction.records import (
        BadRecord,
        CompactionRecord,
        OffloadEntry,
        parse_record,
        record_line,
    )
    from compaction.result import CompactionResult, Memory
    from compaction.rules import (
        HARNESS9_VIEW,
        HARNESS9_WRITEBACK,
        HARNESS9_WRITEBACK_EARLY,
        RULE_BOOKS,
        SAFE,
        Guard,
        RuleBook,
    )
    from compaction.settings import Settings, SettingsError, SummaryLimits, read_settings
    from compaction.strategies import STRATEGIES, Outcome, Strategy
    from compaction.strategies.progressive import compact
    from compaction.summary import SummaryRequest
    from compaction.tiers import Tier, tier_for
    from compaction.tokens import TokenCounter, ToolSchema, estimate, estimate_tools
    from compaction.turns import Turn, replay, takes_effect

__all__ = [
    "HARNESS9_VIEW",
    "HARNESS9_WRITEBACK",
    "HARNESS9_WRITEBACK_EARLY",
    "RULE_BOOKS",
    "SAFE",
    "STRATEGIES",
    "Anchor",
    "BadRecord",
    "Checks",
    "CompactionRecord",
    "CompactionResult",
    "ContextManager",
    "Draft",
    "Drop",
    "Fate",
    "Finding",
    "Guard",
    "Managed",
    "Memory",
    "MemoryOffloads",
    "Message",
    "OffloadEntry",
    "Offloads",
    "Outcome",
    "Ports",
    "RuleBook",
    "Settings",
    "SettingsError",
    "Slot",
    "Strategy",
    "Summariser",
    "Summary",
    "SummaryLimits",
    "SummaryRequest",
    "Tier",
    "TokenCounter",
    "ToolCall",
    "ToolSchema",
    "Turn",
    "compact",
    "estimate",
    "estimate_tools",
    "parse_record",
    "parse_summary",
    "read_settings",
    "record_line",
    "replay",
    "takes_effect",
    "tier_for",
    "violations",
]

# What a name's module needs is loaded with the first name asked for, so that a program that may
# never compact does not pay for it at its start.
_MODULES = {
    "anchors": "Anchor Summary parse_summary",
    "checks": "Checks Finding",
    "manager": "ContextManager Managed",
    "messages": "Message ToolCall",
    "ports": "MemoryOffloads Offloads Ports Summariser",
    "provenance": "Draft Drop Fate Slot violations",
    "records": "BadRecord CompactionRecord OffloadEntry parse_record record_line",
    "result": "CompactionResult Memory",
    "rules": "HARNESS9_VIEW HARNESS9_WRITEBACK HARNESS9_WRITEBACK_EARLY RULE_BOOKS SAFE Guard "
    "RuleBook",
    "settings": "Settings SettingsError SummaryLimits read_settings",
    "strategies": "STRATEGIES Outcome Strategy",
    "strategies.progressive": "compact",
    "summary": "SummaryRequest",
    "tiers": "Tier tier_for",
    "tokens": "TokenCounter ToolSchema estimate estimate_tools",
    "turns": "Turn replay takes_effect",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """The public name, from its module. Raises AttributeError for any other."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
