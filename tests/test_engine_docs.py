"""What the engine's documentation says is so: its code runs, its tables name everything."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from compaction import RULE_BOOKS, Guard, RuleBook, Settings, Tier, violations

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "engine.md").read_text("utf-8")


def test_the_loop_on_the_page_runs_as_it_stands() -> None:
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    names: dict[str, Any] = {}

    exec(code, names)

    assert names["history"][-1].content == "The report is ported."
    assert names["result"].tier is Tier.NONE
    assert violations(names["result"].draft, names["result"].before) == []


@pytest.mark.parametrize("name", [f.name for f in fields(Settings)])
def test_every_setting_is_on_the_page_with_its_default(name: str) -> None:
    default = Settings.__dataclass_fields__[name].default
    (row,) = [line for line in PAGE.split("\n") if line.startswith("| `") and f"`{name}`" in line]

    if isinstance(default, int | float):
        assert re.search(rf"\b{re.escape(format(default, '.2f' if default < 1 else ''))}\b", row)


@pytest.mark.parametrize("flag", [f.name for f in fields(RuleBook) if f.name != "name"])
def test_every_flag_of_a_rule_book_is_on_the_page_with_its_reason(flag: str) -> None:
    (row,) = [line for line in PAGE.split("\n") if line.startswith(f"| `{flag}`")]

    reason = row.strip("| ").split(" | ")[-1]
    assert len(reason) > 30


@pytest.mark.parametrize("name", RULE_BOOKS)
def test_every_rule_book_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_every_guard_of_the_safe_rule_book_has_a_heading_with_its_reason() -> None:
    page = (ROOT / "docs" / "rule-books.md").read_text("utf-8")

    sections = dict(re.findall(r"^### (\S+)\n\n(.*?)(?=\n##|\Z)", page, re.M | re.S))

    flags = [f.name for f in fields(RuleBook) if f.name != "name"]
    assert list(sections) == [*flags, *(guard.value for guard in Guard)]
    assert all(len(text) > 100 for text in sections.values())


def test_the_rule_books_stand_side_by_side_as_they_are() -> None:
    page = (ROOT / "docs" / "rule-books.md").read_text("utf-8")
    (head,) = re.findall(r"^\| flag \| (.*) \|$", page, re.M)
    rows = dict(re.findall(r"^\| \[`(\w+)`\]\(#\w+\) \| (.*) \|$", page, re.M))

    assert head.split(" | ") == [f"`{name}`" for name in RULE_BOOKS]
    for flag in (f.name for f in fields(RuleBook) if f.name != "name"):
        values = [_told(getattr(book, flag)) for book in RULE_BOOKS.values()]
        assert rows[flag].split(" | ") == values, flag


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, frozenset):
        return f"all {len(value)}" if value == frozenset(Guard) else "none"
    return f"`{value}`"


def test_the_example_of_the_safe_rule_book_runs_as_it_stands() -> None:
    page = (ROOT / "docs" / "rule-books.md").read_text("utf-8")
    names: dict[str, Any] = {}

    exec("".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), names)

    assert names["result"].first_change == 2


def _run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def test_the_example_runs_without_a_network_and_shows_what_became_of_the_messages() -> None:
    printed = _run("-X", "utf8", "examples/agent_loop.py")

    assert re.search(r"Warn .* offloaded", printed)
    assert re.search(r"Soft .* summarised", printed)
    assert "[Context Compaction]" in printed


def test_the_benchmark_prints_the_rows_that_the_page_shows() -> None:
    printed = _run("benchmarks/engine.py", "--quick")

    rows = [line.split("  ")[0] for line in printed.splitlines() if line]
    page = (ROOT / "docs" / "speed.md").read_text("utf-8")
    names = {row for row in rows if not row.startswith(("import", "from", "milliseconds"))}
    shown = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines()}
    assert names - shown == set()
    assert len(names) == 25
