"""Compaction records are read past whatever is damaged, and the damage is named by line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import SourceUnreadable
from app.sources.model import Records
from app.sources.records import read_records
from compaction.records import record_line
from tests.builders import record

R1, R2, R3 = (record(id=f"r{n}", summary_text="déjà vu – 漢字 ⚙") for n in (1, 2, 3))
LINE_1, LINE_2, LINE_3 = (record_line(one).encode() for one in (R1, R2, R3))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "s1.jsonl"


def read(file: Path, raw: bytes) -> tuple[list[tuple[int, str]], list[int | None]]:
    """Line and id of every record, and the lines that are damaged."""
    file.write_bytes(raw)
    found = read_records(file)
    return (
        [(line.line, line.record.id) for line in found.lines],
        [one.line for one in found.damage],
    )


def read_back(raw: bytes) -> Records:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "s1.jsonl"
        file.write_bytes(raw)
        return read_records(file)


def test_records_come_in_file_order_with_their_line(file: Path) -> None:
    file.write_bytes(LINE_2 + LINE_1)

    found = read_records(file)

    assert found.records == (R2, R1)
    assert [line.line for line in found.lines] == [1, 2]
    assert found.damage == ()


def test_a_torn_tail_is_reported_and_what_was_before_is_read(file: Path) -> None:
    assert read(file, LINE_1 + b'{"id":"r2","session_id":"s1","tim') == ([(1, "r1")], [2])


def test_a_torn_line_with_a_record_on_its_own_line_after_it(file: Path) -> None:
    torn = b'{"id":"r2","session_id":"s1","tim\n'

    assert read(file, LINE_1 + torn + LINE_3) == ([(1, "r1"), (3, "r3")], [2])


def test_two_records_run_together_are_never_mixed(file: Path) -> None:
    fused = b'{"id":"r2","session_id":"s1","tim' + LINE_3

    found, damaged = read(file, LINE_1 + fused + LINE_1)

    assert found == [(1, "r1"), (2, "r3"), (3, "r1")]
    assert damaged == [2]
    assert read_records(file).records[1] == R3


@given(st.integers(1, len(LINE_2) - 2))
def test_wherever_a_line_is_torn_the_next_record_is_whole(cut: int) -> None:
    found = read_back(LINE_1 + LINE_2[:cut] + LINE_3 + LINE_1)

    assert found.records == (R1, R3, R1)
    assert [one.line for one in found.damage] == [2]


def test_noise_in_the_middle_does_not_stop_reading(file: Path) -> None:
    raw = (
        b"\xef\xbb\xbf"
        + LINE_1
        + b"\0" * 300
        + b"\n"
        + LINE_2
        + b"\xff\xfe\x41\n"
        + LINE_3.replace(b"\n", b"\r\n")
    )

    assert read(file, raw) == ([(1, "r1"), (3, "r2"), (5, "r3")], [2, 4])
    assert read_records(file).records == (R1, R2, R3)


def test_nuls_in_front_of_a_record_are_reported_and_the_record_is_read(file: Path) -> None:
    assert read(file, b"\0" * 300 + LINE_1) == ([(1, "r1")], [1])


def test_the_default_encoding_does_not_matter(file: Path) -> None:
    file.write_bytes(LINE_1)
    program = (
        "import sys; from pathlib import Path; from app.sources.records import read_records;"
        "print(ascii(read_records(Path(sys.argv[1])).records[0].summary_text))"
    )
    env = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}

    shown = subprocess.run(
        [sys.executable, "-c", program, str(file)],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )

    assert shown.stdout.strip() == ascii(R1.summary_text)


def test_a_record_of_3_mib_is_read(file: Path) -> None:
    giant = replace(R2, summary_text="x" * 3 * 1024 * 1024)
    file.write_bytes(LINE_1 + record_line(giant).encode() + LINE_3)

    assert read_records(file).records == (R1, giant, R3)


def test_a_line_that_is_too_long_is_skipped_in_bounded_memory(file: Path) -> None:
    with file.open("wb") as out:
        out.write(LINE_1 + b'{"id":"')
        for _ in range(64):
            out.write(b"x" * 1024 * 1024)
        out.write(b'"}\n' + LINE_3)

    tracemalloc.start()
    found = read_records(file, longest=4 * 1024 * 1024)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [(line.line, line.record.id) for line in found.lines] == [(1, "r1"), (3, "r3")]
    assert [one.line for one in found.damage] == [2]
    assert peak < 24 * 1024 * 1024


def test_invalid_utf8_inside_a_record_is_reported_and_the_record_kept(file: Path) -> None:
    raw = LINE_1.replace("漢".encode(), b"\xff")

    assert read(file, raw) == ([(1, "r1")], [1])


@pytest.mark.parametrize("line", [b"{}", b"null", b"[]", b"7", b'{"tier":2.0}', b"[" * 99_999])
def test_lines_that_are_no_records_are_reported(file: Path, line: bytes) -> None:
    assert read(file, line + b"\n" + LINE_1) == ([(2, "r1")], [1])


def test_blank_lines_are_no_damage(file: Path) -> None:
    assert read(file, b"\n" + LINE_1 + b"\r\n") == ([(2, "r1")], [])


def test_a_last_line_without_newline_is_read(file: Path) -> None:
    assert read(file, LINE_1 + LINE_2.rstrip()) == ([(1, "r1"), (2, "r2")], [])


def test_reports_of_damage_are_bounded(file: Path) -> None:
    file.write_bytes(b"x\n" * 10_000 + LINE_1)

    found = read_records(file)

    assert found.records == (R1,)
    assert len(found.damage) == 201
    assert "9800 further lines" in found.damage[-1].says


def test_a_pipe_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)

    with pytest.raises(SourceUnreadable):
        read_records(pipe)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_exception(noise: bytes) -> None:
    found = read_back(noise + b"\n" + LINE_1)

    assert found.records[-1:] == (R1,)
