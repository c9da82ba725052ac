"""JSON in Go's spelling: the forms that the originals' files and counts are made of."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.gojson import go_float, go_json, go_string

FLOATS = {
    0.0: "0",
    1.0: "1",
    -2.5: "-2.5",
    100.0: "100",
    0.5333333333333333: "0.5333333333333333",
    0.1: "0.1",
    0.000001: "0.000001",
    0.00000123: "0.00000123",
    1e-7: "1e-7",
    9.5e-7: "9.5e-7",
    1.5e-10: "1.5e-10",
    123456789012345680.0: "123456789012345680",
    1e20: "100000000000000000000",
    123456789012345680000.0: "123456789012345680000",
    1e21: "1e+21",
    1.25e22: "1.25e+22",
    1.7976931348623157e308: "1.7976931348623157e+308",
    5e-324: "5e-324",
    1234.5678: "1234.5678",
}


@pytest.mark.parametrize(("value", "text"), FLOATS.items())
def test_floats_are_written_as_go_writes_them(value: float, text: str) -> None:
    assert go_float(value) == text


def test_negative_zero_keeps_its_sign() -> None:
    assert go_float(-0.0) == "-0"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_reads_back_as_itself(value: float) -> None:
    text = go_float(value)

    assert float(text) == value
    assert ("e" in text) == (value != 0 and not 1e-6 <= abs(value) < 1e21)
    assert "e-0" not in text
    assert not text.endswith(".0")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_hold_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        go_float(value)


STRINGS = [
    ("", '""'),
    ('a"b\\', '"a\\"b\\\\"'),
    ("<&>", '"\\u003c\\u0026\\u003e"'),
    ("\u2028\u2029", '"\\u2028\\u2029"'),
    ("\b\f\n\r\t\x00\x1f", '"\\b\\f\\n\\r\\t\\u0000\\u001f"'),
    ("\x7f漢🦊\u0085", '"\x7f漢🦊\u0085"'),
    ("\udcff", '"\\ufffd"'),
    ("漢\udcff<", '"漢\\ufffd\\u003c"'),
    ("\ud83d", '"\ufffd"'),
]


@pytest.mark.parametrize(("text", "literal"), STRINGS)
def test_strings_are_escaped_as_go_escapes_them(text: str, literal: str) -> None:
    assert go_string(text) == literal


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(VALUES)
def test_a_value_reads_back_as_itself(value: object) -> None:
    text = go_json(value)

    assert json.loads(text, parse_int=float, object_pairs_hook=_in_order) == value


def _in_order(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    assert keys == sorted(keys)
    return dict(pairs)


def test_integers_pass_through_a_float64_as_in_go() -> None:
    assert go_json({"n": 2**53 + 1, "list": (1, 2.0, True, None)}) == (
        '{"list":[1,2,true,null],"n":9007199254740992}'
    )


def test_keys_that_spell_the_same_do_not_need_comparable_values() -> None:
    assert go_json({1: {}, "1": []}) == '{"1":{},"1":[]}'


def test_a_number_beyond_float64_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="too large"):
        go_json([10**400])


@pytest.mark.parametrize("value", [b"bytes", object(), {1, 2}])
def test_what_json_has_no_form_for_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="no JSON form"):
        go_json(value)
