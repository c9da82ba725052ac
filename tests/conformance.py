"""Runs golden vectors against the engine: `python -m tests.conformance FILE…`.

A file holds one case a line, plain or `.xz`; the name of its folder, `view` or `writeback`, says
which rule book applies. Every failing id is named; the last line is `N passed, M failed`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compaction.anchors import Anchor, merge, parse_summary, render
from compaction.budget import cut_to_budget, forced_cut
from compaction.gojson import go_json
from compaction.messages import Message, ToolCall
from compaction.offload import (
    HOOK_BYTES,
    HOOK_PREVIEW_LINES,
    Gate,
    NotOffloaded,
    offload_output,
    offload_result,
)
from compaction.ports import Ports
from compaction.provenance import Draft, violations
from compaction.records import (
    BadRecord,
    CompactionRecord,
    OffloadEntry,
    parse_record,
    record_line,
)
from compaction.repair import repair
from compaction.result import CompactionResult, Memory
from compaction.rules import (
    HARNESS9_VIEW,
    HARNESS9_WRITEBACK_EARLY,
    ForcedCut,
    RuleBook,
)
from compaction.settings import DEFAULT_MIN_TAIL, Settings
from compaction.strategies import one_shot, progressive
from compaction.summary import SummaryRequest
from compaction.tiers import tier_for
from compaction.tokens import ToolSchema, estimate, estimate_tools, format_count
from compaction.turns import takes_effect
from compaction.utf8 import byte_length, encoded
from compaction.window import slide

Json = dict[str, Any]

# The writeback vectors were recorded one commit before the release rewrote the Emergency.
RULES = {"view": HARNESS9_VIEW, "writeback": HARNESS9_WRITEBACK_EARLY}


def message(data: Json) -> Message:
    calls = tuple(
        ToolCall(c["id"], c["name"], c["arguments_raw"] or "") for c in data.get("tool_calls", ())
    )
    return Message(data["role"], data["content"], calls, data.get("tool_call_id", ""))


def messages(data: list[Json]) -> tuple[Message, ...]:
    return tuple(map(message, data))


def message_json(value: Message) -> Json:
    data: Json = {"role": value.role, "content": value.content}
    if value.tool_calls:
        data["tool_calls"] = [
            {"id": c.id, "name": c.name, "arguments_raw": c.arguments} for c in value.tool_calls
        ]
    if value.tool_call_id:
        data["tool_call_id"] = value.tool_call_id
    return data


def messages_json(values: Any) -> list[Json]:
    return list(map(message_json, values))


def without_nil_arguments(data: Any) -> Any:
    """`arguments_raw: null` is Go's nil, which counts and prints as nothing, as "" does."""
    if isinstance(data, dict):
        return {
            key: "" if key == "arguments_raw" and item is None else without_nil_arguments(item)
            for key, item in data.items()
        }
    return list(map(without_nil_arguments, data)) if isinstance(data, list) else data


def anchors_json(anchors: tuple[Anchor, ...] | None) -> list[Json] | None:
    return None if anchors is None else [{"type": a.kind, "content": a.content} for a in anchors]


def anchors_from(data: list[Json] | None) -> tuple[Anchor, ...] | None:
    return None if data is None else tuple(Anchor(a["type"], a["content"]) for a in data)


def entry_json(entry: OffloadEntry) -> Json:
    return {
        "tool_call_id": entry.tool_call_id,
        "tool_name": entry.tool_name,
        "file_path": entry.file_path,
        "bytes": entry.bytes,
        "lines": entry.lines,
    }


@dataclass
class Script:
    """A summariser that answers from a list, in order, and notes what it was asked."""

    answers: list[Json | None]
    asked: list[Json] = field(default_factory=list)
    calls: int = 0

    def summarise(self, request: SummaryRequest) -> Message | None:
        call = {"prompt": "incremental" if request.is_incremental else "first"}
        if request.is_incremental:
            call["previous"] = request.previous
        self.asked.append({**call, "conversation": request.conversation})
        self.calls += 1
        if self.calls > len(self.answers):
            raise RuntimeError("the script is exhausted")
        answer = self.answers[self.calls - 1]
        if answer is None:
            return None
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return Message("assistant", answer["content"])

    def since(self, count: int) -> list[Json]:
        return self.asked[count:]


@dataclass
class Disk:
    """Saves below a folder the way the original does, escapes and refusals included."""

    root: Path
    session_id: str

    def save(self, entry: OffloadEntry, content: str) -> None:
        try:
            self._save(entry, content)
        except ValueError as error:  # a NUL in an id: Go's system call says so, Python itself here
            raise OSError(f"open {entry.file_path}: {error}") from error

    def _save(self, entry: OffloadEntry, content: str) -> None:
        folder = os.path.normpath(
            os.path.join(self.root, ".harness9/tool_results", self.session_id.lstrip("/"))
        )
        # Made step by step: os.makedirs gives its mode to the last folder only.
        made = Path(folder)
        for part in [*reversed(made.parents), made]:
            if not part.exists():
                part.mkdir(mode=0o700)
        path = os.path.normpath(self.root / entry.file_path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(encoded(content))

    def snapshot(self) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for path in sorted(self.root.parent.rglob("*")):
            name = os.path.relpath(path, self.root)
            if path == self.root:
                continue
            mode = f"{path.stat().st_mode & 0o777:04o}"
            if path.is_dir():
                found[name] = {"path": name, "mode": mode, "bytes": 0, "dir": True}
                continue
            raw = path.read_bytes()
            digest = hashlib.sha256(raw).hexdigest()
            found[name] = {"path": name, "mode": mode, "bytes": len(raw), "sha256": digest}
            if 0 < len(raw) <= 300:
                found[name]["text"] = raw.decode("utf-8", "replace")
        return found


class Changes:
    """Files that are new or different since the last look, ordered by path."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.seen: dict[str, Json] = disk.snapshot()

    def look(self) -> list[Json]:
        now = self.disk.snapshot()
        new = [entry for path, entry in now.items() if self.seen.get(path) != entry]
        self.seen = now
        return sorted(new, key=lambda entry: entry["path"])


def settings_from(config: Json, rules: RuleBook) -> Settings:
    offloader = config.get("offloader") or {}
    settings = Settings(
        context_window=config["context_window"],
        session_id=config.get("session_id", ""),
        rules=rules,
    )
    renamed = {
        "warn": config.get("warn"),
        "soft": config.get("soft"),
        "full": config.get("full"),
        "emergency": config.get("emergency"),
        "min_tail": config.get("min_tail_messages"),
        # Without a fallback of its own, the compactor makes one with its own tail.
        "fallback_tail": config.get("min_tail_messages") if config.get("nil_fallback") else None,
        "offload_bytes": config.get("offload_threshold"),
        "offloader_bytes": offloader.get("threshold"),
        "preview_lines": offloader.get("preview_lines"),
    }
    return replace(settings, **{k: v for k, v in renamed.items() if v is not None})


def record_json(record: CompactionRecord) -> Json:
    data: Json = {
        "anchors": anchors_json(record.anchors),
        "compression_ratio": record.compression_ratio,
        "msgs_after": record.msgs_after,
        "msgs_before": record.msgs_before,
        "offloaded": None if record.offloaded is None else list(map(entry_json, record.offloaded)),
        "preserved_tail": record.preserved_tail,
        "session_id": record.session_id,
        "summarized": record.summarized,
        "summary_text": record.summary_text,
        "tier": record.tier,
        "tokens_after": record.tokens_after,
        "tokens_before": record.tokens_before,
    }
    if record.error:
        data["error"] = record.error
    return data


class Unlawful(AssertionError):
    """A draft that is no account of its input."""


def lawful(draft: Draft, before: tuple[Message, ...]) -> Draft:
    if broken := violations(draft, before):
        raise Unlawful("; ".join(broken[:3]))
    return draft


def run_progressive(case: Json, rules: RuleBook, root: Path) -> Json:
    config = case["config"]
    settings = settings_from(config, rules)
    disk = Disk(root, settings.session_id)
    changes = Changes(disk)
    script = Script(case["script"])
    left: list[list[Json]] = []
    ports = Ports(
        summariser=None if config.get("nil_provider") else script,
        offloads=disk if "offloader" in config else None,
        on_leaving=lambda leaving: left.append(messages_json(leaving)),
    )
    memory = Memory(config.get("last_summary", ""), anchors_from(config.get("last_anchors")))
    steps = []
    for step in case["steps"]:
        asked, leaving = len(script.asked), len(left)
        before = messages(step["messages"])
        if step.get("new_process"):
            memory = replace(memory, written=frozenset())
        if step.get("force"):
            draft = lawful(progressive.force(before, settings), before)
            result = CompactionResult(before, draft, CompactionRecord(), memory)
            record = None
        else:
            result = progressive.compact(before, settings, ports, memory)
            lawful(result.draft, before)
            record = record_json(result.record)
        memory = result.memory
        out: Json = {
            "files": changes.look(),
            "input_mutated": bool(mutations(before, result.rewritten)),
            "last_anchors": anchors_json(memory.anchors),
            "last_summary": memory.summary,
            "messages": messages_json(result.messages),
            "mutations": mutations(before, result.rewritten),
            "record": record,
            "summarizer_calls": script.since(asked),
        }
        if config.get("log_extractor"):
            out["extractor_calls"] = left[leaving:]
        steps.append(out)
    return {"steps": steps}


def mutations(before: tuple[Message, ...], rewritten: Any) -> list[Json]:
    return [
        {"index": index, "content": now.content}
        for index, now in sorted(rewritten.items())
        if now != before[index]
    ]


def run_session(case: Json, rules: RuleBook, root: Path) -> Json:
    """The write-back loop: compact, persist, append, with writes that fail on demand."""
    rules = replace(rules, strict_write_back=case["gate"] == 1)
    settings = settings_from(case["config"], rules)
    script = Script(case["script"])
    disk = Disk(root, settings.session_id)
    ports = Ports(script, disk if "offloader" in case["config"] else None)
    system = Message("system", case["system_prompt"])
    rows = list(messages(case["stored"]))
    memory = Memory()
    runs = []
    for run in case["runs"]:
        history = [system, *rows]
        start = len(history)
        history.append(Message("user", run["prompt"]))
        turns = []
        for turn in run["turns"]:
            asked = script.calls
            result = progressive.compact(history, settings, ports, memory)
            lawful(result.draft, tuple(history))
            memory = result.memory
            log: list[str] = []
            if takes_effect(result, rules):
                rows, log = _persist(result.messages[1:], history[1:start], turn.get("fail_add", 0))
                if not any("FAILED" in line for line in log):
                    history = list(result.messages)
                    start = len(history)
            turns.append(
                {
                    "history_after": messages_json(history),
                    "record": record_json(result.record),
                    "session_log": log,
                    "session_rows": len(rows),
                    "start_len": start,
                    "summarizer_calls": script.calls - asked,
                    "view": messages_json(result.messages),
                }
            )
            history.extend(messages(turn["append"]))
        rows = [*rows, *history[start:]]
        runs.append({"session_after": messages_json(rows), "turns": turns})
    return {"runs": runs}


def _persist(
    product: tuple[Message, ...], earlier: list[Message], failing: int
) -> tuple[list[Message], list[str]]:
    log = ["clear"]
    for attempt, new in enumerate((list(product), earlier)):
        if attempt >= failing:
            log.append(f"add {len(new)}")
            return new, log
        log.append(f"add {len(new)} FAILED")
    return [], [*log, "rollback FAILED"]


def run_one_shot(case: Json, rules: RuleBook, root: Path) -> Json:
    settings = settings_from(case, rules)
    script = Script(case["script"])
    ports = Ports(None if case.get("nil_provider") else script)
    steps = []
    for step in case["steps"]:
        asked = len(script.asked)
        before = messages(step["messages"])
        draft = one_shot.compact(
            before,
            settings,
            ports,
            forced=case.get("force", False),
            plan=case.get("todo_text", ""),
        )
        lawful(draft, before)
        steps.append(
            {
                "messages": messages_json(draft.messages),
                "summarizer_calls": script.since(asked),
            }
        )
    return {"steps": steps}


def _gate(case: Json, limit: int, lines: int) -> Gate:
    return Gate(case["session_id"], case.get("threshold", limit), case.get("preview_lines", lines))


def run_offload(case: Json, rules: RuleBook, root: Path) -> Json:
    disk = Disk(root, case["session_id"])
    if existing := case.get("pre_existing_file"):
        path = root / existing
        path.parent.mkdir(parents=True)
        path.write_text("old")
        path.chmod(0o644)
    changes = Changes(disk)
    written: frozenset[str] = frozenset()
    results = []
    for index, result in enumerate(messages(case["messages"])):
        if index in (case.get("new_offloader_before") or []):
            written = frozenset()
        out: Json = {"entry": entry_json(OffloadEntry("", "", "", 0, 0)), "placeholder": ""}
        try:
            entry, text = offload_result(result, _gate(case, 4000, 10), disk, written)
        except (NotOffloaded, OSError) as error:
            out["error"] = str(error)
        else:
            written |= {entry.tool_call_id}
            out = {"entry": entry_json(entry), "placeholder": text, "error": None}
        results.append({**out, "files": changes.look()})
    return {"results": results}


def run_offload_hook(case: Json, rules: RuleBook, root: Path) -> Json:
    disk = Disk(root, case["session_id"])
    changes = Changes(disk)
    results = []
    for call in case["calls"]:
        before = Message("user", call["output"], tool_call_id=call["tool_call_id"])
        gate = _gate(case, HOOK_BYTES, HOOK_PREVIEW_LINES)
        after = offload_output(call["tool_name"], before, disk, gate)
        results.append(
            {
                "files": changes.look(),
                "is_error": call.get("is_error", False),
                "output": after.content,
                "replaced": after != before,
            }
        )
    return {"results": results}


def run_sliding_window(case: Json, rules: RuleBook, root: Path) -> Json:
    return _cut(case, lambda draft: slide(draft, case["max_messages"]))


def run_budget(case: Json, rules: RuleBook, root: Path) -> Json:
    limit, tail = case.get("max_tokens", 0), case.get("min_tail_messages", 0)
    if "context_window" in case:
        # Built for a window instead: its own budget, and six messages of tail.
        limit, tail = Settings(case["context_window"]).budget, DEFAULT_MIN_TAIL
    out = _cut(case, lambda draft: cut_to_budget(draft, limit, tail))
    return {**out, "tokens": estimate(messages(out["messages"]))}


def run_forced_cut(case: Json, rules: RuleBook, root: Path) -> Json:
    limit = case.get("max_tokens", 0)
    out = _cut(case, lambda draft: forced_cut(draft, ForcedCut.NEWEST, limit))
    return {**out, "tokens": estimate(messages(out["messages"]))}


def run_repair(case: Json, rules: RuleBook, root: Path) -> Json:
    return _cut(case, repair)


def _cut(case: Json, step: Callable[[Draft], Draft]) -> Json:
    before = messages(case["messages"])
    return {"messages": messages_json(lawful(step(Draft.of(before)), before).messages)}


def run_tier(case: Json, rules: RuleBook, root: Path) -> Json:
    tokens = estimate(messages(case["messages"]))
    return {"tier": int(tier_for(tokens, settings_from(case["config"], rules))), "tokens": tokens}


def run_estimate(case: Json, rules: RuleBook, root: Path) -> Json:
    return {"tokens": estimate(messages(case["messages"]))}


def run_estimate_tools(case: Json, rules: RuleBook, root: Path) -> Json:
    tools = [
        ToolSchema(tool["name"], tool["description"], tool.get("input_schema"))
        for tool in case["tools"]
    ]
    schemas = [None if t.input_schema is None else go_json(t.input_schema) for t in tools]
    return {"schema_json": schemas, "tokens": estimate_tools(tools)}


def run_format_count(case: Json, rules: RuleBook, root: Path) -> Json:
    return {"text": format_count(case["n"])}


def run_parse_anchors(case: Json, rules: RuleBook, root: Path) -> Json:
    summary = parse_summary(case["text"])
    return {"anchors": anchors_json(summary.anchors), "summary": summary.text}


def run_merge_anchors(case: Json, rules: RuleBook, root: Path) -> Json:
    old, new = anchors_from(case["old"]) or (), anchors_from(case["new"]) or ()
    return {"anchors": anchors_json(merge(old, new))}


def run_format_anchors(case: Json, rules: RuleBook, root: Path) -> Json:
    return {"text": render(anchors_from(case["anchors"]) or ())}


def run_record_line(case: Json, rules: RuleBook, root: Path) -> Json:
    return {"line": record_line(_record(case["record"]))}


def _record(data: Json) -> CompactionRecord:
    fields = {**data, "anchors": anchors_from(data.get("anchors"))}
    if (entries := data.get("offloaded")) is not None:
        fields["offloaded"] = tuple(OffloadEntry(**entry) for entry in entries)
    return CompactionRecord(**fields)


def run_list_records(case: Json, rules: RuleBook, root: Path) -> Json:
    path = root / f"{case['session_id']}.jsonl"
    if case.get("is_dir"):
        path.mkdir()
    elif not case.get("missing"):
        path.write_bytes(b"".join(map(_part, case["parts"])))
    try:
        records = list(_records(path))
    except OSError as error:
        return {"records": [], "error": str(error)}
    return {"records": records, "error": None}


def _records(path: Path) -> Iterator[Json]:
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n"):
        if line:
            with suppress(BadRecord):
                yield json.loads(record_line(parse_record(line.removesuffix(b"\r"))))


def _part(part: Json) -> bytes:
    raw: bytes = base64.b64decode(part["b64"]) if "b64" in part else part["text"].encode()
    return raw * int(part.get("repeat", 1))


OPS: dict[str, Callable[[Json, RuleBook, Path], Json]] = {
    "determine_tier": run_tier,
    "estimate_tokens": run_estimate,
    "estimate_tool_tokens": run_estimate_tools,
    "format_anchors": run_format_anchors,
    "format_token_count": run_format_count,
    "list_records": run_list_records,
    "merge_anchors": run_merge_anchors,
    "offload": run_offload,
    "offload_hook": run_offload_hook,
    "parse_anchors": run_parse_anchors,
    "progressive": run_progressive,
    "record_jsonl": run_record_line,
    "repair_tool_pairs": run_repair,
    "session_run": run_session,
    "sliding_window": run_sliding_window,
    "summarization_compact": run_one_shot,
    "token_budget_compact": run_budget,
    "token_budget_force": run_forced_cut,
}

# Said by the operating system or by Go's reader, not by the engine.
_OURS_ALONE = {"modes", "nil_slice"}


@dataclass(frozen=True, slots=True)
class Vector:
    """One recorded case of the original."""

    id: str
    op: str
    input: Json
    expect: Json
    rules: RuleBook


def read_vectors(path: Path) -> Iterator[Vector]:
    """The cases in a file. Lines end at `\\n` only: texts hold U+2028 and U+0085."""
    rules = RULES.get(path.resolve().parent.name)
    if rules is None:
        raise SystemExit(f"{path}: its folder must be named {' or '.join(RULES)}")
    opened = lzma.open(path) if path.suffix == ".xz" else path.open("rb")
    with opened as file:
        for line in file:
            data = json.loads(line)
            yield Vector(data["id"], data["op"], data["input"], data["expect"], rules)


def difference(vector: Vector) -> str:
    """Where the engine differs from the original on one case; empty when nowhere."""
    with tempfile.TemporaryDirectory() as folder:
        # One level down, so that ids that climb out of the project stay inside.
        root = Path(folder) / "work"
        root.mkdir()
        try:
            got = OPS[vector.op](vector.input, vector.rules, root)
        except Exception as error:  # a crash is a difference
            return f"{type(error).__name__}: {error}"
    return _differs(without_nil_arguments(got), without_nil_arguments(vector.expect), "")


def _differs(got: Any, expect: Any, where: str) -> str:
    if isinstance(expect, dict) and isinstance(got, dict):
        for key in expect.keys() | got.keys():
            if key in _OURS_ALONE:
                continue
            if key == "error" and _same_error(got.get(key), expect.get(key)):
                continue
            if found := _differs(got.get(key), expect.get(key), f"{where}.{key}"):
                return found
        return ""
    if isinstance(expect, list) and isinstance(got, list):
        if len(got) != len(expect):
            return f"{where}: {len(got)} items, expected {len(expect)}"
        pairs = enumerate(zip(got, expect, strict=True))
        return next((d for i, (g, e) in pairs if (d := _differs(g, e, f"{where}[{i}]"))), "")
    if got == expect and isinstance(got, bool) == isinstance(expect, bool):
        return ""
    return f"{where}: {_short(got)}, expected {_short(expect)}"


def _same_error(got: Any, expect: Any) -> bool:
    # Texts of the operating system name a folder that is gone; their presence is what counts.
    return bool(got) if isinstance(expect, str) and ":" in expect else bool(got == expect)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:160]}… ({byte_length(text)} bytes)"


def main(paths: list[str]) -> int:
    passed = failed = 0
    for path in map(Path, paths):
        for vector in read_vectors(path):
            if found := difference(vector):
                failed += 1
                print(f"FAILED {vector.id}  {found}")
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
