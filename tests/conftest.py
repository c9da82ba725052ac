"""What all tests share: the corpus of real sessions, and a home that is never the user's."""

from __future__ import annotations

import tarfile
from pathlib import Path

import hypothesis
import pytest

# The same examples on every machine, and no deadline: a busy one is not a broken one.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.load_profile("steady")

CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real sessions, unpacked: `<archive name>/…`. To be read only."""
    root = tmp_path_factory.mktemp("corpus")
    for archive in sorted(CORPUS.glob("*.tar.xz")):
        with tarfile.open(archive) as tar:
            tar.extractall(root, filter="data")
    return root


@pytest.fixture(autouse=True)
def _no_real_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANCHORLINE_HOME", str(tmp_path / "nobody"))
