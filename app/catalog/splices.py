"""A list that changes over time, kept as what changed: reading any of its states stays linear.

A state is either a key, which holds its whole list, or one splice away from the state before it. A
key is due as soon as the splices since the last one weigh more than a key would: so 10 000
appended items take 10 000 entries, and no state takes more steps to read than it is long.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

LIGHT = 64
"""Splices of so little weight are never worth a key."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Put `inserted` in place of the `removed` items from index `start` on."""

    start: int
    removed: int
    inserted: tuple[int, ...]

    @property
    def weight(self) -> int:
        return max(1, len(self.inserted))

    @property
    def is_nothing(self) -> bool:
        return not self.removed and not self.inserted

    def apply(self, items: list[int]) -> None:
        """Changes `items` in place."""
        items[self.start : self.start + self.removed] = self.inserted


def splice(before: Sequence[int], after: Sequence[int]) -> Splice:
    """The smallest single splice that makes `after` of `before`."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return Splice(head, len(before) - head - tail, tuple(after[head : len(after) - tail]))


def is_key_due(weight: int, length: int) -> bool:
    """Whether a list of `length` items should be kept whole, given the `weight` since the last."""
    return weight > max(length, LIGHT)


def packed_ids(ids: Sequence[int]) -> bytes:
    """Numbers below 2³² as four bytes each."""
    return struct.pack(f"<{len(ids)}I", *ids)


def unpacked_ids(raw: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(raw) // 4}I", raw)
