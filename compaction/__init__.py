"""Context compaction for agent sessions, with an account of where every message went.

    from compaction import Ports, Settings, compact
    result = compact(messages, Settings(context_window=128_000), Ports(summariser=mine))
    result.messages      # what to send
    result.record        # the numbers, as harness9 writes them
    result.draft.slots   # every output message with the input it stands for
    result.memory        # pass it to the next call

Standard library only; everything that touches the world is handed in as a port.
"""

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
from compaction.replay import Turn, replay, takes_effect
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
