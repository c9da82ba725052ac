"""`compare` and `check` on the bundled sessions and on small built ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from tests.builders import SESSION, SessionData, human, make_store, says

LOOPING = "383b43d3"


@pytest.fixture
def project(corpus: Path) -> list[str]:
    root = corpus / "coding-home"
    return [str(root / "project"), "--home", str(root / "home")]


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_compare_gives_a_row_for_every_strategy_and_preset_that_was_named(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(
        capsys, "compare", *project, LOOPING, "--strategies", "sparse, sliding-window,hermes"
    )

    assert [row["name"] for row in found["rows"]] == ["sparse", "sliding-window", "hermes"]
    assert len({row["tokens_whole"] for row in found["rows"]}) == 1
    assert found["summariser"] == "offline"


def test_compare_fits_the_window_to_the_session_so_that_there_is_something_to_do(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(
        capsys, "compare", *project, LOOPING, "--strategies", "sliding-window", "--fit", "0.5"
    )

    (row,) = found["rows"]
    assert row["steps"]
    assert row["ratio"] < 0.5
    assert row["in_view"] + row["in_files"] + row["lost"] == pytest.approx(1)


def test_compare_prints_a_table_that_says_what_is_estimated(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *project, LOOPING, "--strategies", "sparse,tool-trim"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert "tokens are estimated" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["strategy", "sparse", "tool-trim"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--strategies", "sparce"], "'sparce' is no strategy and no preset; there are"),
        (["--fit", "2"], "--fit 2.0: write a share"),
        (["--set", "soft=x"], "soft: "),
    ],
)
def test_compare_refuses_what_it_does_not_know(
    project: list[str], capsys: pytest.CaptureFixture[str], wrong: list[str], says: str
) -> None:
    assert main(["compare", *project, LOOPING, *wrong]) == 2

    assert says in capsys.readouterr().err


def test_check_finds_what_is_wrong_in_the_bundled_sessions_and_fails(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *project, "--json"]) == 1

    found = json.loads(capsys.readouterr().out)
    assert {"session_id", "rule", "severity", "says", "advice", "where", "of"} == found[0].keys()
    assert {one["severity"] for one in found} == {"error", "warning"}


def test_check_passes_a_project_without_problems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_store(tmp_path, [SessionData(SESSION, [[human("hi"), says("hello")]])])

    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "nothing found\n"
