"""Records, offloads and plans are followed by what changed in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.catalog import FileChange, RecordsChange
from compaction.records import record_line
from tests.builders import SESSION, record
from tests.catalog.conftest import Watched

LINES = [record_line(record(id=f"r{n}", summary_text="总结 " * 40)).encode() for n in range(4)]


@pytest.fixture
def records(watched: Watched) -> Path:
    path = watched.folder / ".harness9" / "compaction_records" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    return path


def names(watched: Watched) -> list[str]:
    rows = watched.catalog.reader().execute("SELECT name FROM records ORDER BY path, line, id")
    return [row[0] for row in rows]


def damage(watched: Watched) -> list[tuple[int, str]]:
    return list(watched.catalog.reader().execute("SELECT line, says FROM damage ORDER BY line"))


def test_appended_records_are_added(watched: Watched, records: Path) -> None:
    records.write_bytes(LINES[0])
    assert watched.refresh().changes == [RecordsChange(SESSION, 1)]

    with records.open("ab") as file:
        file.write(LINES[1] + LINES[2])

    assert watched.refresh().changes == [RecordsChange(SESSION, 2)]
    assert names(watched) == ["r0", "r1", "r2"]
    assert watched.refresh().changes == []


def test_a_record_written_in_pieces_is_taken_when_it_is_whole(
    watched: Watched, records: Path
) -> None:
    cut = LINES[1].index("总".encode()) + 1
    records.write_bytes(LINES[0] + LINES[1][:cut])
    watched.refresh()
    assert names(watched) == ["r0"]
    assert [line for line, _says in damage(watched)] == [2]

    with records.open("ab") as file:
        file.write(LINES[1][cut:])

    assert watched.refresh().changes == [RecordsChange(SESSION, 1)]
    assert names(watched) == ["r0", "r1"]
    assert damage(watched) == []


def test_a_last_line_without_its_newline_is_taken_once(watched: Watched, records: Path) -> None:
    records.write_bytes(LINES[0] + LINES[1].rstrip(b"\n"))
    watched.refresh()

    with records.open("ab") as file:
        file.write(b"\n" + LINES[2])

    assert watched.refresh().changes == [RecordsChange(SESSION, 1)]
    assert names(watched) == ["r0", "r1", "r2"]


def test_a_truncated_file_of_records_is_read_anew(watched: Watched, records: Path) -> None:
    records.write_bytes(b"".join(LINES))
    watched.refresh()

    records.write_bytes(LINES[0])

    assert watched.refresh().changes == [RecordsChange(SESSION, -3)]
    assert names(watched) == ["r0"]


def test_a_longer_file_put_in_its_place_is_read_anew(watched: Watched, records: Path) -> None:
    records.write_bytes(LINES[0])
    watched.refresh()

    other = records.with_suffix(".new")
    other.write_bytes(LINES[3] + LINES[2])
    other.replace(records)
    watched.refresh()

    assert names(watched) == ["r3", "r2"]


def test_a_deleted_file_of_records_is_forgotten(watched: Watched, records: Path) -> None:
    records.write_bytes(LINES[0])
    watched.refresh()

    records.unlink()
    watched.refresh()

    assert names(watched) == []


def test_offloaded_results_come_change_and_go(watched: Watched) -> None:
    path = watched.folder / ".harness9" / "tool_results" / SESSION / "c1.txt"
    path.parent.mkdir(parents=True)
    path.write_text("one")
    assert watched.refresh().changes == [FileChange("offload", SESSION, "c1", is_gone=False)]
    assert watched.refresh().changes == []

    path.write_text("two, longer")
    assert watched.refresh().changes == [FileChange("offload", SESSION, "c1", is_gone=False)]

    path.unlink()
    assert watched.refresh().changes == [FileChange("offload", SESSION, "c1", is_gone=True)]


def test_links_among_the_files_are_told_and_not_followed(watched: Watched, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("private")
    folder = watched.folder / ".harness9" / "tool_results" / SESSION
    folder.mkdir(parents=True)
    (folder / "c1.txt").symlink_to(secret)

    outcome = watched.refresher.refresh()

    assert outcome.changes == []
    assert [one.path.name for one in outcome.damage] == ["c1.txt"]
