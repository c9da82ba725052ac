"""A message comes back from its kept body exactly as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.contents import body_of, hash_of, message_of, packed
from compaction.messages import Message, ToolCall

# With lone surrogates: bytes of a database that were not UTF-8.
texts = st.text(st.characters(), max_size=400)
messages = st.builds(
    Message,
    texts,
    texts,
    st.lists(st.builds(ToolCall, texts, texts, texts), max_size=3).map(tuple),
    texts,
)


@given(messages)
def test_a_message_comes_back_as_it_was(message: Message) -> None:
    assert message_of(packed(body_of(message))) == message


@given(messages, messages)
def test_only_equal_messages_have_one_name(one: Message, other: Message) -> None:
    assert (hash_of(body_of(one)) == hash_of(body_of(other))) == (one == other)


def test_damaged_bytes_are_told() -> None:
    with pytest.raises(ValueError, match="damaged"):
        message_of(b"x\x00not a body")
