"""Following every link and running every command leaves the inspected folders as they were."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import main
from app.services import Services, build
from app.web import create_app
from tests.builders import traces
from tests.sources.conftest import Writer, writer
from tests.web.conftest import TOKEN, admitted
from tests.web.pages import Page, walk

__all__ = ["writer"]  # a fixture

PROJECTS = {
    "coding-home": ("project", "home"),
    "research-zh": (".", "nowhere"),
    "writeback-home": ("project", "home"),
    "lost-runs": (".", "nowhere"),
}


@pytest.fixture(params=sorted(PROJECTS))
def root(request: pytest.FixtureRequest, corpus: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(corpus / request.param, tmp_path / request.param))


def follow_every_link(services: Services) -> int:
    """A page of each kind that can be reached is there, sound and small; returns how many."""
    client = admitted(create_app(services, TOKEN))
    count = 0
    for url, answer in walk(client, alike=3):
        assert answer.status_code in (200, 302), url
        assert Page(answer.text).faults == [], url
        assert len(answer.data) < 2_000_000, url
        count += 1
    return count


def run_every_command(folder: str, home: str, services: Services) -> None:
    place = [folder, "--home", home, "--json"]
    assert main(["list", *place]) == 0
    for info in services.workspace.sessions():
        assert main(["show", *place, info.id]) == 0
        assert main(["compactions", *place, info.id]) == 0
        assert main(["recompact", *place, info.id]) == 0
        for n in range(1, len(services.session(info.id).account.verdicts) + 1, 9):
            assert main(["diff", *place, info.id, str(n)]) == 0


def walk_everything(root: Path) -> int:
    project, home = (root / part for part in PROJECTS[root.name])
    services = build(project, home)
    run_every_command(str(project), str(home), services)
    return follow_every_link(services)


def test_at_rest_the_whole_walk_touches_nothing(root: Path) -> None:
    before = traces(root)

    pages = walk_everything(root)

    assert pages > 30
    assert traces(root) == before


def test_beside_a_live_writer_the_whole_walk_touches_nothing(
    corpus: Path, tmp_path: Path, writer: Callable[[Path], Writer]
) -> None:
    root = Path(shutil.copytree(corpus / "lost-runs", tmp_path / "lost-runs"))
    (database,) = root.rglob("sessions.db")
    agent = writer(database)
    agent.wish("add")
    before = traces(root)

    walk_everything(root)

    assert agent.is_running
    assert traces(root) == before
