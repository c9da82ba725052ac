"""What the pages for builders show runs as it stands, without a network."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from app.llm import failures
from app.llm.claude import Limits
from compaction import Fate, violations
from compaction.adapters import Thinking
from compaction.counters import COUNTERS
from tests.fake_api import FakeApi

DOCS = Path(__file__).parents[1] / "docs"


def _run(name: str) -> dict[str, Any]:
    page = (DOCS / name).read_text("utf-8")
    code = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    names: dict[str, Any] = {}
    exec(compile(code, name, "exec"), names)
    return names


def test_the_counters_page_runs_as_it_stands() -> None:
    assert _run("counters.md")["count"].is_exact


def test_the_loop_on_the_manager_s_page_runs_as_it_stands() -> None:
    names = _run("manager.md")

    assert names["history"][-1].content == "The report is ported."
    assert names["managed"].findings == ()


def test_the_page_on_provenance_runs_as_it_stands() -> None:
    names = _run("provenance.md")

    assert violations(names["draft"], names["history"]) == []


@pytest.mark.parametrize("fate", Fate)
def test_every_fate_is_on_the_page_on_provenance(fate: Fate) -> None:
    assert f"| `{fate}` |" in "\n".join(_page("provenance.md"))


def test_the_page_on_presets_runs_as_it_stands() -> None:
    assert _run("presets.md")["options"]["rounds"] == 12


def test_the_adapters_page_runs_as_it_stands() -> None:
    assert _run("adapters.md")["messages"][-1]["content"] == "The report is ported."


def test_the_page_about_claude_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("ANTHROPIC_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    with FakeApi() as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", api.key)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)

        names = _run("claude.md")

    assert names["result"].fallback == ""
    assert names["outcome"].failure is None
    assert names["count"].tokens > 0


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_every_limit_is_on_its_page_with_its_default(name: str) -> None:
    (row,) = [line for line in _page("claude.md") if line.startswith(f"| `{name}` |")]

    assert f"{getattr(Limits(), name):,.0f}".replace(",", " ") in row


@pytest.mark.parametrize("name", re.findall(r"^ {6}(\w+)", failures.__doc__ or "", re.M))
def test_every_failure_is_on_its_page(name: str) -> None:
    assert any(f"`{name}`" in line for line in _page("claude.md") if line.startswith("| "))


def _page(name: str) -> list[str]:
    return (DOCS / name).read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", COUNTERS)
def test_every_counter_is_on_its_page(name: str) -> None:
    assert f"| `{name}` |" in "\n".join(_page("counters.md"))


@pytest.mark.parametrize("policy", [policy.name for policy in Thinking])
def test_every_policy_for_thinking_is_on_the_page_of_the_adapters(policy: str) -> None:
    assert f"| `Thinking.{policy}` |" in "\n".join(_page("adapters.md"))
