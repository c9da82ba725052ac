from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from tests.builders import SESSION, SessionData, human, make_store, result, says

LOOPING = "383b43d3"
EVIDENCE = {"exact", "verified", "unverified", "unavailable"}


@pytest.fixture
def project(corpus: Path) -> list[str]:
    root = corpus / "coding-home"
    return [str(root / "project"), "--home", str(root / "home")]


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_list_names_every_session_with_its_generation(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, "list", *project)

    assert {one["id"][:8]: one["generation"] for one in found} == {
        "803d2987": "classic",
        "44fcc8eb": "view",
        "9a210579": "classic",
        "383b43d3": "view",
        "206aaf97": "view",
    }


def test_list_tells_the_projects_sessions_from_the_others_of_the_home_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    make_store(home, [SessionData(id=f"s{n}", runs=((human("hi"),),)) for n in range(2)])
    (project / ".harness9" / "tool_results" / "s1").mkdir(parents=True)
    place = [str(project), "--home", str(home)]

    found = printed(capsys, "list", *place)
    assert main(["list", *place]) == 0
    said = capsys.readouterr().out

    assert {one["id"]: one["belongs"] for one in found} == {"s0": False, "s1": True}
    assert "s1 " in said
    assert "s0 " not in said
    assert "1 more" in said


def test_show_gives_messages_in_harness9s_own_shape(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, "show", *project, LOOPING)

    assert [message["n"] for message in found["messages"]] == list(range(1, 189))
    assert found["messages"][1]["tool_calls"][0].keys() == {"id", "name", "arguments"}
    assert found["messages"][2]["role"] == "user"
    assert found["messages"][2]["tool_call_id"]


def test_compactions_gives_the_record_and_how_much_is_known(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, "compactions", *project, LOOPING)

    assert [one["n"] for one in found] == list(range(1, 49))
    assert {one["tier"] for one in found} == {1, 2, 3, 4}
    assert {one["evidence"] for one in found} <= EVIDENCE
    assert all(one["reason"] for one in found)
    assert (found[11]["tokens_before"], found[11]["tokens_after"]) == (27744, 17249)
    assert (found[11]["msgs_before"], found[11]["msgs_after"]) == (116, 62)


def test_diff_accounts_for_every_message_before(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, "diff", *project, LOOPING, "12")

    sources = [source for slot in found["after"] for source in slot["sources"]]
    sources += [drop["source"] for drop in found["drops"]]
    assert sorted(sources) == list(range(116))
    assert len(found["before"]) == found["msgs_before"]
    assert len(found["after"]) == found["msgs_after"]
    assert [one["known"] for one in found["before"][:2]] == [False, True]


def test_diff_of_what_is_gone_gives_the_record_alone(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = corpus / "writeback-home"
    home = ["--home", str(root / "home")]

    found = printed(capsys, "diff", str(root / "project"), *home, "25fc1d5b", "1")

    assert found["evidence"] == "unavailable"
    assert found["before"] is None
    assert found["after"] is None


def test_recompact_takes_settings_and_compares(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = (
        "recompact",
        *project,
        LOOPING,
        "--at",
        "12",
        "--set",
        "soft=75%",
        "--set",
        "full= 85 %",
    )

    found = printed(capsys, *argv)

    assert (found["settings"]["soft"], found["settings"]["full"]) == (0.75, 0.85)
    assert found["record"]["tier"] == 1
    assert found["recorded"]["tier"] == 2
    assert found["evidence"] == "exact"
    assert len(found["messages"]) == found["record"]["msgs_after"]


@pytest.mark.parametrize("command", ["list", "show", "compactions", "diff", "recompact"])
def test_every_command_has_words_for_people(
    command: str, project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    session = [] if command == "list" else [LOOPING]
    number = ["12"] if command == "diff" else []

    assert main([command, *project, *session, *number]) == 0

    assert len(capsys.readouterr().out.splitlines()) > 3


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["show", "no-such-session"], "no-such-session"),
        (["diff", LOOPING, "49"], "49"),
        (["diff", LOOPING, "0"], "0"),
        (["recompact", LOOPING, "--set", "soft"], "NAME=VALUE"),
        (["recompact", LOOPING, "--set", "soft=95"], "must be above"),
        (["recompact", LOOPING, "--set", "colour=red"], "colour"),
        (["recompact", LOOPING, "--at", "77"], "77"),
    ],
)
def test_bad_usage_is_said_on_stderr_with_exit_code_2(
    argv: list[str], says: str, project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = argv

    code = main([command, *project, *rest])

    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_an_ambiguous_id_names_the_candidates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [f"abc{n}-0000" for n in range(2)]
    make_store(tmp_path, [SessionData(id=one, runs=((human("hi"),),)) for one in ids])

    code = main(["show", str(tmp_path), "abc"])

    said = capsys.readouterr().err
    assert code == 2
    assert all(one in said for one in ids)


def test_a_damaged_line_is_named_and_the_rest_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = (human("go"), says("on"), result("c9", "late"))
    make_store(tmp_path, (SessionData(runs=(talk,), records=b'{"id":"r1","tim'),))

    assert main(["compactions", str(tmp_path), SESSION, "--json"]) == 0

    out, err = capsys.readouterr()
    assert json.loads(out) == []
    assert ".jsonl:1:" in err


@pytest.mark.parametrize("command", ["list", "show", "compactions", "diff"])
def test_a_terminal_without_unicode_gets_escapes(command: str, project: list[str]) -> None:
    rest = {"list": [], "diff": [LOOPING, "12"]}.get(command, [LOOPING])
    poor = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}

    done = subprocess.run(
        [sys.executable, "-m", "app", command, *project, *rest],
        env=poor,
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u" in done.stdout


def test_a_folder_without_sessions_says_where_it_looked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", str(tmp_path)]) == 0

    assert str(tmp_path) in capsys.readouterr().out
