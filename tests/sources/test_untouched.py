"""Reading everything of a real project changes nothing in it, at rest or under a live writer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.sources import Workspace, open_folder
from compaction.tokens import estimate
from tests.builders import traces
from tests.sources.conftest import Writer

PROJECTS = {
    "coding-home": ("project", "home"),
    "research-zh": (".", "nowhere"),
    "writeback-home": ("project", "home"),
    "lost-runs": (".", "nowhere"),
}


@pytest.fixture(params=sorted(PROJECTS))
def root(request: pytest.FixtureRequest, corpus: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(corpus / request.param, tmp_path / request.param))


def workspace_of(root: Path) -> Workspace:
    project, home = PROJECTS[root.name]
    return open_folder(root / project, root / home)


def read_everything(workspace: Workspace) -> int:
    """Reads all there is; returns how many messages that was."""
    count = 0
    assert workspace.listing().damage == ()
    for info in workspace.sessions():
        session = workspace.session(workspace.resolve(info.id))
        assert session.damage == ()
        assert estimate(session.messages) == info.tokens
        assert info.belongs
        for message in session.messages:
            workspace.original_of(message)
        count += len(session.rows)
    return count


def test_at_rest_nothing_is_touched(root: Path) -> None:
    before = traces(root)

    count = read_everything(workspace_of(root))

    assert count > 0
    assert traces(root) == before


def test_beside_a_live_writer_nothing_is_touched(
    root: Path, writer: Callable[[Path], Writer]
) -> None:
    (database,) = root.rglob("sessions.db")
    agent = writer(database)
    agent.wish("add")
    before = traces(root)

    read_everything(workspace_of(root))

    assert traces(root) == before
    assert agent.is_running
