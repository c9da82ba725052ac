"""What stands in a conversation where a large tool result was moved to a file, taken apart.

Both gates of harness9 leave such a text; its form is fixed by people's files (facts §4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Gate(StrEnum):
    """What moved the tool result away."""

    HOOK = "hook"
    """Right after the tool ran, before the result entered the conversation."""
    COMPACTION = "compaction"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """What a placeholder says about the text it stands for."""

    gate: Gate
    path: str
    """As written: relative to the project, absolute in early versions."""
    lines: int
    bytes: int
    preview_lines: int
    preview: str


_COMPACTION = re.compile(
    r"\[offloaded: (?P<path>[^\n]*) \| (?P<lines>\d{1,18}) 行 / (?P<bytes>\d{1,18}) bytes\]\n"
    r"预览（前 (?P<shown>\d{1,18}) 行）：\n"
    r"(?P<preview>.*)\n"
    r"\.\.\.（完整结果已保存至文件，可通过 read_file 检索）",
    re.DOTALL | re.ASCII,
)
_HOOK = re.compile(
    r"\[输出已保存至 (?P<path>[^\n]*)，共 (?P<lines>\d{1,18}) 行 / (?P<bytes>\d{1,18}) 字节。\n"
    r"可通过 read_file 工具配合 offset/limit 参数分页读取。\n\n"
    r"预览（前 (?P<shown>\d{1,18}) 行）：\n"
    r"(?P<preview>.*)\n"
    r"\.\.\.（已截断）\]",
    re.DOTALL | re.ASCII,
)


def parse_placeholder(content: str) -> Placeholder | None:
    """The placeholder that `content` is, whole and exact; None when it is anything else."""
    for gate, form in ((Gate.COMPACTION, _COMPACTION), (Gate.HOOK, _HOOK)):
        match = form.fullmatch(content)
        if match is not None:
            return Placeholder(
                gate,
                match["path"],
                int(match["lines"]),
                int(match["bytes"]),
                int(match["shown"]),
                match["preview"],
            )
    return None
