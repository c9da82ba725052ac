"""Waiting for somebody else's code, but never past a deadline and never past a cancel."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from queue import Empty, Queue
from threading import Event, Thread
from typing import Generic, TypeVar

from app.llm.failures import Cancelled, TimedOut
from compaction.messages import Message
from compaction.ports import Summariser
from compaction.summary import SummaryRequest

T = TypeVar("T")

LOOK = 0.05
"""Seconds between two looks at the cancel event while nothing arrives."""


class Deadline:
    """A moment after which nobody waits any more."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; never negative."""
        return max(self._end - time.monotonic(), 0.0)

    def check(self, cancel: Event) -> None:
        """Raises Cancelled or TimedOut where either is so."""
        if cancel.is_set():
            raise Cancelled("cancelled")
        if not self.left:
            raise TimedOut(f"no answer within {self.seconds:g} s")


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None = None


class BoundedSummariser:
    """Another summariser, waited for no longer than a deadline and no longer than wanted."""

    def __init__(
        self, inner: Summariser, seconds: float = 60.0, cancel: Event | None = None
    ) -> None:
        self._inner = inner
        self._seconds = seconds
        self._cancel = cancel or Event()

    def summarise(self, request: SummaryRequest) -> Message | None:
        """The other's answer. Raises TimedOut, Cancelled, or what the other raises."""

        def produce() -> Generator[Message | None, None, None]:
            yield self._inner.summarise(request)

        with closing(watched(produce, Deadline(self._seconds), self._cancel)) as answers:
            return next(answers)


def watched(
    produce: Callable[[], Generator[T, None, None]], deadline: Deadline, cancel: Event
) -> Generator[T, None, None]:
    """What `produce` yields, as it comes. What it raises is raised here.

    It runs in a thread of its own, so that a blocked read cannot hold us: past the deadline, or
    when cancelled, it is left behind and ends at its next item or its own time-out. So it is when
    this generator is closed.

    Raises Cancelled or TimedOut.
    """
    arrivals: Queue[_Item[T] | _End] = Queue()
    left = Event()
    work = partial(_work, produce, arrivals, left)
    Thread(target=work, name="claude", daemon=True).start()
    try:
        while True:
            deadline.check(cancel)
            try:
                arrival = arrivals.get(timeout=min(LOOK, deadline.left))
            except Empty:
                continue
            if isinstance(arrival, _Item):
                yield arrival.value
            elif arrival.error is not None:
                raise arrival.error
            else:
                return
    finally:
        left.set()


def _work(
    produce: Callable[[], Generator[T, None, None]], arrivals: Queue[_Item[T] | _End], left: Event
) -> None:
    try:
        with closing(produce()) as items:
            for item in items:
                if left.is_set():
                    return
                arrivals.put(_Item(item))
    except BaseException as error:  # it belongs to the one who waits
        arrivals.put(_End(error))
    else:
        arrivals.put(_End())
