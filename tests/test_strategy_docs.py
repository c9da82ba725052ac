"""What the page on strategies says is so: its code runs, and nothing is missing from it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from compaction import STRATEGIES, Fate

PAGE = (Path(__file__).parents[1] / "docs" / "strategies.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## ([\w-]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))


def test_the_example_on_the_page_runs_as_it_stands() -> None:
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    names: dict[str, Any] = {}

    exec(code, names)

    assert {slot.fate for slot in names["outcome"].draft.slots} == {Fate.KEPT, Fate.TRIMMED}


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_has_a_section_with_when_what_is_lost_and_all_options(name: str) -> None:
    strategy, section = STRATEGIES[name], " ".join(SECTIONS[name].split())

    options = re.findall(r"\| `(\w+)` \|", section)

    assert strategy.says in section
    assert "oses" in section
    assert options == [field.name for field in strategy.fields]


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_default_on_the_page_is_the_one_in_force(name: str) -> None:
    rows = dict(re.findall(r"\| `(\w+)` \| ([\d.]+)", SECTIONS[name]))

    for field in STRATEGIES[name].fields:
        default = field.default
        assert default is not None
        assert float(rows[field.name]) == (default * 100 if field.unit == "%" else default)


def test_sections_stand_in_the_order_of_the_list() -> None:
    assert [name for name in SECTIONS if name in STRATEGIES] == list(STRATEGIES)
