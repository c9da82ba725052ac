"""What all tests share: the corpus of real sessions, and a home that is never the user's."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

# The same examples on every machine, and no deadline: a busy one is not a broken one.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.load_profile("steady")

NEVER_SKIPPED_IN_CI = ("browser", "window")
"""Marks of tests that a machine may lack the means for, but not the one that guards the project."""

CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real sessions, unpacked: `<archive name>/…`. To be read only."""
    root = tmp_path_factory.mktemp("corpus")
    for archive in sorted(CORPUS.glob("*.tar.xz")):
        with tarfile.open(archive) as tar:
            # Python 3.11.2, Debian 12's, knows no filters yet.
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
            tar.extractall(root)
    return root


@pytest.fixture(autouse=True)
def _no_real_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANCHORLINE_HOME", str(tmp_path / "nobody"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test that has to run and was skipped has failed."""
    report = yield
    guarded = any(item.get_closest_marker(mark) for mark in NEVER_SKIPPED_IN_CI)
    if report.skipped and guarded and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow here: {report.longrepr}"
    return report
