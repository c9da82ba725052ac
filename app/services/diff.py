"""Complete history beside compacted view: rows ready to be shown, from provenance alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from gettext import gettext as _

from app.errors import NotFound
from app.services.alignment import Band, Run, Stretch, rows, stretches
from app.services.messages import (
    CompactionText,
    Excerpt,
    Kind,
    compaction_text,
    excerpt,
    is_long,
    kind_of,
)
from app.text import shortened
from compaction.messages import Message
from compaction.provenance import Draft, Fate
from compaction.tokens import BYTES_PER_TOKEN, message_bytes

SHOWN = 1200
"""Characters of a message in a row; the rest is in the History view."""
SHOWN_ARGUMENTS = 160
_COLUMN = 40
"""Characters that a line of one side holds, about."""


@dataclass(frozen=True, slots=True)
class CallLine:
    """A tool call in one line."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One message on one side."""

    number: int | None
    """Its place in the session, 1-based; 0 is the system prompt, None is stored nowhere."""
    kind: Kind
    body: Excerpt
    tokens: int
    """Estimated, bytes/4."""
    calls: tuple[CallLine, ...] = ()
    compaction: CompactionText | None = None
    moved: bool = False
    """Its text was moved to a file, or is what stands for one."""
    is_known: bool = True
    """Otherwise the body says why there is none."""
    file: str = ""
    """The call id of the offloaded file with its whole text, where that can be opened."""

    @property
    def is_long(self) -> bool:
        """Whether its text is cut short until the reader opens it."""
        return is_long(self.body.text, _COLUMN)


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages that are no longer stored anywhere."""

    count: int


@dataclass(frozen=True, slots=True)
class Fold:
    """Messages that are not shown until asked for."""

    first: int
    last: int
    """Input indices, inclusive."""
    slot: int | None
    """The first one's slot on the right; None where only the left side has them."""
    tokens: int

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the diff."""

    fate: Fate
    left: tuple[Cell | Fold | Gap, ...] = ()
    right: Cell | None = None
    fold: Fold | None = None
    """Set for a bar across both sides; the other fields are empty then."""
    says: str = ""
    """What happened, in words, where the fate alone does not say it."""
    is_change: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """How many messages of one fate, and their size before and after."""

    fate: Fate
    messages: int
    tokens_before: int
    tokens_after: int
    is_known: bool
    """Whether all texts before are known; otherwise `tokens_before` lacks some."""


@dataclass(frozen=True, slots=True)
class Diff:
    """A whole comparison."""

    rows: tuple[Row, ...]
    tallies: tuple[Tally, ...]
    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int
    """Estimated, bytes/4, with the system message."""
    unknown: int
    """Messages before whose text is not known and not counted, the system prompt apart."""

    @property
    def changes(self) -> int:
        return sum(row.is_change for row in self.rows)


@dataclass(frozen=True, slots=True)
class Sides:
    """What a diff is made from."""

    before: Sequence[Message]
    draft: Draft
    numbers: Sequence[int | None] = ()
    """The session's number of each input message; by default the index, system being 0."""
    moved: frozenset[str] = frozenset()
    """Call ids whose results the compaction moved to files."""
    files: frozenset[str] = frozenset()
    """Call ids whose offloaded files can be opened."""
    unknown: Mapping[int, str] = field(default_factory=dict)
    """Input indices of messages whose text is not known, and what is shown instead."""

    def number(self, index: int) -> int | None:
        return self.numbers[index] if self.numbers else index


def diff(sides: Sides, expanded: bool = False) -> Diff:
    """The rows of a comparison; long unchanged and summarised stretches are folded."""
    found = [row for part in rows(sides.draft, expanded) for row in _rows(sides, part, expanded)]
    after = sides.draft.messages
    return Diff(
        tuple(found),
        _tallies(sides),
        len(sides.before),
        len(after),
        _tokens(sides.before),
        _tokens(after),
        sum(index > 0 for index in sides.unknown),
    )


def opened(
    sides: Sides, first: int, last: int, fate: str
) -> tuple[tuple[Row, ...], tuple[Cell, ...]]:
    """What a fold over inputs `first` to `last` hides: rows if they were kept, else left cells.

    Raises NotFound where there is no such stretch.
    """
    if not 0 <= first <= last < len(sides.before):
        raise NotFound(_("There is nothing folded there."))
    if fate != Fate.KEPT:
        return (), tuple(_left(sides, index) for index in range(first, last + 1))
    kept = (
        _kept(sides, slot.sources[0], place)
        for place, slot in enumerate(sides.draft.slots)
        if slot.fate is Fate.KEPT and first <= slot.sources[0] <= last
    )
    return tuple(kept), ()


def _rows(sides: Sides, part: Band | Run, expanded: bool) -> Iterable[Row]:
    if isinstance(part, Run):
        if part.folded:
            yield Row(Fate.KEPT, fold=_fold(sides, part.first, part.count, part.slot))
        else:
            yield from (
                _kept(sides, part.first + step, part.slot + step) for step in range(part.count)
            )
        return
    yield Row(
        part.fate,
        tuple(_left_of(sides, part, expanded)),
        None if part.slot is None else _right(sides, part.slot),
        says=part.reason,
        is_change=True,
    )


def _left_of(sides: Sides, band: Band, expanded: bool) -> Iterable[Cell | Fold | Gap]:
    known = [source for source in band.sources if source not in sides.unknown]
    if gone := len(band.sources) - len(known):
        yield Gap(gone)
    for stretch in stretches(known, expanded):
        yield from _stretch(sides, stretch)


def _kept(sides: Sides, index: int, slot: int) -> Row:
    # Kept for a reason: it was moved to its call, or chosen.
    reason = sides.draft.slots[slot].reason
    left, right = (_left(sides, index),), _right(sides, slot)
    return Row(Fate.KEPT, left, right, says=reason, is_change=bool(reason))


def _stretch(sides: Sides, stretch: Stretch) -> Iterable[Cell | Fold]:
    if stretch.folded:
        yield _fold(sides, stretch.first, stretch.count, None)
        return
    for index in range(stretch.first, stretch.last + 1):
        yield _left(sides, index)


def _fold(sides: Sides, first: int, count: int, slot: int | None) -> Fold:
    hidden = sides.before[first : first + count]
    return Fold(first, first + count - 1, slot, _tokens(hidden))


def _left(sides: Sides, index: int) -> Cell:
    message = sides.before[index]
    if index in sides.unknown:
        body, tokens = excerpt(sides.unknown[index]), _tokens((message,))
        return Cell(sides.number(index), kind_of(message), body, tokens, is_known=False)
    moved = message.tool_call_id in sides.moved
    return _with_file(sides, cell(message, sides.number(index), moved), message)


def _right(sides: Sides, slot: int) -> Cell:
    entry = sides.draft.slots[slot]
    if entry.fate is Fate.KEPT:
        return _left(sides, entry.sources[0])
    number = sides.number(entry.sources[0]) if len(entry.sources) == 1 else None
    return _with_file(sides, cell(entry.message, number), entry.message)


def _with_file(sides: Sides, shown: Cell, message: Message) -> Cell:
    if shown.moved and message.tool_call_id in sides.files:
        return replace(shown, file=message.tool_call_id)
    return shown


def cell(message: Message, number: int | None, moved: bool = False) -> Cell:
    """A message as one cell."""
    kind = kind_of(message)
    calls = tuple(
        CallLine(call.name, shortened(call.arguments[: 2 * SHOWN_ARGUMENTS], SHOWN_ARGUMENTS))
        for call in message.tool_calls
    )
    return Cell(
        number,
        kind,
        excerpt(message.content, SHOWN),
        _tokens((message,)),
        calls,
        compaction_text(message.content) if kind is Kind.COMPACTION else None,
        moved or kind is Kind.OFFLOADED,
    )


def _tallies(sides: Sides) -> tuple[Tally, ...]:
    parts: dict[Fate, list[tuple[tuple[int, ...], int]]] = {fate: [] for fate in Fate}
    for slot in sides.draft.slots:
        parts[slot.fate].append((slot.sources, message_bytes(slot.message)))
    for drop in sides.draft.drops:
        parts[Fate.DROPPED].append(((drop.source,), 0))
    return tuple(_tally(sides, fate, found) for fate, found in parts.items() if found)


def _tally(sides: Sides, fate: Fate, parts: Sequence[tuple[tuple[int, ...], int]]) -> Tally:
    sources = [source for some, _size in parts for source in some]
    return Tally(
        fate,
        len(sources) or len(parts),
        _tokens(sides.before[source] for source in sources),
        sum(size for _sources, size in parts) // BYTES_PER_TOKEN,
        all(source == 0 or source not in sides.unknown for source in sources),
    )


def _tokens(messages: Iterable[Message]) -> int:
    return sum(map(message_bytes, messages)) // BYTES_PER_TOKEN
