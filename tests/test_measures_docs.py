"""What the page on measures says is so: its code runs, and no rule is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from app.services.compare import SIDE_BY_SIDE

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "measures.md").read_text("utf-8")
RULES = (ROOT / "compaction" / "antipatterns.py").read_text("utf-8")


def test_the_example_on_the_page_runs_as_it_stands() -> None:
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    names: dict[str, Any] = {}

    exec(code, names)

    assert [row.name for row in names["rows"]] == ["sparse", "sliding-window"]
    assert names["rows"][1].in_view == 1.0


def test_every_anti_pattern_is_on_the_page() -> None:
    ids = set(re.findall(r'Problem\(\s*"([\w-]+)"', RULES))
    listed = set(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.M))

    assert ids | {"damaged-data"} == listed


def test_the_comparison_page_is_what_its_script_prints() -> None:
    page = (ROOT / "docs" / "comparison.md").read_text("utf-8")

    done = subprocess.run(
        [sys.executable, "-X", "utf8", "benchmarks/corpus.py"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout == page
    assert page.count("| layered |") == page.count("\n## ")
    assert page.count("\n| ") == (len(SIDE_BY_SIDE) + 2) * page.count("\n## ")
