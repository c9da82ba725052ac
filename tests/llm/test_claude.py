"""The live summariser against a real server: its answers, and every way in which there is none."""

from __future__ import annotations

import logging
import pickle
import traceback
from dataclasses import replace
from decimal import Decimal
from threading import Event, Thread

import pytest

from app.errors import AnchorlineError
from app.llm import failures
from app.llm.access import Access
from app.llm.access import access as access_from
from app.llm.claude import ClaudeSummariser, Limits, Progress
from app.llm.failures import (
    Cancelled,
    CutShort,
    EmptyAnswer,
    KeyRefused,
    NoKey,
    Overloaded,
    Refused,
    Rejected,
    ServiceFailed,
    SummaryFailed,
    TimedOut,
    TooLong,
    Unreachable,
)
from app.llm.prices import Usage
from compaction import (
    HARNESS9_WRITEBACK,
    Message,
    Ports,
    Settings,
    SummaryRequest,
    Tier,
    ToolCall,
    compact,
    parse_summary,
)
from tests.fake_api import Answer, Cut, ErrorInStream, Fail, FakeApi, Hang, Say

SUMMARY = "## Anchors\n\n### User Intent\n- port it\n\n## Summary\nHalf is ported."
REQUEST = SummaryRequest((Message("user", "Port the report"), Message("assistant", "Porting.")))
SHORT = Limits(seconds=30, attempts=3)
PATIENCE = 0.3


def asked(api: FakeApi, access: Access, *answers: Answer, limits: Limits = SHORT) -> SummaryFailed:
    """The failure that these answers lead to."""
    api.answers = list(answers)
    summariser = ClaudeSummariser(access, limits)
    with pytest.raises(SummaryFailed) as caught:
        summariser.summarise(REQUEST)
    (outcome,) = summariser.outcomes
    assert outcome.failure is caught.value
    return caught.value


def test_the_answer_is_the_model_s_and_the_prompts_are_the_request_s(
    api: FakeApi, access: Access
) -> None:
    api.answers = [Say(SUMMARY)]

    answer = ClaudeSummariser(access).summarise(REQUEST)

    (body,) = api.requests
    assert answer == Message("assistant", SUMMARY)
    assert body["system"] == REQUEST.system_prompt
    assert body["messages"] == [{"role": "user", "content": REQUEST.user_prompt}]
    assert body["model"] == "claude-haiku-5-5"


def test_progress_is_told_as_the_answer_arrives(api: FakeApi, access: Access) -> None:
    api.answers = [Say(SUMMARY)]
    told: list[Progress] = []

    ClaudeSummariser(access, on_progress=told.append).summarise(REQUEST)

    assert len(told) >= 3
    assert [p.characters for p in told] == sorted(p.characters for p in told)
    assert told[-1] == Progress(1, 1, len(SUMMARY))


def test_usage_and_cost_are_recorded(api: FakeApi, access: Access) -> None:
    api.answers = [Say(SUMMARY, output_tokens=500)]
    summariser = ClaudeSummariser(access)

    summariser.summarise(REQUEST)

    (outcome,) = summariser.outcomes
    assert (outcome.calls, outcome.usage.output, outcome.failure) == (1, 500, None)
    expected = outcome.usage.input * Decimal("0.10") + 500 * Decimal("0.50")
    assert outcome.cost == expected / 1_000_000


def test_a_model_without_a_listed_price_has_no_cost(api: FakeApi, access: Access) -> None:
    summariser = ClaudeSummariser(replace(access, model="claude-of-tomorrow"))

    summariser.summarise(REQUEST)

    assert summariser.outcomes[0].cost is None


def test_what_no_one_can_send_as_text_is_replaced(api: FakeApi, access: Access) -> None:
    request = SummaryRequest((Message("user", "raw \udcff and lone \ud83d"),))

    ClaudeSummariser(access).summarise(request)

    assert "raw � and lone �" in api.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (Fail(403, "not allowed", "permission_error"), KeyRefused, "not allowed"),
        (Fail(404, "model: claude-x", "not_found_error"), Rejected, "model: claude-x"),
        (Fail(400, "prompt is too long: 9 tokens > 8 maximum"), TooLong, "too long"),
        (Fail(413, "Request exceeds the maximum size"), TooLong, "maximum size"),
        (Fail(400, "temperature: bad", "invalid_request_error"), Rejected, "temperature"),
        (Fail(429, "slow down", "rate_limit_error", retry_after=0), Overloaded, "slow down"),
        (Fail(529, "Overloaded", "overloaded_error", retry_after=0), Overloaded, "Overloaded"),
        (Fail(500, "oops", retry_after=0), ServiceFailed, "oops"),
        (Say("I won't.", stop_reason="refusal"), Refused, "declined to summarise: no reason"),
        (
            Say(
                "",
                stop_reason="refusal",
                stop_details={"type": "refusal", "category": "cyber", "explanation": "unsafe"},
            ),
            Refused,
            "declined to summarise: unsafe",
        ),
        (Say(""), EmptyAnswer, "without text"),
        (Say("  \n"), EmptyAnswer, "without text"),
        (Say("", tool="bash", stop_reason="tool_use"), EmptyAnswer, "only a tool call"),
        (Say("half", stop_reason="max_tokens"), CutShort, "not complete after 20 tokens"),
        (Say("x", stop_reason="model_context_window_exceeded"), TooLong, "context window"),
    ],
)
def test_every_failure_has_its_kind_and_says_what_the_service_said(
    api: FakeApi, access: Access, answer: Answer, kind: type[SummaryFailed], says: str
) -> None:
    failure = asked(api, access, answer)

    assert type(failure) is kind
    assert says in str(failure)


def test_a_key_that_is_not_taken_is_not_tried_again(api: FakeApi, access: Access) -> None:
    failure = asked(api, replace(access, key="sk-ant-wrong"), Say())

    assert type(failure) is KeyRefused
    assert len(api.headers) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        Fail(429, "slow down", "rate_limit_error", retry_after=0),
        Fail(529, "Overloaded", "overloaded_error", retry_after=0),
        Fail(500, "oops", retry_after=0),
        Cut(),
        Cut(""),
        ErrorInStream(),
    ],
)
def test_what_may_pass_is_tried_again(
    api: FakeApi, access: Access, trouble: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.llm.claude.FIRST_PAUSE", 0)
    api.answers = [trouble, trouble, Say(SUMMARY)]

    answer = ClaudeSummariser(access, SHORT).summarise(REQUEST)

    assert answer.content == SUMMARY
    assert len(api.requests) == 3


def test_attempts_are_bounded(api: FakeApi, access: Access) -> None:
    asked(api, access, Fail(500, retry_after=0))

    assert len(api.requests) == SHORT.attempts


def test_a_pause_longer_than_the_time_left_is_not_begun(api: FakeApi, access: Access) -> None:
    failure = asked(api, access, Fail(429, "slow down", "rate_limit_error", retry_after=3600))

    assert type(failure) is Overloaded
    assert failure.retry_after == 3600
    assert len(api.requests) == 1


@pytest.mark.parametrize("header", [float("nan"), float("inf"), -1.0])
def test_a_pause_that_is_no_pause_is_not_believed(
    api: FakeApi, access: Access, header: float
) -> None:
    failure = asked(api, access, Fail(500, retry_after=header), limits=replace(SHORT, attempts=1))

    assert failure.retry_after is None


def test_a_stream_that_breaks_off_is_no_summary(api: FakeApi, access: Access) -> None:
    failure = asked(api, access, Cut("half a summary"), limits=replace(SHORT, attempts=1))

    assert type(failure) is Unreachable


def test_an_error_in_the_middle_of_a_stream_has_its_kind(api: FakeApi, access: Access) -> None:
    once = replace(SHORT, attempts=1)

    assert type(asked(api, access, ErrorInStream(), limits=once)) is Overloaded
    odd = ErrorInStream("api_error", "Internal server error")
    assert type(asked(api, access, odd, limits=once)) is ServiceFailed


def test_nobody_listening_is_said_with_the_address(access: Access) -> None:
    nowhere = replace(access, base_url="http://127.0.0.1:9")

    with pytest.raises(Unreachable, match=r"no answer from Claude at http://127\.0\.0\.1:9"):
        ClaudeSummariser(nowhere, replace(SHORT, attempts=1)).summarise(REQUEST)


@pytest.mark.parametrize("silence", [Hang(), Hang("half a summary")])
def test_a_service_that_never_answers_is_left_at_the_deadline(
    api: FakeApi, access: Access, silence: Hang
) -> None:
    failure = asked(api, access, silence, limits=Limits(seconds=PATIENCE))

    assert type(failure) is TimedOut
    assert str(failure) == "no answer within 0.3 s"


def test_the_deadline_covers_all_attempts(api: FakeApi, access: Access) -> None:
    limits = Limits(seconds=PATIENCE, attempts=1_000_000)

    failure = asked(api, access, Fail(500, retry_after=0.05), Hang(), limits=limits)

    assert type(failure) in (TimedOut, ServiceFailed)
    assert len(api.requests) < 20


def test_a_summary_can_be_cancelled_while_nothing_arrives(api: FakeApi, access: Access) -> None:
    api.answers = [Hang("half")]
    cancel = Event()
    Thread(target=lambda: (api.arrived.wait(), cancel.set()), daemon=True).start()
    summariser = ClaudeSummariser(access, SHORT, cancel=cancel)

    with pytest.raises(Cancelled):
        summariser.summarise(REQUEST)

    assert type(summariser.outcomes[0].failure) is Cancelled


def test_a_summary_can_be_cancelled_during_a_pause(api: FakeApi, access: Access) -> None:
    api.answers = [Fail(529, "Overloaded", retry_after=20)]
    cancel = Event()
    Thread(target=lambda: (api.arrived.wait(), cancel.set()), daemon=True).start()

    with pytest.raises(Cancelled):
        ClaudeSummariser(access, SHORT, cancel=cancel).summarise(REQUEST)

    assert len(api.requests) == 1


def test_what_the_progress_report_raises_ends_the_summary(api: FakeApi, access: Access) -> None:
    class StopIt(Exception):
        pass

    def stop(_: Progress) -> None:
        raise StopIt

    summariser = ClaudeSummariser(access, on_progress=stop)
    with pytest.raises(StopIt):
        summariser.summarise(REQUEST)

    assert summariser.outcomes[0].calls == 1


LONG = tuple(Message("user", f"step {n} " + "h" * 8000) for n in range(400))


def test_a_text_longer_than_the_model_takes_is_sent_in_few_portions(
    api: FakeApi, access: Access
) -> None:
    limits = Limits(most_input=60_000, most_calls=4)

    ClaudeSummariser(access, limits).summarise(SummaryRequest(LONG))

    assert 1 < len(api.requests) <= 4
    assert all(len(body["messages"][0]["content"]) < 60_000 * 4 for body in api.requests)
    assert "bytes left out" in api.requests[0]["messages"][0]["content"]
    assert "step 0 " in api.requests[0]["messages"][0]["content"]
    assert "step 399 " in api.requests[-1]["messages"][0]["content"]


def test_each_portion_continues_the_summary_of_those_before(api: FakeApi, access: Access) -> None:
    api.answers = [
        Say("### User Intent\nport it\n\n### Next Steps\nread\n\n## Summary\nfirst part"),
        Say("### User Intent\n- N/A\n\n### Next Steps\nwrite\n\n## Summary\nboth parts"),
    ]
    limits = Limits(most_input=20_000, most_calls=2)

    answer = ClaudeSummariser(access, limits).summarise(SummaryRequest(LONG[:12]))

    second = api.requests[1]["messages"][0]["content"]
    assert "<previous>" in second
    assert "first part" in second
    summary = parse_summary(answer.content)
    anchors = {anchor.kind: anchor.content for anchor in summary.anchors}
    assert anchors["user_intent"] == "port it"
    assert anchors["next_step"] == "write"
    assert summary.text == "both parts"


def test_a_text_that_the_model_calls_too_long_is_tried_again_at_half_the_size(
    api: FakeApi, access: Access
) -> None:
    api.most_tokens = 30_000
    summariser = ClaudeSummariser(access, Limits(most_input=60_000))

    summariser.summarise(SummaryRequest(LONG[:20]))

    assert all(len(body["messages"][0]["content"]) < 30_000 * 4 for body in api.requests)


def test_a_model_that_takes_next_to_nothing_is_a_failure(api: FakeApi, access: Access) -> None:
    api.most_tokens = 10

    failure = asked(api, access, Say())

    assert type(failure) is TooLong
    assert len(api.headers) == 3


def test_a_failed_summary_leaves_the_session_with_the_engine_s_fallback(
    api: FakeApi, access: Access
) -> None:
    api.answers = [Hang()]
    history = [Message("system", "S"), *(Message("user", "x" * 400) for _ in range(20))]
    summariser = ClaudeSummariser(access, Limits(seconds=PATIENCE))
    settings = Settings(2_200, rules=HARNESS9_WRITEBACK)

    result = compact(history, settings, Ports(summariser), tier=Tier.FULL)

    assert "LLM summary failed" in result.fallback
    assert result.record.tokens_after < result.record.tokens_before
    assert type(summariser.outcomes[0].failure) is TimedOut


def test_the_key_appears_nowhere(
    api: FakeApi, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = "sk-ant-mine-and-nobody-else-s"
    access = Access(wrong, base_url=api.url)
    summariser = ClaudeSummariser(access, SHORT)

    with pytest.raises(KeyRefused) as caught:
        summariser.summarise(REQUEST)

    told = [
        repr(access),
        str(access),
        repr(summariser),
        repr(summariser.outcomes),
        "".join(traceback.format_exception(caught.value)),
        caplog.text,
        "".join(map(str, capsys.readouterr())),
    ]
    assert "invalid x-api-key: [key]" in str(caught.value)
    assert [text for text in told if wrong in text] == []


def test_a_key_is_needed() -> None:
    with pytest.raises(NoKey, match="set ANTHROPIC_API_KEY, or choose the offline summariser"):
        access_from({})


def test_settings_come_before_the_environment() -> None:
    environment = {
        "ANTHROPIC_API_KEY": " sk-env\n",
        "ANTHROPIC_BASE_URL": "https://proxy.example",
        "ANCHORLINE_MODEL": "claude-opus-5-5",
    }

    assert access_from(environment) == Access("sk-env", "claude-opus-5-5", "https://proxy.example")
    assert access_from(environment, key="sk-mine", model="claude-sonnet-5-5").key == "sk-mine"
    assert access_from({}, key="sk-mine") == Access("sk-mine")


@pytest.mark.parametrize("key", ["sk ant", "sk-äöü", "sk-\x00"])
def test_what_cannot_be_a_key_is_not_sent(key: str) -> None:
    with pytest.raises(KeyRefused, match="copy it again") as caught:
        access_from({}, key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("url", ["http://api.example", "ftp://x", "api.example", "https://"])
def test_a_key_is_not_sent_in_the_clear(url: str) -> None:
    with pytest.raises(Rejected, match="https is needed"):
        access_from({}, key="sk", base_url=url)


def test_every_failure_is_a_sentence_for_the_person_and_is_in_the_tree() -> None:
    kinds = [
        kind
        for kind in vars(failures).values()
        if isinstance(kind, type) and issubclass(kind, SummaryFailed)
    ]

    assert all(issubclass(kind, AnchorlineError) for kind in kinds)
    assert [kind.__name__ for kind in kinds if kind.__name__ not in (failures.__doc__ or "")] == []


def test_arguments_of_calls_are_cut_too(api: FakeApi, access: Access) -> None:
    call = ToolCall("c1", "write_file", "z" * 900_000)
    request = SummaryRequest((Message("assistant", "writing", (call,)), Message("user", "go on")))

    ClaudeSummariser(access, Limits(most_input=20_000)).summarise(request)

    text = api.requests[0]["messages"][0]["content"]
    assert "writing" in text
    assert "bytes left out" in text


def test_usage_adds_up() -> None:
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)
    assert pickle.loads(pickle.dumps(Usage(1, 2))).prompt == 1
