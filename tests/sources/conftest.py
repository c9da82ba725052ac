"""A database writer in another process, as an agent at work would be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("writer.py")


class Writer:
    """Holds a database open for writing until the test ends."""

    def __init__(self, database: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def wish(self, what: str) -> None:
        """Do it; returns when it is done."""
        assert self._process.stdin
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()
        self._answer()

    def stop(self) -> None:
        self._process.communicate()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def _answer(self) -> None:
        assert self._process.stdout
        self._process.stdout.readline()


@pytest.fixture
def writer() -> Iterator[Callable[[Path], Writer]]:
    started: list[Writer] = []

    def start(database: Path) -> Writer:
        started.append(Writer(database))
        return started[-1]

    yield start
    for one in started:
        one.stop()
