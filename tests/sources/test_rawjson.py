"""Tool calls keep the exact text of their arguments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sources.rawjson import BadToolCalls, call_bytes, tool_calls
from compaction.messages import ToolCall

ARGUMENTS = [
    '{"b":1,"a":2,"a":3}',
    '{"cmd":"\\u003cb\\u003e \\" ] } , {"}',
    "1.50e+03",
    "123456789012345678901234567890",
    '"text"',
    "null",
    "[ 1 , 2 ]",
    '{"a":"\\ud800"}',
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_arguments_are_the_raw_slice(arguments: str) -> None:
    cell = f' [ {{"id":"c1", "name":"bash", "arguments":  {arguments} }} ] '

    assert tool_calls(cell) == (ToolCall("c1", "bash", arguments),)


def test_absent_arguments_are_empty_and_null_stays_null() -> None:
    cell = '[{"id":"a","name":"x"},{"id":"b","name":"y","arguments":null}]'

    assert [call.arguments for call in tool_calls(cell)] == ["", "null"]


@pytest.mark.parametrize("cell", ["", "  ", "null", "[]", "[ ]"])
def test_no_calls(cell: str) -> None:
    assert tool_calls(cell) == ()


@pytest.mark.parametrize("depth", [5_000, 200_000])
def test_deep_nesting_is_cut_out_whole(depth: int) -> None:
    deep = "[" * depth + '"]"' + "]" * depth

    calls = tool_calls(f'[{{"id":"a","name":"x","arguments":{deep}}},{{"id":"b","name":"y"}}]')

    assert calls == (ToolCall("a", "x", deep), ToolCall("b", "y"))


def test_a_number_too_long_for_python_is_text_like_any_other() -> None:
    long = "9" * 10_000

    assert tool_calls(f'[{{"id":"a","name":"x","arguments":{long}}}]')[0].arguments == long


MALFORMED = [
    "{}",
    "[",
    "[{]",
    "[{}",
    "[{},]",
    '[{"id":}]',
    '[{"id":1}]',
    '[{"id" "x"}]',
    '[{"id":"x",}]',
    '[{"arguments":NaN}]',
    "[1]",
    "[] x",
    "[nullx]",
    '[{"id":"x"}{"id":"y"}]',
    '[{"id":"a","arguments":' + "[" * 5_000,
]


@pytest.mark.parametrize("cell", MALFORMED)
def test_malformed_cells_are_refused(cell: str) -> None:
    with pytest.raises(BadToolCalls):
        tool_calls(cell)

    assert call_bytes(cell) == 0


def test_bytes_are_counted_not_characters() -> None:
    cell = '[{"id":"一","name":"é","arguments":{"k":"🦊"}}]'

    assert call_bytes(cell) == 3 + 2 + len('{"k":"🦊"}'.encode())


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.lists(st.tuples(st.text(), st.text(), json_values)), st.sampled_from([None, 1, "\t"]))
def test_any_written_list_is_read_back(
    calls: list[tuple[str, str, object]], indent: int | str | None
) -> None:
    shape = [{"arguments": a, "name": n, "id": i} for i, n, a in calls]

    found = tool_calls(json.dumps(shape, indent=indent))

    assert [(c.id, c.name) for c in found] == [(i, n) for i, n, _ in calls]
    assert [json.loads(c.arguments) for c in found] == [a for _, _, a in calls]


@given(st.text(alphabet='[]{}",:\\idnameargumts0 ', max_size=40))
def test_noise_is_read_or_refused_and_never_crashes(cell: str) -> None:
    try:
        tool_calls(cell)
    except BadToolCalls:
        return

    assert not cell.strip() or isinstance(json.loads(cell), list | type(None))
