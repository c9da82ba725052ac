"""How the system asks us to end: Ctrl+C, a polite kill, the terminal being closed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def on_stop(act: Callable[[], None]) -> Iterator[None]:
    """Have `act` called, instead of the program being ended, while this lasts.

    `act` runs between any two steps of the main thread: it may only note what was asked.
    """
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    earlier = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        if not _outlives_the_terminal(number):
            signal.signal(number, lambda *_: act())
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _outlives_the_terminal(number: signal.Signals) -> bool:
    """Whether this is what `nohup` asked for."""
    return number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN
