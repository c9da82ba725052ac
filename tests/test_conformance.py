"""The judge itself: it runs plain and packed files, names what fails, and counts."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import main


def _vector(name: str, tokens: int) -> dict[str, Any]:
    return {
        "id": name,
        "op": "estimate_tokens",
        "input": {"messages": [{"role": "user", "content": "x\u2028" * 4}]},
        "expect": {"tokens": tokens},
    }


def _write(path: Path, *vectors: dict[str, Any]) -> str:
    path.parent.mkdir(exist_ok=True)
    text = "".join(json.dumps(vector, ensure_ascii=False) + "\n" for vector in vectors)
    raw = text.encode()
    path.write_bytes(lzma.compress(raw) if path.suffix == ".xz" else raw)
    return str(path)


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.xz"])
def test_each_failing_id_is_named_and_the_last_line_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = _write(tmp_path / "view" / name, _vector("right", 4), _vector("wrong", 5))

    code = main([path])

    *failures, last = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in failures] == [["FAILED", "wrong"]]
    assert last == "1 passed, 1 failed"
    assert code == 1


def test_all_passing_ends_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path / "writeback" / "a.jsonl", _vector("right", 4))

    assert main([path]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n"


def test_an_unknown_operation_is_a_failure_not_a_skip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path / "view" / "a.jsonl", {**_vector("odd", 4), "op": "guess"})

    assert main([path]) == 1
    assert "FAILED odd" in capsys.readouterr().out


def test_a_folder_that_names_no_rule_book_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "elsewhere" / "a.jsonl", _vector("right", 4))

    with pytest.raises(SystemExit, match="must be named view or writeback"):
        main([path])


def test_an_id_that_no_file_name_can_hold_is_refused_like_any_failed_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nul = {
        "id": "nul",
        "op": "offload_hook",
        "input": {
            "session_id": "s1",
            "calls": [{"tool_name": "bash", "tool_call_id": "x\x00y", "output": "x" * 10_001}],
        },
        "expect": {"results": []},
    }

    main([_write(tmp_path / "view" / "a.jsonl", nul)])

    assert "results: 1 items, expected 0" in capsys.readouterr().out
