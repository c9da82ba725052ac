"""The five anchors that must outlive every compaction: parsed, merged, rendered.

Rules: facts on harness9, §3 *Anchors* and details §4; the golden vectors decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ABSENT = "N/A"

HEADINGS = {
    "user_intent": "User Intent",
    "execution_progress": "Execution Progress",
    "key_decision": "Key Decisions",
    "tried_solution": "Tried Solutions",
    "next_step": "Next Steps",
}
"""Anchor type to heading, in the order in which they are always written."""

_TYPES = {f"### {heading}": kind for kind, heading in HEADINGS.items()}
_SUMMARY = "## Summary"

# Go's unicode.IsSpace. Python's str.strip() would also take U+001C to U+001F.
SPACE = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """One of the five things a task cannot go on without."""

    kind: str
    content: str

    @property
    def is_absent(self) -> bool:
        """Whether it is exactly the mark for nothing."""
        return self.content == ABSENT


@dataclass(frozen=True, slots=True)
class Summary:
    """What a summariser's answer says: always five anchors, and the free text."""

    anchors: tuple[Anchor, ...]
    text: str


def parse_summary(answer: str) -> Summary:
    """The anchors and the summary in a model's answer; what is missing is `N/A`.

    Headings match exactly after trimming. An unknown `###` heading ends the open anchor and its
    lines are dropped; everything after the first `## Summary` is summary.
    """
    found: dict[str, list[str]] = {}
    summary: list[str] = []
    section: list[str] | None = None
    in_summary = False
    for line in answer.split("\n"):
        heading = line.strip(SPACE)
        if heading == _SUMMARY:
            in_summary = True
        elif in_summary:
            summary.append(line)
        elif heading.startswith("### "):
            section = []
            if heading in _TYPES:
                found[_TYPES[heading]] = section
        elif section is not None:
            section.append(line)
    anchors = (Anchor(kind, _joined(found.get(kind, ())) or ABSENT) for kind in HEADINGS)
    return Summary(tuple(anchors), _joined(summary))


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines).strip(SPACE)


def merge(old: Sequence[Anchor], new: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """The anchors after an incremental summary.

    A new value replaces the old one unless it is exactly `N/A`. So `- N/A`, which prompts ask
    for, erases an anchor: the original's fault, kept because it explains recorded data.
    """
    values = {anchor.kind: anchor.content for anchor in old}
    values.update((anchor.kind, anchor.content) for anchor in new if not anchor.is_absent)
    return tuple(Anchor(kind, values.get(kind) or ABSENT) for kind in HEADINGS)


def render(anchors: Iterable[Anchor]) -> str:
    """The anchors as Markdown sections, in the order given."""
    sections = (f"### {HEADINGS.get(a.kind, '')}\n{a.content}\n\n" for a in anchors)
    return "".join(sections).strip(SPACE)


# Words that are nothing but a denial, alone or with an aside; "none of the tests pass" is neither.
# Text here, compiled when first used, so that importing the engine stays quick.
_NOTHING = (
    r"(?:"
    r"n\s*/\s*a|n\.a|na|none|nil|null|nothing|empty|unknown|unspecified|undefined|tbd"
    r"|not (?:applicable|available|specified|mentioned|stated|known|yet)"
    r"|(?:no|nothing|none) (?:new |further |other |relevant |specific |notable |key |major )*"
    r"(?:information|changes?|updates?|entries|items?|decisions?|steps?|solutions?|progress"
    r"|to (?:report|add|say|note)|applicable|applies)"
    r"|无|没有|暂无|暂时没有|尚无|不适用|未提及|未知|未指定|无内容|暂无内容|無|沒有|不適用"
    r"|なし|特になし|該当なし|없음|해당 ?없음"
    r"|keine?|nichts|nicht zutreffend|entfällt|aucune?|rien|néant|sans objet|ningun[oa]|nada"
    r"|no aplica|nessun[oa]?|niente|nenhum[a]?|não aplicável|нет|ничего|не применимо|отсутствует"
    r")"
    r"(?:\s+(?:yet|so far|currently|at (?:this time|the moment|present)|for now|identified|recorded"
    r"|noted|mentioned|made|taken|found|available|specified|tried|needed|required|here))*"
    r"(?:\s*[(（\[].*[)）\]])?"
)
_DENIAL = r"n\s*/\s*a\s*[-–—:,;，：].*|(?:不适用|暂无)\s*[-–—:,;，：].*"


def says_nothing(content: str) -> bool:
    """Whether an anchor's text amounts to "nothing applies", in whatever dress or language.

    `N/A`, `- N/A`, `**none**`, `None so far.`, `无` and the like. The harness9 rule books do not
    ask this; the safe one does, and what is shown to a person: an erased anchor is seen as erased.
    """
    lines = (line.strip(SPACE + "-–—*•·_`~#>.…。!！\"'“”|") for line in content.splitlines())
    return all(not line or _denies(line) for line in lines)


def _denies(line: str) -> bool:
    bare = line.removeprefix("(").removesuffix(")").removeprefix("（").removesuffix("）")
    bare = bare.removeprefix("[").removesuffix("]").strip(SPACE + "*_.。")
    return any(
        re.fullmatch(form, text, re.IGNORECASE)
        for form in (_NOTHING, _DENIAL)
        for text in (line.rstrip(".。"), bare)
    )
