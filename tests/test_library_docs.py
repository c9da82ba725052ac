"""What the pages for builders show runs as it stands, without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from compaction.adapters import Thinking
from compaction.counters import COUNTERS

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ["counters.md", "adapters.md"]


@pytest.mark.parametrize("name", PAGES)
def test_the_code_on_the_page_runs_as_it_stands(name: str) -> None:
    page = (DOCS / name).read_text("utf-8")
    code = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    names: dict[str, Any] = {}

    exec(compile(code, name, "exec"), names)

    assert code


@pytest.mark.parametrize("name", COUNTERS)
def test_every_counter_is_on_its_page(name: str) -> None:
    assert f"| `{name}` |" in (DOCS / "counters.md").read_text("utf-8")


@pytest.mark.parametrize("policy", [policy.name for policy in Thinking])
def test_every_policy_for_thinking_is_on_the_page_of_the_adapters(policy: str) -> None:
    assert f"| `Thinking.{policy}` |" in (DOCS / "adapters.md").read_text("utf-8")
