"""Claude from the command line: nothing is sent unasked, and every failure has its sentence."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import anthropic  # noqa: F401 - slow to import: not within a deadline
import keyring
import pytest
from keyring.backend import KeyringBackend

from app.cli import main
from app.commands.live import ADVICE
from app.llm import failures
from app.llm.failures import SummaryFailed
from tests.fake_api import Answer, Cut, ErrorInStream, Fail, FakeApi, Hang, Say
from tests.programs import program

LOOPING = "383b43d3"
SUMMARY = "## Anchors\n\n### User Intent\n- port it\n\n## Summary\nHalf is ported."


class Memory(KeyringBackend):
    """A keyring that forgets."""

    priority = 1

    def __init__(self, key: str | None = None) -> None:
        self.key = key

    def get_password(self, service: str, username: str) -> str | None:
        return self.key if (service, username) == ("anchorline", "anthropic") else None

    def set_password(self, service: str, username: str, password: str) -> None:
        self.key = password


class Locked(Memory):
    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError("the keyring is locked")


@pytest.fixture(autouse=True)
def _nobodys_account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith("ANTHROPIC_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    with FakeApi() as api:
        api.answers = [Say(SUMMARY, output_tokens=500)]
        monkeypatch.setenv("ANTHROPIC_API_KEY", api.key)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        yield api


@pytest.fixture
def session(corpus: Path) -> list[str]:
    root = corpus / "coding-home"
    return [str(root / "project"), "--home", str(root / "home"), LOOPING]


@pytest.fixture
def summary(session: list[str]) -> list[str]:
    """A run that needs one summary."""
    return ["recompact", *session, "--at", "12", "--summariser", "claude"]


def answering(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Somebody at a terminal who types this."""
    terminal = StringIO(text)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)


def test_without_anybody_to_ask_nothing_is_sent(
    api: FakeApi, summary: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(summary) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert "add --yes" in err
    assert api.headers == []


@pytest.mark.parametrize("text", ["", "\n", "n\n", "yesterday\n"])
def test_only_a_yes_sends(
    api: FakeApi,
    summary: list[str],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answering(monkeypatch, text)

    assert main(summary) == 1

    assert "nothing was sent" in capsys.readouterr().err
    assert api.headers == []


def test_before_it_is_sent_the_person_reads_how_much_goes_where_at_what_cost(
    api: FakeApi,
    summary: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answering(monkeypatch, "y\n")

    assert main(summary) == 0

    out, err = capsys.readouterr()
    quote, after = err.splitlines()
    assert "tokens (estimated)" in quote
    assert api.url.removeprefix("http://") in quote
    assert "claude-haiku-5-5" in quote
    assert "1 call; at most $0.00" in quote
    assert after.startswith("Send it? [y/N] ")
    assert "500 out (reported), $0.00" in after
    assert "Messages summarised     54        54" in out
    assert len(api.requests) == 1


def test_what_was_quoted_is_not_less_than_what_is_sent(
    api: FakeApi, summary: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*summary, "--yes", "--json"]) == 0

    told = json.loads(capsys.readouterr().out)["summary"]
    assert told["by"] == "claude"
    assert told["failure"] is None
    assert told["quote"]["calls"] == told["answers"] == len(api.requests)
    assert told["quote"]["tokens"] >= told["usage"]["input"]
    assert float(told["quote"]["most_cost"]) >= float(told["cost"]) > 0
    assert (told["tokens_are"], told["cost_is"]) == ("reported", "estimated")


def test_the_summary_is_the_model_s(
    api: FakeApi, summary: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*summary, "--yes", "--json", "--model", "claude-sonnet-5-5"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["record"]["summary_text"] == "Half is ported."
    assert told["settings"]["summariser"] == "claude"
    assert api.requests[0]["model"] == "claude-sonnet-5-5"


def test_where_no_summary_is_needed_nobody_is_asked_and_nothing_sent(
    api: FakeApi, session: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["recompact", *session, "--at", "12", "--set", "tier=warn", "--summariser", "claude"]

    assert main(argv) == 0

    assert "Claude was not asked" in capsys.readouterr().err
    assert api.headers == []


BUSY = Fail(529, "Overloaded", "overloaded_error", retry_after=0)


@pytest.mark.parametrize(
    ("answers", "kind", "says"),
    [
        ([Fail(403, "not this model", "permission_error")], "KeyRefused", "not this model"),
        ([BUSY], "Overloaded", "Overloaded"),
        ([Fail(429, "slow down", "rate_limit_error", retry_after=0)], "Overloaded", "slow down"),
        ([Fail(500, "oh no", retry_after=0)], "ServiceFailed", "oh no"),
        ([Fail(413, "too large", "request_too_large")], "TooLong", "too large"),
        ([Fail(404, "model: claude-x", "not_found_error")], "Rejected", "claude-x"),
        ([Say("", stop_reason="refusal")], "Refused", "declined"),
        ([Say("")], "EmptyAnswer", "without text"),
        ([Say("half", stop_reason="max_tokens")], "CutShort", "not complete"),
        ([Cut()], "Unreachable", "no answer from Claude"),
        ([ErrorInStream("overloaded_error", "Busy")], "Overloaded", "Busy"),
        ([Hang()], "TimedOut", "within 0.7 s"),
        ([Hang("half a summ")], "TimedOut", "within 0.7 s"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_failure_is_a_sentence_with_what_to_do_and_the_run_falls_back(
    api: FakeApi,
    summary: list[str],
    answers: list[Answer],
    kind: str,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    api.answers = answers
    seconds = "0.7" if kind == "TimedOut" else "5"

    assert main([*summary, "--yes", "--json", "--seconds", seconds]) == 1

    out, err = capsys.readouterr()
    told: Any = json.loads(out)
    assert told["summary"]["failure"]["kind"] == kind
    assert told["record"]["error"].startswith("LLM summary failed")
    last = err.splitlines()[-1]
    assert last.startswith("anchorline: no summary: ")
    assert says in last
    assert ADVICE[kind] in last
    assert api.key not in out + err


def test_a_busy_service_is_asked_again_within_the_time(
    api: FakeApi, summary: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    api.answers = [BUSY, BUSY, Say(SUMMARY)]

    assert main([*summary, "--yes"]) == 0

    assert len(api.requests) == 3
    assert "1 answer" in capsys.readouterr().err


def test_a_key_that_is_refused_is_never_shown(
    api: FakeApi,
    summary: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong")

    assert main([*summary, "--yes"]) == 1

    out, err = capsys.readouterr()
    assert ADVICE["KeyRefused"] in err
    assert "sk-ant-wrong" not in out + err


def test_nobody_there_is_said(summary: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with FakeApi() as gone:
        url = gone.url
    keyring.set_keyring(Memory("sk-ant-kept"))

    assert main([*summary, "--yes", "--base-url", url, "--seconds", "0.4"]) == 1

    assert ADVICE["Unreachable"] in capsys.readouterr().err


def test_the_keyring_is_asked_where_the_environment_has_no_key(
    api: FakeApi, summary: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    keyring.set_keyring(Memory(api.key))

    assert main([*summary, "--yes"]) == 0

    assert len(api.requests) == 1


@pytest.mark.parametrize("backend", [Memory(), Locked()])
def test_without_a_key_nothing_is_asked_and_the_way_to_one_is_named(
    summary: list[str], backend: KeyringBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    keyring.set_keyring(backend)

    assert main([*summary, "--yes"]) == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert "set ANTHROPIC_API_KEY" in line
    assert "keyring set anchorline anthropic" in line


def test_a_key_never_goes_out_in_the_clear(
    api: FakeApi, summary: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*summary, "--yes", "--base-url", "http://example.org"]) == 1

    assert "https is needed" in capsys.readouterr().err


def test_claude_may_count_what_is_left_and_says_that_it_sends_it(
    api: FakeApi, session: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["recompact", *session, "--at", "12", "--counter", "claude"]

    assert main(argv) == 2
    assert "free of charge" in capsys.readouterr().err
    assert api.headers == []
    assert main([*argv, "--yes", "--json"]) == 0

    counts = json.loads(capsys.readouterr().out)["counts"]
    assert counts["counter"] == "claude-haiku-5-5 count_tokens"
    assert counts["before"]["is_exact"]
    assert counts["before"]["tokens"] > counts["after"]["tokens"] > 0


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_other_counters_send_nothing(
    session: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["recompact", *session, "--at", "12", "--counter", name]) == 0

    out, err = capsys.readouterr()
    assert f"{name}, before" in out
    assert err == ""


def test_the_recorded_summary_comes_out_to_the_token(
    session: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["recompact", *session, "--at", "12", "--summariser", "recorded", "--json"]

    assert main(argv) == 0

    told = json.loads(capsys.readouterr().out)
    for name in ("summary_text", "tokens_after", "msgs_after", "summarized"):
        assert told["record"][name] == told["recorded"][name], name


def test_the_recorded_summary_is_not_taken_for_other_messages(
    session: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["recompact", *session, "--at", "12", "--summariser", "recorded"]

    assert main([*argv, "--set", "min_tail=30"]) == 1

    out, err = capsys.readouterr()
    assert "stands for 54 messages" in err
    assert ADVICE["NothingRecorded"] in err
    assert "LLM summary failed" in out


def test_no_setting_makes_a_run_send_anything(
    api: FakeApi, session: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["recompact", *session, "--set", "summariser=claude"]) == 2

    assert "none of offline, recorded, none" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "nan", "3601"])
def test_a_time_that_cannot_be_is_refused(summary: list[str], seconds: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*summary, "--seconds", seconds])

    assert ended.value.code == 2


def test_a_comparison_asks_claude_as_often_as_it_said(
    api: FakeApi, session: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["compare", *session, "--fit", "0.5", "--strategies", "rolling-summary,sparse"]

    assert main([*argv, "--summariser", "claude"]) == 2
    assert api.headers == []
    capsys.readouterr()
    assert main([*argv, "--summariser", "claude", "--yes", "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["summariser"] == "claude"
    assert told["summary"]["answers"] == len(api.requests) == told["rows"][0]["asked"]
    assert told["summary"]["quote"]["calls"] > 0


def test_a_comparison_does_not_insist_on_a_refused_key(
    api: FakeApi,
    session: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong")
    argv = ["compare", *session, "--fit", "0.5", "--strategies", "rolling-summary"]

    assert main([*argv, "--summariser", "claude", "--yes"]) == 1

    assert ADVICE["KeyRefused"] in capsys.readouterr().err
    assert len(api.headers) == 1


def test_every_kind_of_failure_has_its_advice() -> None:
    kinds = {
        name
        for name, kind in vars(failures).items()
        if isinstance(kind, type) and issubclass(kind, SummaryFailed) and kind is not SummaryFailed
    }

    assert set(ADVICE) == kinds


def test_the_installed_program_asks_on_its_terminal(api: FakeApi, summary: list[str]) -> None:
    pty = pytest.importorskip("pty", reason="terminals of this kind are POSIX")
    ours, theirs = pty.openpty()
    try:
        with program(
            *summary, stdin=theirs, ANTHROPIC_API_KEY=api.key, ANTHROPIC_BASE_URL=api.url
        ) as process:
            os.write(ours, b"y\n")
            out, err = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)

    assert (process.returncode, len(api.requests)) == (0, 1), err
    assert "Send it? [y/N]" in err
    assert "Messages summarised" in out
