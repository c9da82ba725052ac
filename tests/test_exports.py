"""The engine's public surface: what `compaction` offers, and that each part says what it is."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

import pytest

import compaction

PUBLIC = [
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


def test_the_public_surface_is_exactly_this() -> None:
    assert compaction.__all__ == PUBLIC


def _told(name: str) -> str:
    return inspect.getdoc(getattr(compaction, name)) or ""


@pytest.mark.parametrize("name", [name for name in PUBLIC if not name.isupper()])
def test_every_public_name_says_what_it_is(name: str) -> None:
    # A dataclass without a docstring is given its signature as one.
    assert _told(name)
    assert not _told(name).startswith(f"{name}(")


@pytest.mark.parametrize(
    "name", [name for name in PUBLIC if inspect.isclass(getattr(compaction, name))]
)
def test_every_public_method_says_what_it_does(name: str) -> None:
    members = vars(getattr(compaction, name)).items()
    undocumented = [
        key
        for key, member in members
        if not key.startswith("_")
        and (inspect.isfunction(member) or isinstance(member, property | classmethod))
        and not inspect.getdoc(member)
    ]

    assert undocumented == []


def test_the_engine_imports_without_anything_but_the_standard_library() -> None:
    outside = {
        f"{path.name}: {name}"
        for path in Path(compaction.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _imported(node)
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "compaction"}
    }

    assert outside == {"bpe.py: tiktoken"}  # when it first counts, in this one module


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
