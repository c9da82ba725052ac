"""What the engine needs from the world: a summariser, a place for files, a clock, ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from compaction.embedding import HashedNgrams, MemoryVectors, Vector
from compaction.messages import Message
from compaction.records import ZERO_TIME, OffloadEntry

if TYPE_CHECKING:
    from compaction.summary import SummaryRequest


class Summariser(Protocol):
    """Something that can condense a stretch of conversation."""

    def summarise(self, request: SummaryRequest) -> Message | None:
        """The model's answer; None or an exception counts as a failure."""
        ...


class Offloads(Protocol):
    """Where offloaded tool results go."""

    def save(self, entry: OffloadEntry, content: str) -> None:
        """Keep `content` under `entry.file_path`. Raises OSError where it cannot be kept."""
        ...


class MemoryOffloads:
    """Keeps offloaded results in memory: for what-if runs, which write nowhere."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def save(self, entry: OffloadEntry, content: str) -> None:
        """Keep `content` in `files`, by path; a second one of the same path replaces it."""
        self.files[entry.file_path] = content


class Embedder(Protocol):
    """Turns texts into vectors of length one, so that similar texts have similar vectors."""

    @property
    def name(self) -> str:
        """What it is called where its choices are shown."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector per text; those of one call can be compared with each other."""
        ...


class Vectors(Protocol):
    """Where the vectors of one recall are kept."""

    def add(self, key: int, vector: Vector) -> None:
        """Keep a vector under a key."""
        ...

    def nearest(self, vector: Vector, count: int) -> Sequence[tuple[int, float]]:
        """The most similar keys with their similarity, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """The world as one compaction sees it. All defaults together: no world at all."""

    summariser: Summariser | None = None
    offloads: Offloads | None = None
    embedder: Embedder = HashedNgrams()  # noqa: RUF009 - immutable
    vectors: Callable[[], Vectors] = MemoryVectors
    """Opens an empty store."""
    keep: Callable[[Message], bool] = lambda _message: False
    """Whether a message has to stay word for word, as far as the limit allows."""
    on_leaving: Callable[[Sequence[Message]], None] = lambda _leaving: None
    """Told what is about to be summarised, before any of it is offloaded."""
    timestamp: Callable[[], str] = lambda: ZERO_TIME
    """Now, in RFC 3339 with an offset."""
    new_id: Callable[[], str] = str
    nanoseconds: Callable[[], int] = int
    """A clock that only runs forward."""
    cancelled: Callable[[], bool] = lambda: False
    """Whether somebody wants it to end; asked before every question to the summariser."""
