"""A conversation in portions: bounded in size and number, in order, cut only with a mark."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction import Message, ToolCall
from compaction.portions import LEAST, portions
from compaction.summary import as_text
from compaction.utf8 import byte_length
from tests.compaction.generators import CONVERSATIONS, HOSTILE

LONG = st.builds(
    lambda unit, times, calls: Message("user", unit * times, calls),
    st.sampled_from(["x", "line\n", "表", "🦊"]),
    st.integers(1, 6_000),
    st.sampled_from([(), (ToolCall("c1", "bash", "y" * 5000),)]),
)


def _bytes(part: tuple[Message, ...]) -> int:
    return byte_length(as_text(part))


@given(CONVERSATIONS)
def test_what_fits_is_sent_as_it_is(messages: list[Message]) -> None:
    assert portions(messages, 1_000_000, 4) == [tuple(messages)]


@given(st.lists(st.one_of(LONG, HOSTILE), max_size=40), st.integers(1, 5))
def test_portions_are_few_and_none_is_much_larger_than_its_room(
    messages: list[Message], most: int
) -> None:
    room = 8_000

    parts = portions(messages, room, most)

    assert 1 <= len(parts) <= most
    assert all(_bytes(part) <= room + LEAST for part in parts)


def test_the_longest_texts_are_cut_first_and_short_ones_not_at_all() -> None:
    messages = [Message("user", "short"), Message("user", "L" * 50_000), Message("user", "end")]

    ((first, long, last),) = portions(messages, 8_000, 1)

    assert (first, last) == (messages[0], messages[2])
    assert long.content.startswith("L" * 500)
    assert long.content.endswith("L" * 500)
    assert "bytes left out …]" in long.content


def test_a_cut_falls_between_characters() -> None:
    ((message,),) = portions([Message("user", "表" * 40_000)], 8_000, 1)

    text = message.content.split("\n")
    assert set(text[0]) == set(text[-1]) == {"表"}


def test_more_messages_than_can_be_cut_leave_a_mark_where_they_were() -> None:
    messages = [Message("user", f"message {n} " + "x" * 300) for n in range(1_000)]

    parts = portions(messages, 8_000, 3)

    kept = [message for part in parts for message in part]
    assert kept[0] is messages[0]
    assert kept[-1] is messages[-1]
    (mark,) = [message for message in kept if "messages left out here" in message.content]
    assert mark.content == f"[… {1_000 - len(kept) + 1} messages left out here …]"
    assert parts[1][0] is mark


def test_with_one_portion_the_newest_messages_stay() -> None:
    messages = [Message("user", f"message {n} " + "x" * 300) for n in range(1_000)]

    (part,) = portions(messages, 8_000, 1)

    assert "messages left out here" in part[0].content
    assert part[-1] is messages[-1]
