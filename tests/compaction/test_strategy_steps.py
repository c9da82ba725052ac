"""What each strategy does, on conversations small enough to check by eye."""

from __future__ import annotations

import pytest

from compaction import Fate, Memory, MemoryOffloads, Message, Ports, Settings, ToolCall, estimate
from compaction.compose import compose
from compaction.digest import digest
from compaction.embedding import HashedNgrams, similarity
from compaction.folding import fold_lines
from compaction.provenance import Draft, violations
from compaction.rounds import pinned, recent_from, round_starts, units
from compaction.strategies import STRATEGIES, Outcome
from compaction.trim import trim
from tests.compaction.generators import Answers, said

SMALL = Settings(context_window=1_000)
ANSWER = "## Anchors\n\n### User Intent\nport it\n\n## Summary\nthe parser was ported"

CHAT = said(
    ("system", "You are a coding agent."),
    ("user", "Port the report"),
    ("assistant", "Reading.", "c1", "c2"),
    ("result", "c1", "one"),
    ("result", "c2", "two"),
    ("assistant", "Next.", "c3"),
    ("result", "c3", "three"),
    ("user", "And the tests"),
    ("assistant", "Done."),
)


def work(rounds: int, output: str = "@rep(a line of output\n,20)") -> list[Message]:
    """A task and that many rounds of one call each."""
    items: list[tuple[str, ...]] = [("system", "You are an agent."), ("user", "Port the report")]
    for number in range(rounds):
        items.append(("assistant", f"Step {number}.", f"c{number}"))
        items.append(("result", f"c{number}", output))
    return said(*items)


def run(name: str, messages: list[Message], ports: Ports = Ports(), **values: float) -> Outcome:  # noqa: B008
    outcome = STRATEGIES[name].compact(messages, SMALL, ports, values=values)
    assert violations(outcome.draft, messages) == []
    return outcome


def fates(outcome: Outcome) -> str:
    """One letter per slot."""
    return "".join(slot.fate.value[0] for slot in outcome.draft.slots)


def test_a_round_is_a_model_call_with_its_results_and_the_lines_that_asked_for_it() -> None:
    assert round_starts(CHAT) == [1, 5, 7]
    assert units(CHAT) == [range(1, 2), range(2, 5), range(5, 7), range(7, 8), range(8, 9)]
    assert [recent_from(CHAT, rounds) for rounds in (1, 2, 3, 9)] == [7, 5, 1, 1]
    assert pinned(CHAT) == {0, 1, 7}


def test_a_marked_call_stays_with_its_result_where_all_around_it_becomes_extracts() -> None:
    messages = work(40)
    marked = Ports(keep=lambda m: any(call.id == "c7" for call in m.tool_calls))

    outcome = run("sparse", messages, marked, rounds=2, far_rounds=4)

    at = messages.index(next(m for m in messages if m.tool_calls and m.tool_calls[0].id == "c7"))
    kept = [slot.sources for slot in outcome.draft.slots if slot.fate is Fate.KEPT]
    assert [(at,), (at + 1,)] == [sources for sources in kept if sources[0] in (at, at + 1)]
    assert outcome.draft.messages[3:5] == tuple(messages[at : at + 2])


def test_where_the_person_has_no_line_left_the_newest_summary_is_pinned() -> None:
    messages = said(
        ("system", "s"), ("user", "[Context Compaction]\n## Summary\nso far"), ("assistant", "ok")
    )

    assert pinned(messages) == {0, 1}


def test_the_window_keeps_whole_rounds_and_the_task() -> None:
    outcome = run("sliding-window", CHAT, rounds=2)

    assert [slot.sources for slot in outcome.draft.slots] == [(0,), (1,), (5,), (6,), (7,), (8,)]
    assert {drop.reason for drop in outcome.draft.drops} == {"older than the window"}


def test_the_budget_is_met_with_the_newest_messages() -> None:
    messages = work(40)

    outcome = run("token-budget", messages, budget=0.5)

    assert 400 < estimate(outcome.draft.messages) <= 500
    assert outcome.draft.messages[-4:] == tuple(messages[-4:])
    assert outcome.error == ""


def test_what_must_stay_over_the_budget_is_said_and_nothing_else_is_kept() -> None:
    outcome = run("token-budget", [*work(3), *said(("user", "@rep(x,9000)"))])

    assert "alone over the budget" in outcome.error
    assert len(outcome.draft.slots) == 3


def test_a_rolling_summary_replaces_what_is_old_and_continues_the_last_one() -> None:
    world = Answers([ANSWER])

    first = run("rolling-summary", work(12), Ports(world), rounds=4)
    longer = [*first.draft.messages, *work(4)[2:]]
    STRATEGIES["rolling-summary"].compact(longer, SMALL, Ports(world), first.memory, {"rounds": 4})

    assert fates(first) == "kks" + "k" * 8
    assert (first.calls, first.summarised) == (1, 16)
    assert first.sent_bytes > 16 * 20
    assert world.asked[0].previous == ""
    assert "the parser was ported" in world.asked[1].previous
    assert not any("[Context Compaction]" in m.content for m in world.asked[1].messages)


@pytest.mark.parametrize("answer", ["", "  \n", None, "## Summary\n" + "long " * 4000])
def test_an_empty_failed_or_larger_summary_is_a_failure_and_changes_nothing(
    answer: str | None,
) -> None:
    outcome = run("rolling-summary", work(12), Ports(Answers([answer])), rounds=4)

    assert outcome.error
    assert outcome.draft == Draft.of(work(12))
    assert outcome.memory == Memory()


def test_an_anchor_is_not_erased_by_any_dress_of_nothing() -> None:
    world = Answers([ANSWER, "### User Intent\n- **N/A**\n\n## Summary\nmore"])

    first = run("rolling-summary", work(12), Ports(world), rounds=4)
    again = STRATEGIES["rolling-summary"].compact(
        [*first.draft.messages, *work(8)[2:]], SMALL, Ports(world), first.memory, {"rounds": 4}
    )

    assert again.memory.anchors is not None
    assert again.memory.anchors[0].content == "port it"


def test_the_newest_human_line_is_kept_between_two_summaries() -> None:
    messages = [*work(6), *said(("user", "And the tests")), *work(6)[2:]]

    outcome = run("rolling-summary", messages, Ports(Answers([ANSWER])), rounds=2)

    assert fates(outcome) == "kksks" + "k" * 4
    assert outcome.calls == 2


def test_trimming_leaves_both_ends_and_the_paths_between() -> None:
    text = "begin\n" + "x" * 2_000 + " see src/app/report.py there " + "y" * 2_000 + "\nthe end"

    short = trim(text)

    assert short is not None
    assert short.startswith("begin")
    assert short.endswith("the end")
    assert "characters left out; they name src/app/report.py]" in short
    assert trim(short) is None
    assert trim("x" * 3_000) is None


def test_only_results_before_the_newest_rounds_are_trimmed() -> None:
    outcome = run("tool-trim", work(4, "@rep(0123456789,400)"), rounds=2)

    assert fates(outcome) == "kkktktkkkk"


def test_lines_of_one_shape_are_folded_to_the_first_and_the_last() -> None:
    log = "start\n" + "\n".join(f"12:00:{n:02} INFO row {n} read" for n in range(30)) + "\nend"

    folded = fold_lines(log)

    assert folded.split("\n") == [
        "start",
        "12:00:00 INFO row 0 read",
        "[28 similar lines left out]",
        "12:00:29 INFO row 29 read",
        "end",
    ]
    assert fold_lines(folded) == folded


def test_sparse_folds_repeated_errors_and_keeps_the_first() -> None:
    error = "@rep(  at frame\n,1)@rep(some words of context\n,3)ValueError: no column 7\n"

    outcome = run("sparse", work(6, error), rounds=2)

    assert fates(outcome) == "kkkkktktktkkkk"[: len(outcome.draft.slots)]
    assert outcome.draft.messages[5].content == (
        "[the same error as before] ValueError: no column 7"
    )


def test_sparse_keeps_decisions_and_parameters_of_the_far_past_word_for_word() -> None:
    call = ToolCall("c", "bash", '{"cmd":"alembic upgrade 4f2a"}')
    decided = Message("assistant", "Some talk. We go with SQLite instead of Postgres.", (call,))
    old = [*said(("system", "s"), ("user", "Port the report")), decided]
    old += said(("result", "c", "@rep(fine ,500)"), ("user", "Keep the old table"))

    outcome = run("sparse", [*old, *work(9)[2:]], rounds=4, far_rounds=4)

    texts = [message.content for message in outcome.draft.messages]
    assert "We go with SQLite instead of Postgres." in texts[2]
    assert 'bash {"cmd":"alembic upgrade 4f2a"}' in texts[2]
    assert "Some talk" not in texts[2]
    assert texts[3] == "Keep the old table"


def test_a_digest_keeps_the_newest_lines_within_its_room() -> None:
    calls = [
        Message("assistant", tool_calls=(ToolCall("c", "bash", f"step {n}"),)) for n in range(99)
    ]

    text = digest(calls, room=600).content

    assert len(text.encode()) < 650
    assert "- bash step 98" in text
    assert "older lines left out" in text


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("migrate the database schema", "the schema of the database", "fonts on the title page"),
        ("压缩会话历史", "会话的历史记录已压缩", "天气很好，适合散步"),
    ],
)
def test_texts_about_the_same_thing_are_more_similar(query: str, near: str, far: str) -> None:
    one, other, asked = HashedNgrams().embed([near, far, query])

    assert similarity(one, asked) > similarity(other, asked)


def test_recall_keeps_whole_tool_batches_in_place_with_their_score() -> None:
    topic = said(("assistant", "Looking at the invoice template", "t1"))
    topic += said(("result", "t1", "invoice template: header, rows, footer"))
    filler = work(30)
    asked = said(("user", "Go back to the invoice template"), ("assistant", "Yes."))
    messages = [*filler[:2], *topic, *filler[2:], *asked]

    outcome = run("vector-recall", messages, rounds=1, budget=0.2)

    recalled = [slot for slot in outcome.draft.slots if slot.reason.startswith("recalled")]
    assert [slot.sources for slot in recalled][:2] == [(2,), (3,)]
    assert all(slot.fate is Fate.KEPT for slot in recalled)
    assert estimate(outcome.draft.messages) <= 200


class NoEmbedder:
    name = "none"

    def embed(self, texts: object) -> list[dict[int, float]]:
        raise ConnectionError("no embedder today")


def test_a_failing_embedder_leaves_the_conversation_as_it_is() -> None:
    outcome = run("vector-recall", work(30), Ports(embedder=NoEmbedder()), rounds=1)

    assert outcome.error == "nothing could be recalled: no embedder today"
    assert outcome.draft == Draft.of(work(30))


def test_layers_stop_as_soon_as_the_budget_holds() -> None:
    messages = work(10, "@rep(0123456789,400)")
    calm, tight = ({"rounds": 2, "budget": budget} for budget in (0.99, 0.02))
    big = Settings(context_window=6_000)
    world = Ports(Answers([ANSWER]), MemoryOffloads())

    first = STRATEGIES["layered"].compact(messages, big, world, values=calm)
    last = STRATEGIES["layered"].compact(messages, big, world, values=tight)

    assert first.ran == ("trim",)
    assert last.ran[0] == "trim"
    assert last.ran[-1] == "recall"
    assert "alone over the budget" in last.error


def test_layered_does_nothing_below_its_budget() -> None:
    outcome = run("layered", CHAT)

    assert outcome.draft == Draft.of(CHAT)
    assert outcome.ran == ()


def test_two_compactions_tell_of_the_first_ones_input() -> None:
    messages = work(12)
    strategy = STRATEGIES["rolling-summary"]
    first = strategy.compact(messages, SMALL, Ports(Answers([ANSWER])), values={"rounds": 6})
    second = STRATEGIES["sliding-window"].compact(first.draft.messages, SMALL, values={"rounds": 2})

    both = compose(first.draft, second.draft)

    assert violations(both, messages) == []
    assert both.messages == second.draft.messages
    assert len(both.drops) == 20
