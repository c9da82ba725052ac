"""The command line: which command is meant, how it ends, and how quickly it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app import __version__
from app.cli import main
from tests.builders import SessionData, human, make_store
from tests.programs import CHECKOUT, PATIENCE

SLOW_OR_RARE = ("anthropic", "flask", "playwright", "rapidfuzz", "tiktoken", "webview")


def loaded_after(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running `code`."""
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=CHECKOUT,
        capture_output=True,
        check=True,
        text=True,
        timeout=PATIENCE,
    )
    return set(done.stdout.split())


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"anchorline {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--home"],
        ["serve"],
        ["serve", ".", "--port", "70000"],
        ["serve", ".", "--port", "-1"],
        ["serve", ".", "--unknown"],
        ["serve", ".", "--po", "1"],
        ["diff", ".", "some", "x"],
        ["recompact", ".", "some", "--at", "-1"],
        [".", "."],
    ],
    ids=" ".join,
)
def test_bad_usage_ends_with_2_and_a_sentence(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "error:" in said.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["{there}"],
        ["open", "{there}"],
        ["serve", "{there}"],
        ["--home", "{home}", "{there}"],
        ["--home={home}", "{there}"],
        ["--home", "{home}", "serve", "{there}"],
        ["serve", "--home", "{home}", "{there}"],
        ["serve", "{there}", "--home", "{home}"],
        ["--", "{there}"],
    ],
    ids=" ".join,
)
def test_a_folder_that_is_not_there_is_bad_usage(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "not there"

    code = main([one.format(there=there, home=tmp_path) for one in arguments])

    assert code == 2
    assert capsys.readouterr().err.startswith(f"anchorline: {there} is not a folder")


def test_a_folder_named_like_a_command_is_reached_through_the_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    code = main(["./serve"])

    assert code == 2
    assert "serve is not a folder" in capsys.readouterr().err


def test_finding_the_command_loads_no_library() -> None:
    loaded = loaded_after("import app.cli; app.cli._parser()")

    assert loaded.isdisjoint({*SLOW_OR_RARE, "sqlite3", "waitress", "subprocess"})


def test_serving_loads_nothing_that_only_a_run_or_a_window_needs(tmp_path: Path) -> None:
    loaded = loaded_after(
        "from pathlib import Path\n"
        "from app.desktop import launcher\n"
        "from app.desktop.host import serving\n"
        f"with serving(Path({str(tmp_path)!r}), None): pass\n"
    )

    assert "flask" in loaded
    assert loaded.isdisjoint({"anthropic", "playwright", "tiktoken", "webview"})


def test_a_home_that_is_not_there_is_said_and_the_project_still_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_store(tmp_path / "billing", [SessionData(runs=([human("Port the report")],))])

    code = main(["list", str(tmp_path / "billing"), "--home", str(tmp_path / "typo")])

    said = capsys.readouterr()
    assert code == 0
    assert "Port the report" in said.out
    assert "typo: there is no such folder" in said.err
