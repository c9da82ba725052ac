"""`replay` over the bundled sessions: what harness9 did comes out again, record by record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main

WHOLE = {
    "coding-home": {"44fcc8eb": 4, "383b43d3": 48},
    "research-zh": {"1baad9fc": 5, "e68522e0": 11, "d1e43dcc": 1, "011cb1e9": 5, "25535960": 10},
    "lost-runs": {"e28514f6": 2},
}
"""Sessions that are stored whole, and how many compactions they recorded."""


def replayed(corpus: Path, name: str, *argv: str) -> list[str]:
    root = corpus / name
    project = root / "project"
    home = root / "home" if project.exists() else root / "nobody"
    return ["replay", str(project if project.exists() else root), *argv, "--home", str(home)]


def printed(capsys: pytest.CaptureFixture[str], argv: list[str]) -> Any:
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "session", "records"),
    [(name, *one) for name, sessions in WHOLE.items() for one in sessions.items()],
)
def test_every_recorded_compaction_comes_out_again_count_by_count(
    corpus: Path, capsys: pytest.CaptureFixture[str], name: str, session: str, records: int
) -> None:
    seen = printed(capsys, replayed(corpus, name, session))

    assert (seen["summariser"], seen["recorded"], seen["same"]) == ("recorded", records, records)
    assert [one["differs"] for one in seen["compactions"]] == [[]] * records


def test_a_compaction_whose_run_was_not_stored_is_told_and_stands_in_its_place(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = printed(capsys, replayed(corpus, "coding-home", "206aaf97"))

    (missed,) = (one for one in seen["compactions"] if one["call"] is None)
    assert missed["n"] == 2
    assert [one["n"] for one in seen["compactions"]][:3] == [1, 2, 3]
    assert (seen["same"], seen["recorded"]) == (10, 11)


def test_other_settings_give_other_compactions_with_summaries_made_offline(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = replayed(corpus, "coding-home", "383b43d3", "--set", "rules=safe")

    seen = printed(capsys, argv)

    ours = [one for one in seen["compactions"] if one["call"]]
    assert seen["summariser"] == "offline"
    assert len(ours) < 10 < seen["recorded"]
    assert all(one["replayed"]["error"] == "" for one in ours)


def test_of_a_session_written_back_it_says_that_what_earlier_ones_saw_is_gone(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(replayed(corpus, "writeback-home", "b74c803d")) == 0

    lines = capsys.readouterr().out.splitlines()
    assert "rules harness9-writeback, summaries recorded" in lines[0]
    assert lines[-1].startswith("compactions replaced rows of this session")


def test_a_setting_that_does_not_exist_is_refused(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(replayed(corpus, "coding-home", "383b43d3", "--set", "sofd=1")) == 2

    assert "sofd" in capsys.readouterr().err
