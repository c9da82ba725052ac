"""Offloaded results are paged through between characters and put back where they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.errors import SourceUnreadable
from app.sources.tool_results import count_lines, offload_files, original_of, read_page
from compaction.messages import Message
from compaction.offload import describe, hook_placeholder, placeholder
from tests.builders import SESSION, human, result

TEXT = "".join(f"line {n} 漢字\n" for n in range(400))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / ".harness9" / "tool_results" / SESSION
    folder.mkdir(parents=True)
    (folder / "c1.txt").write_text(TEXT, "utf-8", newline="")
    return tmp_path / "project"


def results(project: Path) -> Path:
    return project / ".harness9" / "tool_results"


def stands_for(text: str, call_id: str = "c1") -> Message:
    original = result(call_id, text)
    return result(call_id, placeholder(describe(original, SESSION), text, 10))


def test_files_are_listed_by_call_id_with_their_size(project: Path) -> None:
    files, damage = offload_files(results(project) / SESSION, ".harness9/tool_results/s")

    assert [(f.tool_call_id, f.size, f.relative) for f in files] == [
        ("c1", len(TEXT.encode()), ".harness9/tool_results/s/c1.txt")
    ]
    assert damage == ()


def test_links_pipes_and_folders_are_no_results(project: Path, tmp_path: Path) -> None:
    folder = results(project) / SESSION
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "folder.txt").mkdir()
    os.mkfifo(folder / "pipe.txt")

    files, damage = offload_files(folder, "")

    assert [f.tool_call_id for f in files] == ["c1"]
    assert {one.path.name for one in damage} == {"link.txt", "pipe.txt"}


@pytest.mark.parametrize("gate", ["compaction", "hook"])
def test_a_placeholder_is_given_its_original_back(project: Path, gate: str) -> None:
    entry = describe(result("c1", TEXT), SESSION)
    write = placeholder if gate == "compaction" else hook_placeholder

    found = original_of(result("c1", write(entry, TEXT, 20)), [results(project)], project)

    assert found is not None
    assert (found.text, found.is_sound, found.placeholder.gate) == (TEXT, True, gate)


def test_other_messages_are_no_placeholders(project: Path) -> None:
    for message in (human("hello"), human(""), result("c1", "[offloaded: x | 1 行 / 2 bytes]")):
        assert original_of(message, [results(project)], project) is None


def test_a_file_that_is_gone_is_said_so(project: Path) -> None:
    found = original_of(stands_for(TEXT, "c2"), [results(project)], project)

    assert found is not None
    assert (found.text, found.says) == (None, "The file it names is not in this project.")


def test_a_file_of_another_size_is_shown_with_a_warning(project: Path) -> None:
    found = original_of(stands_for(TEXT + "more\n"), [results(project)], project)

    assert found is not None
    assert found.text == TEXT
    assert "the placeholder speaks of" in found.says


def test_a_placeholder_over_its_own_original_is_recognised(project: Path) -> None:
    lost = stands_for(TEXT)
    (results(project) / SESSION / "c1.txt").write_text(lost.content, "utf-8")

    found = original_of(stands_for(lost.content), [results(project)], project)

    assert found is not None
    assert "overwritten and is lost" in found.says
    assert not found.is_sound


def test_a_project_that_was_moved_finds_absolute_paths_again(project: Path) -> None:
    entry = describe(result("c1", TEXT), SESSION)
    moved = placeholder(entry, TEXT, 10).replace(".harness9/", "/home/someone/.harness9/")

    found = original_of(result("c1", moved), [results(project)], project)

    assert found is not None
    assert found.text == TEXT


HOSTILE = [
    "/etc/passwd",
    "../../../../../../etc/passwd",
    ".harness9/tool_results/../../secret.txt",
    ".harness9/tool_results/../tool_results/../../secret.txt",
    "tool_results/../secret.txt",
    "x/tool_results/../secret.txt",
    "a\0b",
    ".",
    "",
    "C:\\x\\tool_results\\..\\secret.txt",
    ".harness9/tool_results/linked/secret.txt",
    "x" * 5000,
]


@pytest.mark.parametrize("path", HOSTILE)
def test_no_placeholder_leads_out_of_the_folder(project: Path, path: str) -> None:
    (project / "secret.txt").write_text("secret")
    (results(project) / "linked").symlink_to(project)
    text = stands_for(TEXT).content.replace(f".harness9/tool_results/{SESSION}/c1.txt", path)

    found = original_of(result("c1", text), [results(project)], project)

    assert found is None or found.text is None


def test_pages_join_to_the_whole_text(project: Path) -> None:
    path = results(project) / SESSION / "c1.txt"
    pages, offset = [], 0

    while offset < path.stat().st_size:
        page = read_page(path, offset, 37)
        pages.append(page.text)
        offset = page.end

    assert "".join(pages) == TEXT
    assert max(len(page.encode()) for page in pages) <= 37


@given(st.text(), st.integers(0, 50), st.integers(0, 9))
@example("𐀀\x80𐀀", 1, 0)
def test_a_page_is_never_cut_inside_a_character(
    tmp_path_factory: pytest.TempPathFactory, text: str, offset: int, limit: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "page.txt"
    raw = text.encode()
    path.write_bytes(raw)

    page = read_page(path, offset, limit)

    assert raw[page.start : page.end].decode() == page.text
    assert page.size == len(raw)
    assert page.end > page.start or page.is_last


@given(st.binary(), st.integers(1, 9))
def test_paging_gets_through_any_bytes_and_loses_none(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, limit: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.txt"
    path.write_bytes(raw)
    found, offset = b"", 0

    while offset < len(raw):
        page = read_page(path, offset, limit)
        found += page.text.encode("utf-8", "surrogateescape")
        assert page.end > offset
        offset = page.end

    assert found == raw


def test_lines_are_counted_as_harness9_does(project: Path) -> None:
    assert count_lines(results(project) / SESSION / "c1.txt") == 401


def test_a_pipe_is_not_waited_for(project: Path) -> None:
    os.mkfifo(results(project) / "pipe.txt")

    with pytest.raises(SourceUnreadable):
        read_page(results(project) / "pipe.txt", 0, 100)
