"""The engine does what the original did, on every recorded case."""

from pathlib import Path

import pytest

from tests.conformance import RULES, difference, read_vectors

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.jsonl.xz"))
COUNT = 3145


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_engine_matches_the_original(path: Path) -> None:
    differences = {v.id: found for v in read_vectors(path) if (found := difference(v))}

    assert differences == {}


def test_no_vector_went_missing() -> None:
    assert {path.parent.name for path in FILES} == set(RULES)
    assert sum(1 for path in FILES for _ in read_vectors(path)) == COUNT
