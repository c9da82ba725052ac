"""The example loops against servers that refuse what the providers refuse."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

from examples import anthropic_loop, openai_loop
from examples.tools import run_tool
from tests.fake_api import FakeApi, Say
from tests.fake_openai import SAYS, FakeOpenAi, problem
from tests.programs import CHECKOUT

TURNS = 12
PAGE = (CHECKOUT / "docs" / "agent-loops.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def _nobodys_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "OPENAI_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose listing is some hundred tokens long."""
    for n in range(60):
        (tmp_path / f"report_{n}_of_the_billing_department.txt").write_text("total\n", "utf-8")
    return tmp_path


def test_an_agent_on_anthropic_s_api_is_compacted_and_never_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeApi() as api:
        turns = [Say("I decided to look again.", tool="list_files", thinks=True)] * TURNS
        api.answers = [*turns, Say("It ports reports.")]
        api.binds_thinking = True
        monkeypatch.setenv("ANTHROPIC_API_KEY", api.key)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)

        anthropic_loop.main(str(folder), "What is this?", window=4_000)

    sizes = [len(json.dumps(body["messages"])) for body in api.requests]
    assert capsys.readouterr().out == "It ports reports.\n"
    assert len(sizes) == TURNS + 1
    assert sizes != sorted(sizes), "nothing was compacted"


def test_an_agent_on_openai_s_api_is_compacted_and_never_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOpenAi(["list_files"] * TURNS) as api:
        monkeypatch.setenv("OPENAI_BASE_URL", api.url)
        monkeypatch.setenv("OPENAI_MODEL", "m")

        openai_loop.main(str(folder), "What is this?", window=4_000)

    sizes = [len(json.dumps(body["messages"])) for body in api.requests]
    assert api.refused == []
    assert capsys.readouterr().out == f"{SAYS}\n"
    assert len(sizes) == TURNS + 1
    assert sizes != sorted(sizes), "nothing was compacted"


def test_the_fake_server_refuses_a_result_without_its_call() -> None:
    stray = {"role": "tool", "tool_call_id": "c1", "content": ""}

    assert "must be a response" in problem({"model": "m", "messages": [stray]})


def test_the_tools_read_nothing_outside_their_folder(folder: Path) -> None:
    secret = folder.parent / "secret.txt"
    secret.write_text("key", "utf-8")

    said, is_error = run_tool("read_file", {"path": "../secret.txt"}, folder)

    assert is_error
    assert "leads out" in said


@pytest.mark.parametrize("name", ["anthropic_loop", "openai_loop"])
def test_the_loop_on_the_page_is_the_one_of_the_example(name: str) -> None:
    text = (CHECKOUT / "examples" / f"{name}.py").read_text("utf-8")
    run = next(
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == "run"
    )

    lines = text.split("\n")[run.lineno - 1 : run.end_lineno]

    assert "\n".join(lines) in PAGE
