"""The record's line: written as Go writes it, read as Go reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import BadRecord, CompactionRecord, OffloadEntry, parse_record, record_line
from compaction.anchors import Anchor

TEXT = st.text(max_size=30)
INT64 = st.integers(-(2**63), 2**63 - 1)
STAMPS = st.builds(
    "2026-{:02}-{:02}T{:02}:{:02}:{:02}{}{}".format,
    st.integers(1, 12),
    st.integers(1, 28),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 59),
    st.sampled_from(["", ".5", ".000000001", ".123456789"]),
    st.sampled_from(["Z", "+08:00", "-03:30"]),
)

RECORDS = st.builds(
    CompactionRecord,
    id=TEXT,
    session_id=TEXT,
    timestamp=STAMPS,
    tier=INT64,
    tokens_before=INT64,
    tokens_after=INT64,
    msgs_before=INT64,
    msgs_after=INT64,
    anchors=st.none() | st.lists(st.builds(Anchor, TEXT, TEXT), max_size=5).map(tuple),
    offloaded=st.none()
    | st.lists(st.builds(OffloadEntry, TEXT, TEXT, TEXT, INT64, INT64), max_size=3).map(tuple),
    summarized=INT64,
    preserved_tail=INT64,
    summary_text=TEXT,
    compression_ratio=st.floats(0, 1e300),
    duration=INT64,
    error=TEXT,
)


@given(RECORDS)
def test_a_record_reads_back_as_itself(record: CompactionRecord) -> None:
    line = record_line(record)

    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert parse_record(line.encode()) == record
    assert record_line(parse_record(line.encode())) == line


@given(st.binary(max_size=200))
def test_any_bytes_give_a_record_or_say_what_is_wrong(line: bytes) -> None:
    try:
        record = parse_record(line)
    except BadRecord:
        return

    assert parse_record(record_line(record).encode()) == record


JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = st.sampled_from(list(CompactionRecord.__dataclass_fields__))


@given(st.dictionaries(FIELDS, JUNK))
def test_any_values_give_a_record_that_can_be_written_or_are_refused(value: Any) -> None:
    try:
        record = parse_record(json.dumps(value).encode())
    except BadRecord:
        return

    assert parse_record(record_line(record).encode()) == record


REFUSED = {
    b'{"tier":2.0}': "tier: expected a whole number, found a number",
    b'{"tier":true}': "tier: expected a whole number, found true or false",
    b'{"tier":9223372036854775808}': "does not fit 64 bits",
    b'{"id":7}': "id: expected text, found a number",
    b'{"anchors":{}}': "anchors: expected a list, found an object",
    b'{"anchors":[0]}': "anchors[0]: expected an object, found a number",
    b'{"anchors":[""]}': "anchors[0]: expected an object, found text",
    b'{"offloaded":[null,false]}': "offloaded[1]: expected an object, found true or false",
    b'{"offloaded":[[]]}': "offloaded[0]: expected an object, found a list",
    b'{"timestamp":"2026-02-30T00:00:00Z"}': "day is out of range",
    b'{"timestamp":"2026-02-03"}': "is not an RFC 3339 time",
    b'{"timestamp":"2026-02-03T24:00:00Z"}': "has no such time",
    b'{"compression_ratio":1e999}': "the number is too large",
    b'{"compression_ratio":NaN}': "NaN is not JSON",
    b'{"tier":1} {}': "not JSON",
    b'\xef\xbb\xbf{"tier":1}': "not JSON",
    b"[]": "record: expected an object, found a list",
    b'{"tier":"1","tier":1}': "tier: expected a whole number, found text",
    b"[" * 100_000: "not JSON",
}


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: line[:40].decode("utf-8", "replace"))
def test_a_bad_line_names_the_field_and_the_fault(line: bytes) -> None:
    with pytest.raises(BadRecord) as caught:
        parse_record(line)

    assert REFUSED[line] in str(caught.value)


@pytest.mark.parametrize("line", [b"null", b"{}", b' { "unknown" : [1, {"a": 1e999}] } '])
def test_null_and_unknown_keys_leave_an_empty_record(line: bytes) -> None:
    assert parse_record(line) == CompactionRecord()


def test_keys_match_in_any_case_and_the_last_one_wins() -> None:
    record = parse_record(b'{"tier":1,"TIER":2,"tier":3,"\\u017fummary_text":"s"}')

    assert (record.tier, record.summary_text) == (3, "s")


def test_null_leaves_a_value_as_it_was() -> None:
    assert parse_record(b'{"tier":3,"tier":null}').tier == 3


def test_every_byte_that_is_not_utf8_becomes_one_replacement_character() -> None:
    # A cut-off three-byte character is two replacements in Go; Python's own decoder makes it one.
    record = parse_record(b'{"id":"\xe4\xb8","summary_text":"\\ud83d!"}')

    assert (record.id, record.summary_text) == ("\ufffd\ufffd", "\ufffd!")


@pytest.mark.parametrize(
    ("given_stamp", "written"),
    [
        ("2026-03-01T10:00:00.120000000Z", "2026-03-01T10:00:00.12Z"),
        ("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:00Z"),
        ("2026-03-01T10:00:00.1234567899Z", "2026-03-01T10:00:00.123456789Z"),
        ("2026-03-01T10:00:00+00:00", "2026-03-01T10:00:00Z"),
        ("2026-03-01T10:00:00-03:30", "2026-03-01T10:00:00-03:30"),
    ],
)
def test_a_stamp_is_written_without_idle_zeros(given_stamp: str, written: str) -> None:
    assert json.loads(record_line(CompactionRecord(timestamp=given_stamp)))["timestamp"] == written


def test_a_ratio_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        record_line(CompactionRecord(compression_ratio=float("inf")))
