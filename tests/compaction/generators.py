"""Conversations and settings for property tests: ordinary ones, and every hostile shape we know."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from compaction.messages import Message, ToolCall
from compaction.offload import HOOK_PREFIX
from compaction.records import OffloadEntry
from compaction.rules import RULE_BOOKS
from compaction.settings import Settings
from compaction.summary import COMPACTION_MARKER, ONE_SHOT_MARKER, SummaryRequest

# Few ids, so that they collide; an empty one, one that climbs, one that no file name can hold.
IDS = st.sampled_from(["", "c1", "c2", "c3", "../up", "a/b", "x\x00y", "漢"])

TEXTS = st.one_of(
    st.just(""),
    st.text(max_size=40),
    st.sampled_from(
        [
            f"{COMPACTION_MARKER}\n## Anchors\n\n### User Intent\nport it\n\n## Summary\nso far",
            f"{ONE_SHOT_MARKER}\nearlier",
            f"{HOOK_PREFIX} x，共 1 行",
            "<|endoftext|> is a word like any other",
            "lone \ud83d surrogate and a raw byte \udcff",
            "你是助手",
        ]
    ),
    # Around the byte limits below, in lines short and long.
    st.builds(
        lambda unit, count: unit * count,
        st.sampled_from(["x", "line\n", "表", "🦊"]),
        st.integers(1, 80),
    ),
)

CALLS = st.builds(ToolCall, IDS, st.sampled_from(["bash", "read_file", ""]), TEXTS)

HOSTILE = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool", ""]),
    TEXTS,
    st.lists(CALLS, max_size=3).map(tuple),
    st.one_of(st.just(""), IDS),
)

SYSTEM = st.builds(Message, st.just("system"), TEXTS)
HUMAN = st.builds(Message, st.just("user"), TEXTS)


@st.composite
def exchanges(draw: st.DrawFn) -> list[Message]:
    """A human line, a few batches of calls with their results, an answer."""
    number = draw(st.integers(0, 10_000))
    said = [draw(HUMAN)]
    for batch in range(draw(st.integers(0, 3))):
        size = draw(st.integers(1, 3))
        calls = tuple(ToolCall(f"t{number}-{batch}-{i}", "bash", "{}") for i in range(size))
        said.append(Message("assistant", draw(TEXTS), calls))
        said.extend(Message("user", draw(TEXTS), (), call.id) for call in calls)
    return [*said, Message("assistant", draw(TEXTS))]


def _joined(parts: list[list[Message]]) -> list[Message]:
    return [message for part in parts for message in part]


ORDERLY = st.lists(exchanges(), max_size=5).map(_joined)

BODIES = st.one_of(
    ORDERLY,
    st.lists(HOSTILE, max_size=24),
    st.lists(st.one_of(exchanges(), HOSTILE.map(lambda m: [m])), max_size=8).map(_joined),
)

CONVERSATIONS = st.one_of(
    BODIES,
    st.builds(lambda system, body: [system, *body], SYSTEM, BODIES),
)

SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.6, 0.7, 0.8, 0.95, 1.0, 2.0])

SETTINGS = st.builds(
    Settings,
    context_window=st.sampled_from([-1, 0, 1, 10, 50, 120, 300, 1000]),
    warn=st.one_of(st.just(0.60), SHARES),
    soft=st.one_of(st.just(0.70), SHARES),
    full=st.one_of(st.just(0.80), SHARES),
    emergency=st.one_of(st.just(0.95), SHARES),
    min_tail=st.integers(-1, 7),
    fallback_tail=st.integers(-1, 7),
    offload_bytes=st.sampled_from([0, 20, 60, 4000]),
    offloader_bytes=st.sampled_from([0, 20, 60, 4000]),
    preview_lines=st.integers(1, 12),
    session_id=st.sampled_from(["s1", "", "../s"]),
    rules=st.sampled_from(sorted(RULE_BOOKS.values(), key=lambda book: book.name)),
)

ANSWERS = st.one_of(
    st.none(),
    st.just(""),
    TEXTS,
    st.just("## Anchors\n\n### User Intent\nport it\n\n### Next Steps\nN/A\n\n## Summary\nshort"),
    st.just("### Key Decisions\n- N/A\n\n## Summary\n" + "long " * 40),
)


@dataclass
class Answers:
    """A summariser that gives its answers in turn; None stands for a failing call."""

    answers: list[str | None]
    asked: list[SummaryRequest] = field(default_factory=list)

    def summarise(self, request: SummaryRequest) -> Message | None:
        self.asked.append(request)
        answer = self.answers[(len(self.asked) - 1) % len(self.answers)] if self.answers else None
        if answer is None:
            raise ConnectionError("no model today")
        return Message("assistant", answer)


@dataclass
class Shelf:
    """Keeps offloaded results in memory; refuses the paths a file system would."""

    saved: list[tuple[OffloadEntry, str]] = field(default_factory=list)

    def save(self, entry: OffloadEntry, content: str) -> None:
        if "\x00" in entry.file_path:
            raise ValueError("embedded null byte")
        if "a/b" in entry.file_path:
            raise FileNotFoundError(entry.file_path)
        self.saved.append((entry, content))

    @property
    def paths(self) -> list[str]:
        return [entry.file_path for entry, _ in self.saved]


_REPEATED = re.compile(r"@rep\((.+?),(\d+)\)", re.DOTALL)


def expand(text: str) -> str:
    """`@rep(x,5000)` as five thousand x: long inputs that can still be read."""
    return _REPEATED.sub(lambda match: match[1] * int(match[2]), text)


def said(*items: tuple[Any, ...]) -> list[Message]:
    """A conversation from short tuples, long texts written as for `expand`.

    `("user", text)`, `("assistant", text, "c1", "c2")` for calls of bash, `("result", id, text)`.
    """
    found = []
    for kind, *rest in items:
        if kind == "result":
            found.append(Message("user", expand(rest[1]), tool_call_id=rest[0]))
        else:
            calls = tuple(ToolCall(call, "bash", "{}") for call in rest[1:])
            found.append(Message(kind, expand(rest[0]), calls))
    return found
