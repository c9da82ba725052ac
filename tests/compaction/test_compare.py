"""The comparison table, on sessions whose figures can be told beforehand."""

from __future__ import annotations

from itertools import count

from compaction import STRATEGIES, Message, Ports, Settings
from compaction.compare import Contestant, Row, compare
from compaction.tokens import estimate
from tests.compaction.generators import Answers, said

SYSTEM = Message("system", "You are an agent.")
SMALL = Settings(context_window=1_000)


def work(rounds: int) -> list[Message]:
    items: list[tuple[str, ...]] = [("user", "Port src/report.py")]
    for number in range(rounds):
        items.append(("assistant", f"Step {number}.", f"c{number}"))
        items.append(("result", f"c{number}", "@rep(a line of output\n,20)"))
    return said(*items, ("assistant", "src/report.py is ported."))


def row(name: str, length: int, settings: Settings = SMALL, **values: float) -> Row:
    ticks = count()
    contestant = Contestant(name, STRATEGIES[name], settings, values)
    answer = "### User Intent\nport it\n\n## Summary\nsteps were taken"
    ports = Ports(Answers([answer]), nanoseconds=lambda: next(ticks))
    (found,) = compare(SYSTEM, work(length), [contestant], lambda: ports)
    return found


def test_a_session_below_the_trigger_is_not_touched() -> None:
    found = row("sliding-window", 3)

    assert (found.steps, found.attempts, found.first_trigger, found.ratio) == ((), 0, None, 1.0)
    assert found.tokens_whole == estimate([SYSTEM, *work(3)])


def test_a_window_is_cut_when_it_is_due_and_counts_what_it_did() -> None:
    found = row("sliding-window", 30, rounds=2)

    first = found.steps[0]
    assert first.tokens_before >= 700 > first.tokens_after
    assert found.first_trigger == first.call
    assert (found.cache_break, found.mended, found.asked, found.anchors) == (2, 0, 0, None)
    assert (found.calls, found.calls_over) == (31, 0)
    assert (found.human_kept, found.human_lines) == (1, 1)
    assert found.nanoseconds == found.attempts == len(found.steps)


def test_the_task_carries_its_facts_over_every_cut() -> None:
    found = row("sliding-window", 30, rounds=2)

    assert {step.recall.in_view for step in found.steps} == {("src/report.py",)}
    assert (found.in_view, found.in_files, found.lost) == (1.0, 0.0, 0.0)


def test_a_use_counts_once_however_many_compactions_lie_before_it() -> None:
    messages = work(30)
    messages[1:1] = said(("assistant", "The code is E_4711."), ("user", "Go on"))
    messages += said(("user", "Which code?"), ("assistant", "It was E_4711."))
    contestant = Contestant("w", STRATEGIES["sliding-window"], SMALL, {"rounds": 2})

    (found,) = compare(SYSTEM, messages, [contestant], Ports)

    assert len(found.steps) > 2
    assert (found.uses, found.uses_lost, found.lost) == (2, 1, 0.5)


def test_questions_to_the_summariser_are_counted_with_what_they_held() -> None:
    found = row("rolling-summary", 30, rounds=2)

    assert found.asked == len(found.steps) > 1
    assert found.sent_tokens > 100 * found.asked
    assert found.anchors == 1


def test_a_strategy_that_cannot_help_is_not_run_at_every_call() -> None:
    found = row("tool-trim", 400)

    assert found.steps == ()
    assert found.calls_over > 300
    assert found.attempts < 400


def test_all_contestants_get_the_same_session_and_their_own_ports() -> None:
    opened: list[Ports] = []

    def ports() -> Ports:
        opened.append(Ports())
        return opened[-1]

    chosen = [Contestant(name, STRATEGIES[name], SMALL) for name in STRATEGIES]
    rows = compare(SYSTEM, work(30), chosen, ports)

    assert [found.name for found in rows] == list(STRATEGIES)
    assert len({found.tokens_whole for found in rows}) == 1
    assert len(opened) == len(STRATEGIES)
