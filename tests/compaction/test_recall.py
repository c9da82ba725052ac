"""Carry-over recall on sessions small enough to check by hand."""

from __future__ import annotations

import pytest

from compaction import Message, ToolCall
from compaction.recall import facts_in, facts_of, recall
from tests.compaction.generators import said


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("see src/app/report.py, line 42.", {"src/app/report.py"}),
        ("raise KeyError in load_rows()", {"KeyError", "load_rows"}),
        ("HTTP 404 on port 8080 after 1.5 s", {"404", "8080", "1.5"}),
        ('say "no such column" twice', {"no such column"}),
        ("错误码 E1234，文件 表/a.csv，“找不到列”", {"E1234", "/a.csv", "找不到列"}),
        ("plain words only, and a-hyphen. Then more", set()),
        ("x" * 500 + "1234", set()),
    ],
)
def test_what_counts_as_a_fact(text: str, facts: set[str]) -> None:
    assert facts_in(text) == facts


def test_keys_of_arguments_are_no_facts_but_their_values_are() -> None:
    call = ToolCall("c", "bash", '{"file_path":"a/b.py","note":"line\\none_two"}')

    assert facts_of(Message("assistant", "", (call,))) == {"a/b.py", "one_two"}


SESSION = said(
    ("user", "The report is in data/report.csv, for order 7734"),
    ("assistant", "Reading.", "c1"),
    ("result", "c1", "error code E_COLUMN in parser.py"),
    ("assistant", "I see."),
    # The cut is here, before message 4.
    ("user", "Look at parser.py again"),
    ("assistant", "parser.py raised E_COLUMN for order 7734 in data/report.csv"),
)


def test_what_the_model_uses_after_the_cut_is_in_view_in_a_file_or_lost() -> None:
    view = said(("user", "The report is in data/report.csv"))
    files = {"c1.txt": "error code E_COLUMN in parser.py"}

    found = recall(SESSION, 4, view, files)

    assert found.in_view == ("data/report.csv",)
    assert found.retrievable == ("E_COLUMN",)
    assert found.lost == ("7734",)


def test_what_a_person_or_a_tool_says_again_first_need_not_have_been_remembered() -> None:
    found = recall(SESSION, 4, SESSION[:4])

    assert "parser.py" not in (*found.in_view, *found.retrievable, *found.lost)
    assert found.total == 3


def test_everything_is_in_view_where_nothing_was_compacted() -> None:
    found = recall(SESSION, 4, SESSION[:4])

    assert (found.retrievable, found.lost) == ((), ())


def test_what_is_never_used_again_is_not_counted() -> None:
    assert recall(SESSION[:4], 4, ()).total == 0
