"""A session's stored rows, measured once, so that any stretch of them is weighed in no time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap

from compaction.messages import Message
from compaction.placeholder import Gate, parse_placeholder
from compaction.reconstruct.layers import Clues, Version, is_placeholder, unwrapped
from compaction.reconstruct.model import Originals, StoredRow
from compaction.reconstruct.pairs import Pairs
from compaction.records import CompactionRecord
from compaction.tokens import prefix_bytes
from compaction.utf8 import byte_length

_PREVIEW_LINES = 10
_LARGE = 4000
"""Bytes; both of harness9's limits for moving a result away at a compaction."""


@dataclass(frozen=True, slots=True)
class History:
    """Stored rows by index; the system prompt is not among them."""

    messages: tuple[Message, ...]
    runs: tuple[range, ...]
    """Rows that were saved together, in order."""
    pairs: Pairs
    sums: tuple[int, ...]
    """Bytes of the first i messages."""
    versions: dict[int, tuple[Version, ...]]
    """For each stored compaction placeholder, its texts from the original on. Read only."""
    large: tuple[int, ...]
    """Tool results that a compaction may move away, ascending."""
    preview_lines: int

    @classmethod
    def of(
        cls,
        rows: Sequence[StoredRow],
        records: Iterable[CompactionRecord],
        originals: Originals,
    ) -> History:
        messages = tuple(row.message for row in rows)
        preview = _preview_lines(messages)
        sizes = _listed_sizes(records)
        versions = {
            index: unwrapped(
                message,
                Clues(originals(message), sizes.get(message.tool_call_id, ())),
                preview,
            )
            for index, message in enumerate(messages)
            if is_placeholder(message)
        }
        large = tuple(
            index
            for index, message in enumerate(messages)
            if message.is_tool_result
            and (index in versions or byte_length(message.content) > _LARGE)
        )
        return cls(
            messages,
            _runs(rows),
            Pairs.of(messages),
            prefix_bytes(messages),
            versions,
            large,
            preview,
        )

    def __len__(self) -> int:
        return len(self.messages)

    def size(self, index: int) -> int:
        """Bytes of one message."""
        return self.sums[index + 1] - self.sums[index]

    def run_at(self, index: int) -> range:
        """The run of the message at `index`: its neighbours that were saved with it."""
        return self.runs[bisect_right(self.runs, index, key=lambda run: run.start) - 1]

    def placeholders_in(self, run: range) -> list[int]:
        """Compaction placeholders among the rows in `run`."""
        return [index for index in self.large_in(run) if index in self.versions]

    def large_in(self, where: range) -> Sequence[int]:
        """The large results in `where`."""
        start = bisect_left(self.large, where.start)
        return self.large[start : bisect_right(self.large, where.stop - 1)]


def _listed_sizes(records: Iterable[CompactionRecord]) -> dict[str, list[tuple[int, int]]]:
    sizes: dict[str, list[tuple[int, int]]] = {}
    for record in records:
        for entry in record.offloaded or ():
            sizes.setdefault(entry.tool_call_id, []).append((entry.bytes, entry.lines))
    return sizes


def _runs(rows: Sequence[StoredRow]) -> tuple[range, ...]:
    starts = [i for i, row in enumerate(rows) if i == 0 or row.batch != rows[i - 1].batch]
    return tuple(starmap(range, pairwise([*starts, len(rows)])))


def is_large(version: Version) -> bool:
    """Whether a compaction would move a result of this size away."""
    return version.bytes > _LARGE


def _preview_lines(messages: Sequence[Message]) -> int:
    """How many lines the session's placeholders show of results that have more."""
    for message in messages:
        found = parse_placeholder(message.content) if message.is_tool_result else None
        if found and found.gate is Gate.COMPACTION and found.preview_lines < found.lines:
            return found.preview_lines
    return _PREVIEW_LINES
