"""Text as bytes: nothing that came from a file is lost on the way back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.utf8 import byte_length, decoded, encoded


@given(st.binary())
def test_any_bytes_survive_the_way_there_and_back(raw: bytes) -> None:
    assert encoded(decoded(raw)) == raw


@given(st.text())
def test_any_text_survives_the_way_there_and_back(text: str) -> None:
    assert decoded(encoded(text)) == text


@given(st.text(st.characters(codec=None)))
def test_the_byte_length_is_that_of_the_encoded_text(text: str) -> None:
    assert byte_length(text) == len(encoded(text))


def test_a_lone_surrogate_is_written_as_the_replacement_character() -> None:
    assert encoded("tail \ud83d") == "tail \ufffd".encode()


def test_raw_bytes_and_lone_surrogates_side_by_side_are_told_apart() -> None:
    assert encoded("\udcff\ud800\udce4") == b"\xff\xef\xbf\xbd\xe4"
