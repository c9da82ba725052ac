"""What the pages on strategies say is so: their code runs, and no option is missing or stale."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compaction import STRATEGIES, Fate, Settings, Strategy, violations
from compaction.settings import FIELDS, Field, Kind
from compaction.tokens import estimate

DOCS = Path(__file__).parents[1] / "docs"
OVERVIEW = (DOCS / "strategies.md").read_text("utf-8")
LISTED = re.findall(
    r"^\| \[`([\w-]+)`\]\(strategies/([\w-]+)\.md\) \| (.+) \| (.+) \|$", OVERVIEW, re.M
)


def page(name: str) -> str:
    return (DOCS / "strategies" / f"{name}.md").read_text("utf-8")


def table(strategy: Strategy) -> str:
    """The options of a strategy as they stand on its page."""
    fields = strategy.fields or tuple(replace(f, default=_in_force(f)) for f in FIELDS)
    rows = [f"| `{f.name}` | {_default(f)} | {f.help} |" for f in fields]
    return "\n".join(["| option | default | what it is |", "|---|---|---|", *rows])


def _in_force(field: Field) -> Any:
    return None if field.name == "context_window" else getattr(Settings(1), field.name)


def _default(field: Field) -> str:
    value: Any = field.default
    if value is None:
        return "–"
    if field.kind is Kind.CHOICE:
        return f"`{value.name}`"
    return (
        f"{value:.0%}".replace("%", " %") if field.kind is Kind.SHARE else f"{value:,} {field.unit}"
    )


def run(text: str) -> dict[str, Any]:
    code = "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def test_the_example_of_the_overview_runs_as_it_stands() -> None:
    outcome = run(OVERVIEW)["outcome"]

    assert {slot.fate for slot in outcome.draft.slots} == {Fate.KEPT, Fate.TRIMMED}


def test_the_overview_lists_every_strategy_in_order_as_it_describes_itself() -> None:
    assert [name for name, *_ in LISTED] == list(STRATEGIES)
    assert [one for _, one, *_ in LISTED] == list(STRATEGIES)
    assert [says for _, _, says, _ in LISTED] == [one.says for one in STRATEGIES.values()]
    assert [loses for *_, loses in LISTED] == [one.loses for one in STRATEGIES.values()]


def test_every_page_is_of_a_strategy() -> None:
    assert {path.stem for path in (DOCS / "strategies").glob("*.md")} == set(STRATEGIES)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_has_a_page_with_when_what_it_loses_and_its_options(name: str) -> None:
    strategy, text = STRATEGIES[name], page(name)

    assert text.startswith(f"# {strategy.label}\n")
    assert re.findall("^## (.+)", text, re.M) == [
        "When to use it",
        "What it does",
        "What it loses",
        "Options",
        "Example",
    ]
    assert strategy.says in text
    assert table(strategy) in text


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_example_on_every_page_makes_the_conversation_smaller(name: str) -> None:
    names = run(page(name))

    outcome, history = names["outcome"], names["history"]
    assert violations(outcome.draft, history) == []
    assert outcome.error == ""
    assert estimate(outcome.draft.messages) < estimate(history)
