"""Offloaded results as files: whole, private, and inside their folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from app.stores import FileOffloads
from compaction import SAFE, Message, OffloadEntry, Ports, Settings, Tier, compact
from tests.compaction.generators import said


def entry(path: str) -> OffloadEntry:
    return OffloadEntry("c1", "", path, 0, 1)


def test_what_was_saved_can_be_read_under_the_path_that_a_preview_names(tmp_path: Path) -> None:
    store = FileOffloads(tmp_path)
    messages = [
        *said(("system", "S"), ("user", "go"), ("assistant", "", "../../c1")),
        Message("user", "déjà 漢字\n" * 900, tool_call_id="../../c1"),
        *said(*[("assistant", "so")] * 6),
    ]
    settings = Settings(1000, session_id="../s", rules=SAFE)

    result = compact(messages, settings, Ports(offloads=store), tier=Tier.WARN)

    (saved,) = result.record.offloaded or ()
    assert store.read(saved.file_path) == messages[3].content


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_folders_and_files_are_for_their_owner_only(tmp_path: Path) -> None:
    FileOffloads(tmp_path / "new").save(entry("a/b/c1.txt"), "text")

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").rglob("*")}
    assert modes == {"a": 0o700, "b": 0o700, "c1.txt": 0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


@pytest.mark.parametrize("path", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "", "a\x00b"])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    store = FileOffloads(tmp_path / "inside")

    with pytest.raises(ValueError, match="leads out of the folder"):
        store.save(entry(path), "text")
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(tmp_path)

    with pytest.raises(ValueError, match="leads out"):
        FileOffloads(tmp_path / "inside").save(entry("link/out.txt"), "text")


def test_a_failed_save_leaves_neither_half_a_file_nor_a_scrap(tmp_path: Path) -> None:
    (tmp_path / "c1.txt").mkdir()

    with pytest.raises(OSError, match=r"c1\.txt"):
        FileOffloads(tmp_path).save(entry("c1.txt"), "text")

    assert [path.name for path in tmp_path.iterdir()] == ["c1.txt"]
