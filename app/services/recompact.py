"""What if: one compaction of a real session with other settings, beside the recorded one.

Pure computation: nothing is stored, and what is offloaded stays in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from gettext import gettext as _
from typing import Any

from app.errors import NotFound
from app.llm.offline import OfflineSummariser
from app.llm.recorded import RecordedSummariser
from app.services.compactions import LONGEST_ERROR, sides_of, stand_in, verdict_of
from app.services.diff import Cell, Diff, Row, Sides, diff
from app.services.diff import opened as opened_sides
from app.services.vitals import window_bounds
from app.sources.model import Generation, Session
from app.text import count, percent, shortened
from compaction.messages import Message
from compaction.ports import MemoryOffloads, Offloads, Ports, Summariser
from compaction.provenance import Fate
from compaction.records import CompactionRecord
from compaction.result import CompactionResult, Memory
from compaction.rules import HARNESS9_VIEW, HARNESS9_WRITEBACK, RuleBook
from compaction.settings import (
    FIELDS,
    Field,
    Kind,
    Settings,
    SettingsError,
    read_settings,
    read_value,
)
from compaction.strategies.progressive import compact
from compaction.summary import SummaryRequest
from compaction.tiers import Tier

DEFAULT_WINDOW = 128_000
"""Tokens; where neither records nor the person say otherwise."""


class Writer(StrEnum):
    """Who writes the summary."""

    OFFLINE = "offline"
    """Extracts lines from the conversation; no model, no network."""
    RECORDED = "recorded"
    """The record: its own summary, where the run summarises the same messages."""
    NONE = "none"
    """Nobody: a tier that needs a summary falls back, as when the model fails."""
    CLAUDE = "claude"
    """A model over the network. Only where a person agreed to what is sent."""


ALONE = (Writer.OFFLINE, Writer.RECORDED, Writer.NONE)
"""Those that send nothing, so that a setting may choose them."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a what-if run starts from."""

    before: tuple[Message, ...]
    """The system message first: a stand-in of the right size, since its text is not stored."""
    memory: Memory
    recorded: CompactionRecord | None
    """What the outcome is compared with."""
    n: int | None
    """The recorded compaction it repeats."""
    at: int
    """How many messages of the session it sees."""
    unknown: Mapping[int, str]
    says: str
    """Where the messages come from, in words."""
    is_what_it_saw: bool = False
    """Whether these are the messages that the recorded compaction saw."""
    summarised: tuple[Message, ...] = ()
    """Those of them that the recorded summary stands for."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Everything a person may turn, checked."""

    settings: Settings
    tier: Tier | None = None
    """None lets the fill decide, as harness9 does."""
    writer: Writer = Writer.OFFLINE
    system_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the comparison with the record."""

    name: str
    unit: str
    recorded: str
    """Empty where there is no record to compare with."""
    ours: str
    better: str = ""
    """`better` or `worse` where one of the two is."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A what-if compaction, and the comparison with what was recorded."""

    result: CompactionResult
    measures: tuple[Measure, ...]
    sides: Sides
    diff: Diff
    files: Mapping[str, str]
    """Offloaded texts by path; they exist in this run only."""
    failure: Exception | None = None
    """What the summariser raised, where there is no summary because of it."""


def default_choice(session: Session) -> Choice:
    """The settings that explain the session's own records, as far as they tell."""
    account = session.account
    window = window_bounds(session)
    settings = Settings(
        context_window=(window.low + window.high) // 2 if window else DEFAULT_WINDOW,
        session_id=session.info.id,
        rules=_rules(session.generation),
    )
    if account.tail:
        settings = replace(settings, min_tail=account.tail)
    return Choice(settings, system_bytes=account.system.low if account.system else 0)


def _rules(generation: Generation) -> RuleBook:
    return HARNESS9_WRITEBACK if generation is Generation.WRITE_BACK else HARNESS9_VIEW


TIERS = {tier.name.lower(): tier for tier in Tier if tier is not Tier.NONE}
SYSTEM_BYTES = Field(
    "system_bytes",
    _("System prompt"),
    _("bytes"),
    Kind.COUNT,
    _("Not stored by harness9; a stand-in of this size is counted."),
)
_TIER = Field(
    "tier",
    _("Tier"),
    "",
    Kind.CHOICE,
    _("Let the fill of the window decide, as harness9 does, or force one."),
    choices=("auto", *TIERS),
)
_WRITER = Field(
    "summariser",
    _("Summary by"),
    "",
    Kind.CHOICE,
    _("offline extracts lines, recorded takes the record's own, none shows the fallback."),
    choices=ALONE,
)
_EXTRAS = tuple(field.name for field in (_TIER, _WRITER, SYSTEM_BYTES))


def read_choice(values: Mapping[str, Any], base: Choice) -> Choice:
    """`base` with a person's `values`, all checked together.

    Besides the settings: `tier` (auto, warn, soft, full, emergency), `summariser` (offline,
    recorded, none) and `system_bytes`. Raises SettingsError naming every value that is refused.
    """
    problems: dict[str, str] = {}
    settings, tier, writer, size = base.settings, base.tier, base.writer, base.system_bytes
    try:
        own = {name: value for name, value in values.items() if name not in _EXTRAS}
        settings = read_settings(own, base.settings)
    except SettingsError as error:
        problems.update(error.problems)
    if (wanted := values.get("tier")) is not None:
        if wanted in TIERS or wanted == "auto":
            tier = TIERS.get(wanted)
        else:
            problems["tier"] = _("%(value)r is none of auto, %(known)s") % {
                "value": wanted,
                "known": ", ".join(TIERS),
            }
    if (wanted := values.get("summariser")) is not None:
        if wanted in set(ALONE):
            writer = Writer(wanted)
        else:
            known = ", ".join(ALONE)
            problems["summariser"] = _("%(value)r is none of %(known)s") % {
                "value": wanted,
                "known": known,
            }
    if (wanted := values.get("system_bytes")) is not None:
        try:
            size = read_value(wanted, SYSTEM_BYTES)
        except ValueError as error:
            problems["system_bytes"] = str(error)
    if problems:
        raise SettingsError(problems)
    return Choice(settings, tier, writer, size)


def input_for(
    session: Session, choice: Choice, n: int | None = None, at: int | None = None
) -> Input:
    """The messages to compact: those that recorded compaction `n` saw, or the first `at` stored.

    With neither, the newest rebuilt compaction is taken, else all stored messages. Raises
    NotFound for a number that does not exist.
    """
    if n is None and at is None:
        n = _newest_rebuilt(session)
    verdict = verdict_of(session, n) if n is not None else None
    view = verdict.view() if verdict else None
    system = Message("system", stand_in(choice.system_bytes))
    recorded = verdict.record if verdict else None
    if verdict and view:
        sides = sides_of(session, verdict.record, view)
        before = (system, *view.before[1:])
        says = _("The messages that compaction %(n)s saw.") % {"n": n}
        at = len(before) - 1
        summarised = tuple(
            before[source]
            for slot in view.draft.slots
            if slot.fate is Fate.SUMMARISED
            for source in slot.sources
        )
        return Input(
            before, _memory(session, n), recorded, n, at, sides.unknown, says, True, summarised
        )
    rows = session.messages
    size = len(rows) if at is None else at
    if not 0 <= size <= len(rows):
        raise NotFound(
            _("There is no message %(at)s; %(n)s are stored.") % {"at": size, "n": len(rows)}
        )
    says = _("The first %(n)s stored messages, as they are stored.") % {"n": size}
    if verdict:
        says = _("What compaction %(n)s saw is not in the store; these are all stored messages.")
        says %= {"n": n}
    unknown = {0: _("The system prompt: not stored by harness9; its size is an assumption.")}
    return Input((system, *rows[:size]), _memory(session, n), recorded, n, size, unknown, says)


def _newest_rebuilt(session: Session) -> int | None:
    numbers = range(len(session.account.verdicts), 0, -1)
    return next((n for n in numbers if session.account.verdicts[n - 1].is_rebuilt), None)


def _memory(session: Session, n: int | None) -> Memory:
    """What the last compaction before `n` that wrote anchors left behind."""
    earlier = [verdict.record for verdict in session.account.verdicts[: (n or 1) - 1]]
    last = next((record for record in reversed(earlier) if record.anchors), None)
    return Memory(last.summary_text, last.anchors) if last else Memory()


def recompact(given: Input, choice: Choice, live: Summariser | None = None) -> Outcome:
    """Compact what is `given` as chosen, and compare with the record.

    `live` writes the summary where the choice is Claude.
    """
    store = MemoryOffloads()
    result, failure = compacted(given, choice, live, store)
    moved = frozenset(entry.tool_call_id for entry in result.record.offloaded or ())
    sides = Sides(given.before, result.draft, moved=moved, unknown=given.unknown)
    return Outcome(
        result,
        measures(result.record, given.recorded, given.is_what_it_saw, str(failure or "")),
        sides,
        diff(sides),
        store.files,
        failure,
    )


def compacted(
    given: Input, choice: Choice, live: Summariser | None, store: Offloads
) -> tuple[CompactionResult, Exception | None]:
    """The compaction alone, and what its summariser raised."""
    recorded = RecordedSummariser(given.recorded, given.summarised)
    writers: Mapping[Writer, Summariser | None] = {
        Writer.OFFLINE: OfflineSummariser(),
        Writer.RECORDED: recorded,
        Writer.CLAUDE: live,
        Writer.NONE: None,
    }
    writer = writers[choice.writer]
    heard = _Heard(writer) if writer else None
    ports = Ports(heard, store, on_leaving=recorded.leaving)
    result = compact(given.before, choice.settings, ports, given.memory, tier=choice.tier)
    return result, heard.failure if heard else None


class _Heard:
    """A summariser whose failure can be told: harness9's own rule books only say that it failed."""

    def __init__(self, writer: Summariser) -> None:
        self.failure: Exception | None = None
        self._writer = writer

    def summarise(self, request: SummaryRequest) -> Message | None:
        """The other's answer; what it raises is kept, and raised again."""
        try:
            return self._writer.summarise(request)
        except Exception as failure:
            self.failure = failure
            raise


def measures(
    ours: CompactionRecord,
    recorded: CompactionRecord | None,
    alike: bool = True,
    why: str = "",
) -> tuple[Measure, ...]:
    """The comparison table, in the order it is read.

    Unless both saw `alike` messages, neither is better. `why` is what our summariser said of its
    failure.
    """
    return (
        Measure(_("Tier"), "", _tier(recorded), _tier(ours)),
        _number(_("Tokens before"), _("(est.)"), "tokens_before", ours, recorded),
        _number(_("Tokens after"), _("(est.)"), "tokens_after", ours, recorded, less=alike),
        Measure(_("Size after, of before"), "", _ratio(recorded), _ratio(ours)),
        _number(_("Messages before"), "", "msgs_before", ours, recorded),
        _number(_("Messages after"), "", "msgs_after", ours, recorded),
        _number(_("Messages summarised"), "", "summarized", ours, recorded),
        _number(_("Messages in the tail"), "", "preserved_tail", ours, recorded),
        Measure(_("Results moved to files"), "", _moved(recorded), _moved(ours)),
        Measure(_("Error"), "", _error(recorded), _error(ours, why)),
    )


def _number(
    name: str,
    unit: str,
    field: str,
    ours: CompactionRecord,
    recorded: CompactionRecord | None,
    less: bool = False,
) -> Measure:
    new: int = getattr(ours, field)
    if recorded is None:
        return Measure(name, unit, "", f"{new:,}")
    old: int = getattr(recorded, field)
    better = ("better" if new < old else "worse") if less and new != old else ""
    return Measure(name, unit, f"{old:,}", f"{new:,}", better)


def _moved(record: CompactionRecord | None) -> str:
    return "" if record is None else f"{len(record.offloaded or ()):,}"


def _tier(record: CompactionRecord | None) -> str:
    if record is None:
        return ""
    return Tier(record.tier).label if record.tier in set(Tier) else str(record.tier)


def _ratio(record: CompactionRecord | None) -> str:
    return "" if record is None else percent(record.compression_ratio)


def _error(record: CompactionRecord | None, why: str = "") -> str:
    if record is None:
        return ""
    said = record.error if why in record.error else f"{record.error}: {why}"
    return shortened(said, LONGEST_ERROR) or _("none")


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of the form as it is drawn."""

    name: str
    label: str
    unit: str
    help: str
    value: str
    choices: tuple[str, ...]
    was: str
    """The default, where the value differs from it."""
    problem: str


@dataclass(frozen=True, slots=True)
class RecompactPage:
    """The form and, where its values are good, the outcome."""

    session_id: str
    n: int | None
    at: int
    says: str
    fields: tuple[FormField, ...]
    problems: Mapping[str, str]
    outcome: Outcome | None
    recorded: bool
    is_alike: bool
    """Whether the run and the recorded compaction saw the same messages."""
    bands: tuple[tuple[str, float, float], ...]
    """Tier key, start and width in percent of the window."""
    fill: str
    continues: str


def recompact_page(
    session: Session,
    values: Mapping[str, str],
    n: int | None = None,
    at: int | None = None,
) -> RecompactPage:
    """The page for a person's `values`; what is refused is marked and nothing is run then."""
    base = default_choice(session)
    problems: Mapping[str, str] = {}
    choice, outcome = base, None
    try:
        choice = read_choice(values, base)
    except SettingsError as error:
        problems = error.problems
    given = input_for(session, choice, n, at)
    if not problems:
        outcome = recompact(given, choice)
    return RecompactPage(
        session_id=session.info.id,
        n=given.n,
        at=given.at,
        says=given.says,
        fields=_form(choice, base, values, problems),
        problems=problems,
        outcome=outcome,
        recorded=given.recorded is not None,
        is_alike=given.is_what_it_saw,
        bands=_bands(choice.settings),
        fill=_fill(outcome, choice.settings),
        continues=_continues(given.memory),
    )


def opened(
    page: RecompactPage, first: int, last: int, fate: str
) -> tuple[tuple[Row, ...], tuple[Cell, ...]]:
    """What is behind a fold of the outcome. Raises NotFound where there is no such fold."""
    if page.outcome is None:
        raise NotFound(_("There is nothing folded there."))
    return opened_sides(page.outcome.sides, first, last, fate)


def _form(
    choice: Choice, base: Choice, values: Mapping[str, str], problems: Mapping[str, str]
) -> tuple[FormField, ...]:
    def drawn(field: Field, now: str, was: str) -> FormField:
        value = values.get(field.name, now) if problems else now
        return FormField(
            field.name,
            field.label,
            field.unit,
            field.help,
            value,
            field.choices,
            was if was != now else "",
            problems.get(field.name, ""),
        )

    own = (
        drawn(field, *(_shown(getattr(c.settings, field.name), field.kind) for c in (choice, base)))
        for field in FIELDS
    )
    extras = (
        drawn(_TIER, *(c.tier.name.lower() if c.tier else "auto" for c in (choice, base))),
        drawn(_WRITER, choice.writer.value, base.writer.value),
        drawn(SYSTEM_BYTES, str(choice.system_bytes), str(base.system_bytes)),
    )
    return (*own, *extras)


def _shown(value: Any, kind: Kind) -> str:
    if kind is Kind.SHARE:
        return f"{value * 100:.4g}"
    return value.name if kind is Kind.CHOICE else str(value)


def _bands(settings: Settings) -> tuple[tuple[str, float, float], ...]:
    edges = (0.0, settings.warn, settings.soft, settings.full, settings.emergency, 1.0)
    keys = ("none", *TIERS)
    return tuple(
        (key, round(low * 100, 2), round((high - low) * 100, 2))
        for key, low, high in zip(keys, edges, edges[1:], strict=False)
    )


def _fill(outcome: Outcome | None, settings: Settings) -> str:
    if outcome is None:
        return ""
    tokens = outcome.result.record.tokens_before
    share = percent(tokens / settings.context_window, 1)
    return f"{count(tokens)} / {count(settings.context_window)} · {share}"


def _continues(memory: Memory) -> str:
    if memory.anchors is None:
        return _("No earlier anchors: the summary starts afresh.")
    return _("Continues from the anchors of the compaction before.")
