"""What the documentation must not leave out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.commands import COMMANDS

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_every_command_has_a_heading() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "docs/command-line.md").read_text("utf-8"), re.M)

    assert headings == [command.name for command in COMMANDS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    targets = [one for one in LINK.findall(page.read_text("utf-8")) if "://" not in one]

    missing = [one for one in targets if not (page.parent / one).exists()]

    assert missing == []


@pytest.mark.parametrize("command", ["make run", "make test"])
def test_the_readme_names_the_command(command: str) -> None:
    lines = [line.strip() for line in (ROOT / "README.md").read_text("utf-8").splitlines()]

    assert any(line.startswith(command) for line in lines)
