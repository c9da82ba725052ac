"""Every strategy on every bundled session: `python benchmarks/corpus.py > docs/comparison.md`.

The window is made to hold half of each session, so that there is something to compact.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from app.services.compare import SIDE_BY_SIDE, compared, contestants, fitted, settings_for  # noqa: E402
from app.sources import open_folder  # noqa: E402
from app.sources.model import Session  # noqa: E402
from compaction.compare import Row  # noqa: E402

FIT = 0.5
INTRO = """\
# Strategies compared on the bundled sessions

Made by `python benchmarks/corpus.py`; [measures](measures.md) says what each figure means. Every
session is played back call by call with a window that holds half of it, so that each strategy has
something to do. Tokens are bytes over four; summaries are extracts made offline, so how well a
*model* would summarise is not measured here. `harness9` is the original's ladder as it writes back,
with its faults; everything else follows the [safe rule book](rule-books.md). Times are left out:
they are the machine's.
"""
HEAD = (
    "strategy",
    "left",
    "compactions",
    "first at call",
    "over window",
    "asked",
    "sent",
    "cache break",
    "human lines",
    "anchors",
    "in view",
    "in files",
    "lost",
)


def sessions(root: Path) -> Iterator[tuple[str, Session]]:
    """The corpus, unpacked below `root`: archive and session."""
    for archive in sorted((ROOT / "tests" / "corpus").glob("*.tar.xz")):
        with tarfile.open(archive) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
            tar.extractall(root)
        name = archive.name.removesuffix(".tar.xz")
        project = root / name / "project"
        folder = project if project.exists() else root / name
        home = root / name / "home"
        workspace = open_folder(folder, home if home.exists() else root / "nobody")
        for info in sorted(workspace.sessions(), key=lambda each: each.id):
            session = workspace.session(info.id)
            if session.messages:
                yield name, session


def rows_of(session: Session) -> tuple[Row, ...]:
    """All strategies on one session."""
    settings = fitted(settings_for(session, {}), session, FIT)
    return compared(session, contestants(SIDE_BY_SIDE, settings))


def cells(row: Row) -> Sequence[str]:
    """A row of the table of one session."""
    return (
        row.name,
        f"{row.ratio:.0%}",
        str(len(row.steps)),
        _or_none(row.first_trigger),
        f"{row.calls_over} of {row.calls}",
        str(row.asked),
        f"{row.sent_tokens:,}",
        _or_none(row.cache_break),
        f"{row.human_kept} of {row.human_lines}",
        _or_none(row.anchors),
        *(_share(share) for share in (row.in_view, row.in_files, row.lost)),
    )


def _or_none(value: int | None) -> str:
    return "–" if value is None else str(value)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def overall(every: Sequence[Row]) -> Iterator[Sequence[str]]:
    """Medians and sums over all sessions, one row per strategy."""
    for name in SIDE_BY_SIDE:
        rows = [row for row in every if row.name == name]
        yield (
            name,
            f"{median(row.ratio for row in rows):.0%}",
            str(sum(len(row.steps) for row in rows)),
            f"{sum(row.calls_over for row in rows)} of {sum(row.calls for row in rows)}",
            str(sum(row.asked for row in rows)),
            f"{sum(row.sent_tokens for row in rows):,}",
            f"{sum(row.human_kept for row in rows)} of {sum(row.human_lines for row in rows)}",
            *_pooled(rows),
        )


def _pooled(rows: Sequence[Row]) -> Iterator[str]:
    uses = sum(row.uses for row in rows)
    in_files, lost = sum(row.uses_in_files for row in rows), sum(row.uses_lost for row in rows)
    yield from (_share(part / uses) for part in (uses - in_files - lost, in_files, lost))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


OVERALL = (
    "strategy",
    "left (median)",
    "compactions",
    "over window",
    "asked",
    "sent",
    "human lines",
    "in view",
    "in files",
    "lost",
)


def main() -> None:
    """Print the page."""
    with tempfile.TemporaryDirectory() as folder:
        found = [(name, session, rows_of(session)) for name, session in sessions(Path(folder))]
    print(INTRO)
    print("## All sessions together\n")
    print(table(OVERALL, overall([row for _, _, rows in found for row in rows])))
    for name, session, rows in found:
        tokens = rows[0].tokens_whole
        print(f"\n## {name}, {session.info.id[:8]}\n")
        print(f"{len(session.messages)} messages, {tokens:,} tokens with the system prompt.\n")
        print(table(HEAD, map(cells, rows)))


if __name__ == "__main__":
    main()
