"""Counting with real vocabularies: offline, in bounded time, and honest about what was sampled."""

from __future__ import annotations

import lzma
import random
import string
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import Message, ToolCall
from compaction.counters import (
    COUNTERS,
    BpeCounter,
    ByteQuarter,
    Count,
    FlaggedCounter,
    counter_named,
    measured,
)
from compaction.counters.bpe import PIECE, encoding
from compaction.counters.vocabulary import VOCABULARIES, BadVocabulary, Vocabulary
from tests.compaction.generators import CONVERSATIONS

ROOT = Path(__file__).parents[2]

# From the publisher's own tokenizer.
KNOWN = [
    ("", 0, 0),
    ("hello world", 2, 2),
    ("你是助手，请把报告改成 CSV。", 10, 14),
    ("def main() -> None:\n    print('x')\n", 11, 11),
    ("naïve 😀 1234567", 8, 8),
]


@pytest.mark.parametrize(("text", "o200k", "cl100k"), KNOWN)
def test_both_vocabularies_count_as_published(text: str, o200k: int, cl100k: int) -> None:
    assert BpeCounter("o200k_base").measure_text(text) == Count(o200k)
    assert BpeCounter("cl100k_base").measure_text(text) == Count(cl100k)


def test_every_text_of_a_message_counts_and_the_envelope_only_if_asked() -> None:
    message = Message("assistant", "hello world", (ToolCall("c1", "bash", '{"a":1}'),), "c0")

    parts = sum(
        BpeCounter().measure_text(text).tokens
        for text in ("hello world", "c1", "bash", '{"a":1}', "c0")
    )

    assert BpeCounter().count([message, message]) == 2 * parts
    assert BpeCounter(per_message=3).count([message, message]) == 2 * (parts + 3)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_special_token_text_is_ordinary_text(name: str) -> None:
    text = "The manual says <|endoftext|> and <|im_start|>system end a turn; <|fim_prefix|> too."

    count = BpeCounter(name).measure_text(text)

    assert count.is_exact
    assert count.tokens > 20
    assert encoding(name).decode(encoding(name).encode_ordinary(text)) == text


WORDS = st.text("abXY 12  \n\n\r\t.,:'sé\u0301漢字，。？“”😀_-=/", max_size=60)


@pytest.mark.parametrize("name", VOCABULARIES)
@given(words=st.lists(WORDS, min_size=1, max_size=6), times=st.integers(1, 4))
def test_cutting_a_long_text_at_seams_changes_no_token(
    name: str, words: list[str], times: int
) -> None:
    text = (" word\n".join(words) + " end ") * (PIECE * times // 300)

    count = BpeCounter(name).measure_text(text)

    assert count == Count(len(encoding(name).encode_ordinary(text)))


PATHOLOGICAL = {
    "a million of one letter": "a" * 1_000_000,
    "a megabyte of base64": "".join(
        random.Random(7).choices(string.ascii_letters + string.digits + "+/", k=1_400_000)
    ),
    "four million spaces": " " * 4_000_000 + "x",
    "newlines": "\n" * 1_000_000,
    "no spaces, Chinese": "漢字" * 500_000,
    "an unbroken stretch between words": "word " * 9_000 + "=" * 1_000_000 + " word" * 9_000,
}


@pytest.mark.parametrize("kind", PATHOLOGICAL)
def test_a_long_stretch_without_seams_is_sampled_and_flagged(kind: str) -> None:
    text = PATHOLOGICAL[kind]

    count = BpeCounter().measure_text(text)

    assert not count.is_exact
    assert "sampled" in count.why
    assert 0 < count.tokens <= len(text)


def test_a_sample_is_close_to_the_truth() -> None:
    text = PATHOLOGICAL["a megabyte of base64"]

    count = BpeCounter().measure_text(text)

    whole = len(encoding("o200k_base").encode_ordinary(text))
    assert count.tokens == pytest.approx(whole, rel=0.01)


def test_what_looks_at_little_text_decides_nothing_by_its_length() -> None:
    assert BpeCounter().measure_text("x" * PIECE).is_exact
    assert not BpeCounter().measure_text("x" * (PIECE + 1)).is_exact


@given(CONVERSATIONS)
def test_any_conversation_is_counted_the_same_however_it_is_split(messages: list[Message]) -> None:
    counter = BpeCounter()

    whole = counter.count(messages)

    assert whole == sum(BpeCounter().count([message]) for message in messages)
    assert whole == counter.count(messages)


def test_a_growing_history_costs_only_its_new_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    original = BpeCounter.measure_text

    def noted(self: BpeCounter, text: str) -> Count:
        looked_at.append(text)
        return original(self, text)

    monkeypatch.setattr(BpeCounter, "measure_text", noted)
    counter = BpeCounter()
    history = [Message("user", f"message {n}") for n in range(50)]
    counter.count(history)
    looked_at.clear()

    counter.count([*history, Message("user", "the new one")])

    assert looked_at == ["the new one", ""]


def test_the_total_of_counts_is_exact_only_if_all_are() -> None:
    guess = Count(3, is_exact=False, why="guessed")

    assert Count.total([Count(1), Count(2)]) == Count(3)
    assert Count.total([Count(1), guess, Count(2)]) == Count(6, is_exact=False, why="guessed")


def test_the_estimate_says_that_it_is_one() -> None:
    assert ByteQuarter().measure([Message("user", "x" * 8)]).is_exact is False
    assert measured(ByteQuarter(), [Message("user", "x" * 8)]).tokens == 2


def test_a_counter_that_cannot_say_is_taken_for_an_estimate() -> None:
    class Mine:
        name = "mine"

        def count(self, messages: object) -> int:
            return 7

    assert measured(Mine(), []) == Count(7, is_exact=False, why="mine does not say")


@pytest.mark.parametrize("name", COUNTERS)
def test_counters_are_found_by_their_name(name: str) -> None:
    counter = counter_named(name)

    assert counter.name == name
    assert isinstance(counter, FlaggedCounter)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'o300k' is no token counter; there are bytes/4, o200k_b"):
        counter_named("o300k")
    with pytest.raises(ValueError, match="there are o200k_base, cl100k_base"):
        BpeCounter("gpt2")


def test_a_vocabulary_that_is_not_the_published_one_is_refused() -> None:
    forged = Vocabulary("cl100k_base", "0" * 64, "")
    missing = Vocabulary("nowhere", "0" * 64, "")

    with pytest.raises(BadVocabulary, match="not the published vocabulary"):
        forged.ranks()
    with pytest.raises(BadVocabulary, match="install the package anew"):
        missing.ranks()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_each_vocabulary_ships_with_its_source_and_licence(name: str) -> None:
    folder = ROOT / "compaction" / "counters" / "vocabularies"
    told = (folder / "README.md").read_text("utf-8")

    assert VOCABULARIES[name].sha256 in told
    assert "MIT License" in told
    assert lzma.decompress((folder / f"{name}.tiktoken.xz").read_bytes()).endswith(b"\n")


def _run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": "", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_importing_the_engine_imports_neither_tokenizer_nor_client() -> None:
    code = (
        "import sys, compaction, compaction.counters, compaction.adapters, "
        "app.llm.claude, app.llm.claude_counter\n"
        "print({'tiktoken', 'anthropic', 'requests', 'httpx2'} & set(sys.modules))"
    )

    assert _run(code) == "set()"


def test_counting_touches_neither_the_network_nor_a_cache(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def no(*_, **__): raise AssertionError('the network was touched')\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = no\n"
        "from compaction import Message\n"
        "from compaction.counters import BpeCounter\n"
        "print(BpeCounter('cl100k_base').count([Message('user', 'hello world')]))"
    )
    (tmp_path / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").write_text("aGVsbG8= 0\n")

    assert _run(code, TIKTOKEN_CACHE_DIR=str(tmp_path)) == "2"
    assert [p.read_text() for p in tmp_path.iterdir()] == ["aGVsbG8= 0\n"]
