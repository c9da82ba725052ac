"""What the repository holds, and what it must not: places of one machine, hosts, loose ends."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
OURS = (".py", ".md", ".toml", ".html", ".css", ".js", ".yml", ".sh", "")
"""Suffixes of text that people of this project wrote."""
NOT_OURS = ("examples/", "static/vendor/", "tests/e2e/vendor/", "tests/corpus/", "tests/golden/")

MACHINE = re.compile(r"(?<![\w.])/(?:root|work|mnt)/[\w.]+")
REGISTRY = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|npmjs\.(?:com|org))\b")
LOOSE_END = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")


def tracked() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def written_here() -> list[tuple[str, str]]:
    """Name and text of every file that people of this project wrote."""
    paths = [
        path
        for path in tracked()
        if path.is_file()
        and path.suffix in OURS
        and not path.relative_to(ROOT).as_posix().startswith(NOT_OURS)
    ]
    return [(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_no_address_and_no_path(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")

    assert "://" not in text
    assert "index" not in text
    assert not re.search(r"^(?:-|/|\.)", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_every_package_with_its_hashes(lock: str) -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / lock).read_text("utf-8").strip())

    loose = [
        entry.splitlines()[0]
        for entry in entries
        if not re.match(r"[a-z0-9.-]+==[\w.]+", entry) or "--hash=sha256:" not in entry
    ]

    assert loose == []


def test_the_tests_run_on_the_versions_that_people_run() -> None:
    run, test = (
        set(re.findall(r"^[a-z0-9.-]+==\S+", (ROOT / lock).read_text("utf-8"), re.MULTILINE))
        for lock in LOCKS
    )

    assert run - test == set()


@pytest.mark.parametrize(
    "pattern",
    [MACHINE, REGISTRY, LOOSE_END],
    ids=["path of one machine", "registry host", "loose end"],
)
def test_no_file_of_ours_has(pattern: re.Pattern[str]) -> None:
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in written_here()
        if name != "tests/test_repository.py"
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]

    assert found == []


def test_scripts_can_be_run() -> None:
    for name in (".ci/run", "scripts/system-packages"):
        assert (ROOT / name).stat().st_mode & 0o100, name
