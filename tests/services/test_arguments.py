from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.services.arguments import LONGEST, Argument, arguments, indented

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def test_members_come_in_their_order_with_strings_as_text() -> None:
    found = arguments('{"path":"a\\nb","limit":1e3,"deep":{"x":[1,2]},"path":null}')

    assert found == (
        Argument("path", "a\nb"),
        Argument("limit", "1e3"),
        Argument("deep", '{\n  "x": [\n    1,\n    2\n  ]\n}'),
        Argument("path", "null"),
    )


@pytest.mark.parametrize("raw", ["{}", " { } ", "\n{\t}"])
def test_an_empty_object_has_no_members(raw: str) -> None:
    assert arguments(raw) == ()


@pytest.mark.parametrize(
    "raw",
    ["", "[]", "null", '"x"', "{", '{"a"}', '{"a":}', '{"a":1,}', '{"a":1}x', "{1:2}", "[" * 9999],
)
def test_what_is_no_object_is_not_taken_apart(raw: str) -> None:
    assert arguments(raw) is None


def test_deep_nesting_does_not_break_the_reader() -> None:
    raw = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"

    assert arguments(raw) is None


def test_very_long_arguments_are_left_alone() -> None:
    raw = '{"a":"' + "x" * LONGEST + '"}'

    assert arguments(raw) is None
    assert indented(raw) == raw


def test_numbers_and_escapes_stay_as_written() -> None:
    assert indented('{"n":1.50e+02,"s":"\\u4f60","e":[]}') == (
        '{\n  "n": 1.50e+02,\n  "s": "\\u4f60",\n  "e": []\n}'
    )


@given(ANY_JSON)
def test_laying_out_changes_white_space_only(value: object) -> None:
    raw = json.dumps(value)

    assert json.loads(indented(raw)) == value


@given(st.text(alphabet='{}[]:,"\\ a1\n', max_size=60))
def test_text_that_is_no_json_is_left_alone(raw: str) -> None:
    try:
        json.loads(raw)
    except ValueError:
        assert indented(raw) == raw
