"""Repetition taken out of tool output: log lines of one shape, and errors that were seen before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

LEAST_RUN = 4
"""Lines of one shape in a row before they are folded."""

_VARYING = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)
_ERROR = re.compile(
    r"traceback|exception|error\b|\bfailed\b|\bfatal\b|\bpanic\b|错误|失败|异常", re.IGNORECASE
)
_LOOKED_AT = 4_000
"""Characters at the beginning of an output in which an error is looked for."""


def shape(text: str) -> str:
    """`text` with every number taken for the same: two log lines of one kind have one shape."""
    return _VARYING.sub("0", text).strip()


def fold_lines(text: str) -> str:
    """`text` with runs of lines of one shape cut to the first and the last of each.

    Text without such a run is returned as it is, and folding twice changes nothing more.
    """
    return "\n".join(_folded(text.split("\n")))


def _folded(lines: list[str]) -> Iterator[str]:
    for kind, group in groupby(lines, shape):
        run = list(group)
        if len(run) < LEAST_RUN or not kind:
            yield from run
            continue
        marker = f"[{len(run) - 2:,} similar lines left out]"
        short = [run[0], marker, run[-1]]
        yield from short if sum(map(len, short)) < sum(map(len, run)) else run


def error_line(text: str) -> str:
    """The line of an output that says what went wrong; empty where none does."""
    head = text[:_LOOKED_AT]
    found = _ERROR.search(head)
    if found is None:
        return ""
    start = head.rfind("\n", 0, found.start()) + 1
    return head[start:].partition("\n")[0].strip()


def error_shape(text: str) -> str:
    """What two outputs with the same error share; empty where there is no error."""
    return shape(text[:_LOOKED_AT]) if error_line(text) else ""
