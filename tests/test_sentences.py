"""Sentence models as embedders: each text asked once, nonsense refused, recall by meaning."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable

import pytest

from app.sentences import SentenceEmbedder, bundled
from compaction import STRATEGIES, Ports, Settings
from compaction.embedding import similarity
from compaction.strategies import Outcome
from tests.compaction.generators import said


class Lengths:
    """A model that knows a text by its length and whether there is an `x` in it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str]) -> Iterable[Iterable[float]]:
        self.asked += texts
        return [(len(text), text.count("x")) for text in texts]


def test_each_text_is_put_to_the_model_once_however_often_it_comes() -> None:
    model = Lengths()
    embedder = SentenceEmbedder(model, "lengths")

    first = embedder.embed(["one", "two", "one"])
    again = embedder.embed(["two", "three"])

    assert model.asked == ["one", "two", "three"]
    assert first[0] == first[2]
    assert again[0] == first[1]


def test_vectors_have_length_one_and_are_empty_where_the_model_has_nothing() -> None:
    text, nothing = SentenceEmbedder(Lengths(), "lengths").embed(["xxxx", ""])

    assert similarity(text, text) == pytest.approx(1, abs=1e-6)
    assert nothing == {}


def test_a_model_is_never_given_a_text_that_could_break_it() -> None:
    model = Lengths()

    SentenceEmbedder(model, "lengths").embed(["a\0b", "lone \ud83d", "raw \udcff", "y" * 2_000_000])

    assert all(len(text) < 1_000 and "\0" not in text for text in model.asked)
    assert [text.encode() for text in model.asked]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([[1.0]], "gave 1 vectors for 2 texts"),
        ([[1.0], [math.nan]], "no number"),
        ([[1.0], [math.inf]], "no number"),
    ],
)
def test_an_answer_that_is_not_a_vector_for_each_text_is_refused(
    rows: list[list[float]], says: str
) -> None:
    embedder = SentenceEmbedder(lambda _texts: rows, "odd")

    with pytest.raises(ValueError, match=says):
        embedder.embed(["one", "two"])


SESSION = said(
    ("system", "You are a coding agent."),
    ("user", "Set the shop up."),
    ("assistant", "Customers pay with a card; the charge goes through the bank's gateway."),
    ("assistant", "The front page has a picture of a mountain lake in the morning light."),
    ("assistant", "Tomatoes, basil and olive oil are what the example recipe is made of."),
    ("user", "Why was the invoice billed twice?"),
    ("assistant", "I will look."),
)


def recall(ports: Ports) -> Outcome:
    """Room for the fixed part and one recalled message."""
    return STRATEGIES["vector-recall"].compact(
        SESSION, Settings(context_window=110), ports, values={"rounds": 1, "budget": 0.9}
    )


@pytest.mark.skipif(sys.platform == "win32", reason="the model's package is not made for Windows")
def test_a_sentence_model_recalls_by_meaning_where_no_word_is_the_same() -> None:
    outcome = recall(Ports(embedder=bundled()))

    recalled = [slot.message.content for slot in outcome.draft.slots if "recalled" in slot.reason]
    assert outcome.error == ""
    assert recalled[0].startswith("Customers pay with a card")


def test_an_embedder_that_miscounts_leaves_the_conversation_as_it_is() -> None:
    class Short:
        name = "short"

        def embed(self, texts: list[str]) -> list[dict[int, float]]:
            return [{0: 1.0} for _ in texts[1:]]

    outcome = recall(Ports(embedder=Short()))  # type: ignore[arg-type] # answers less than asked

    assert outcome.draft.messages == tuple(SESSION)
    assert "nothing could be recalled: 3 vectors came for 4 texts" in outcome.error
