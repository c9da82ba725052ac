"""Anchorline as a program of its own, started by a test and never outliving it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

CHECKOUT = Path(__file__).parents[1]
PATIENCE = 60
"""Seconds after which a test gives up waiting. Nothing is ever expected to take as long."""

URL = re.compile(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+")


@contextmanager
def program(
    *arguments: str | Path,
    cwd: Path = CHECKOUT,
    stdin: int | None = None,
    nohup: bool = False,
    **environment: str,
) -> Iterator[subprocess.Popen[str]]:
    """`anchorline` with these arguments, its output in pipes; an empty variable is not set."""
    variables = {**os.environ, "PYTHONPATH": str(CHECKOUT), **environment}
    with _hangup(signal.SIG_IGN if nohup else signal.SIG_DFL):
        process = subprocess.Popen(
            # -P: as with the installed command, the working folder is no place to import from.
            [sys.executable, "-P", "-m", "app", *map(str, arguments)],
            cwd=cwd,
            env={name: value for name, value in variables.items() if value},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
    with process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _hangup(handler: signal.Handlers) -> Iterator[None]:
    """What a program that is started meanwhile does when its terminal is closed, whatever the
    tests do: a program inherits what is ignored."""
    if sys.platform == "win32":
        yield
        return
    earlier = signal.signal(signal.SIGHUP, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, earlier)


def said(process: subprocess.Popen[str]) -> str:
    """The next line on its standard output; empty when there will be none."""
    assert process.stdout
    return process.stdout.readline()


def complained(process: subprocess.Popen[str]) -> str:
    """The next line on its standard error; empty when there will be none."""
    assert process.stderr
    return process.stderr.readline()


def stopped(process: subprocess.Popen[str], by: signal.Signals = signal.SIGTERM) -> int:
    """The exit code, after asking it to end."""
    process.send_signal(by)
    return process.wait(PATIENCE)


def status_of(url: str) -> int:
    """What the server answers: the status, with no redirect followed.

    Raises OSError when nobody answers.
    """
    parts = urlsplit(url)
    assert parts.hostname
    connection = HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    try:
        connection.request("GET", f"{parts.path or '/'}?{parts.query}")
        return connection.getresponse().status
    finally:
        connection.close()
