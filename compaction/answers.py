"""What a summariser's answer says, however a model dresses it, and which answers say nothing."""

from __future__ import annotations

import re

from compaction.anchors import ABSENT, HEADINGS, SPACE, Anchor, Summary, says_nothing
from compaction.messages import Message

_NAMES = {
    "user_intent": ("user intent", "user intents", "intent", "用户意图", "用户目标", "意图"),
    "execution_progress": ("execution progress", "progress", "执行进度", "执行进展", "进度"),
    "key_decision": ("key decisions", "key decision", "decisions", "关键决策", "关键决定"),
    "tried_solution": ("tried solutions", "tried solution", "尝试方案", "尝试过的方案"),
    "next_step": ("next steps", "next step", "下一步", "下一步计划", "后续步骤"),
    "summary": ("summary", "摘要", "总结", "概要"),
    "": ("anchors", "锚点", "context compaction"),
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names}
_NAMED = "|".join(sorted(map(re.escape, _KINDS), key=len, reverse=True))
# A heading is marked: by #, by bold, by brackets, by a number, or by a colon behind it.
# Patterns are text here: compiled when first used, so that importing the engine stays quick.
_HEADING = (
    rf"(?P<mark>[#*_\[【\s>]*(?:\d+[.)、]\s*)?[*_]*)(?P<name>{_NAMED})"
    r"(?P<end>[*_\]】\s]*[:：]?[*_\s]*#*)(?P<rest>.*)"
)
_FENCE = r"\s*(?:```|~~~)\s*\w*\s*"

_EVASION = (
    r"(?:do(?:n'|n’| no)t|can(?:no|')t|can’t|unable to) (?:see|find|access) (?:any|the|a)\b"
    r"|no (?:conversation|messages|content|text|session)\b.{0,40}\b(?:to|provided|given|found|here)"
    r"|nothing to (?:summari[sz]e|condense)|(?:provide|share|paste) the (?:conversation|messages)"
    r"|没有(?:看到|找到|提供)?.{0,12}(?:对话|内容|消息|会话).{0,12}(?:总结|摘要|压缩)"
    r"|没有可(?:以)?(?:总结|摘要|压缩)|请提供.{0,8}(?:对话|内容)"
)
_EVASIVE = 600
"""Characters beyond which an answer is taken for one, whatever it begins with."""


class NoSummary(ValueError):
    """An answer that is no summary; the text says why."""


def read_answer(answer: Message | None) -> Summary:
    """The summary in a model's answer. Anchors that say nothing, in whatever words, are `N/A`.

    Text under no known heading belongs to the summary. Raises NoSummary where the answer is empty,
    or says only that there is nothing to summarise.
    """
    text = answer.content if answer is not None else ""
    if not text.strip(SPACE):
        raise NoSummary("the summary is empty")
    summary = read_summary(text)
    has_anchors = not all(anchor.is_absent for anchor in summary.anchors)
    if not has_anchors and says_nothing(summary.text):
        raise NoSummary("the summary says nothing")
    if not has_anchors and len(text) <= _EVASIVE and re.search(_EVASION, text, re.IGNORECASE):
        raise NoSummary("the model saw nothing to summarise")
    return summary


def read_summary(text: str) -> Summary:
    """Anchors and summary under headings in any dress: fenced, bold, lower-case or Chinese."""
    found: dict[str, list[str]] = {"summary": []}
    section = found["summary"]
    for line in _unfenced(text.splitlines()):
        heading = _heading(line)
        if heading is None:
            if line.lstrip().startswith("#"):
                section = found["summary"]  # one that nobody asked for: what it says is kept
            section.append(line)
            continue
        kind, rest = heading
        # A second section of a kind is part of it, not another that replaces it.
        section = found.setdefault(kind or "summary", [])
        if rest:
            section.append(rest)
    values = {kind: "\n".join(lines).strip(SPACE) for kind, lines in found.items()}
    anchors = (Anchor(kind, _said(values.get(kind, ""))) for kind in HEADINGS)
    return Summary(tuple(anchors), values["summary"])


def _unfenced(lines: list[str]) -> list[str]:
    """Without the fence around the whole answer; one within it belongs to the text."""
    fences = [index for index, line in enumerate(lines) if re.fullmatch(_FENCE, line)]
    first = next((index for index, line in enumerate(lines) if _heading(line)), len(lines))
    if not fences or fences[0] > first:
        return lines
    around = {fences[0], fences[-1]}
    return [line for index, line in enumerate(lines) if index not in around]


def _said(value: str) -> str:
    return ABSENT if says_nothing(value) else value


def _heading(line: str) -> tuple[str, str] | None:
    match = re.fullmatch(_HEADING, line.strip(SPACE), re.IGNORECASE)
    if match is None:
        return None
    has_colon = ":" in match["end"] or "：" in match["end"]
    is_marked = bool(match["mark"].strip(" >"))
    if match["rest"] and not (has_colon and is_marked):
        return None
    if not match["rest"] and not (has_colon or is_marked):
        return None
    return _KINDS[match["name"].lower()], match["rest"].strip(SPACE + "*_")
