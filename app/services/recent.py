"""Answers that were got last, kept for as long as the files they came from look the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Recent(Generic[Answer]):
    """At most `keep` answers. May be asked by several threads at once."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._kept: OrderedDict[Hashable, tuple[Hashable, Answer]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, stamp: Hashable, make: Callable[[], Answer]) -> Answer:
        """The answer to `key`: the kept one if it was made under the same `stamp`, else a new one.

        Two threads that miss at once both make it; what `make` raises is not kept.
        """
        with self._lock:
            known = self._kept.get(key)
            if known is not None and known[0] == stamp:
                self._kept.move_to_end(key)
                return known[1]
        answer = make()
        with self._lock:
            self._kept[key] = stamp, answer
            self._kept.move_to_end(key)
            while len(self._kept) > self._keep:
                self._kept.popitem(last=False)
        return answer
