from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text import (
    age,
    count,
    first_line,
    moment,
    percent,
    plural,
    printable,
    seconds_of,
    short_age,
    short_id,
    shortened,
    size,
    span,
    stamp,
    when,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("漢字 déjà vu ⚙ 😀", "漢字 déjà vu ⚙ 😀"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a␍b"),
        ("\x00\x1b[31mred\x7f", "␀␛[31mred␡"),
        ("\udcff\udc80", "⟨xFF⟩⟨x80⟩"),
        ("tail \ud83d", "tail ⟨U+D83D⟩"),
        ("abc\u202egpj.exe", "abc⟨U+202E⟩gpj.exe"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("\x85\u2028", "⟨U+0085⟩⟨U+2028⟩"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(alphabet=st.characters(codec=None)))
def test_printable_text_can_always_be_sent_and_is_stable(text: str) -> None:
    shown = printable(text)

    shown.encode("utf-8")
    assert printable(shown) == shown


def test_the_first_line_that_says_something_is_taken() -> None:
    assert first_line("\n  \n  Port   the\treport \nmore") == "Port the report"
    assert first_line(" \n\n") == ""


def test_a_shortened_text_is_as_long_as_was_asked() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"
    assert len(first_line("x" * 5000, 120)) == 120


def test_ids_are_shortened_as_people_say_them() -> None:
    assert short_id("206aaf97-7700-4557-8a76-e3dc11b2d0b0") == "206aaf97"
    assert short_id("-odd") == "-odd"
    assert len(short_id("x" * 400)) == 16


@pytest.mark.parametrize(
    ("number", "phrase"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (6563, "6.6 kB"),
        (9940, "9.9 kB"),
        (9960, "10 kB"),
        (141_000, "141 kB"),
        (999_940, "1,000 kB"),
        (999_960, "1.0 MB"),
        (2_300_000, "2.3 MB"),
        (64 * 10**9, "64 GB"),
    ],
)
def test_sizes_read_as_people_say_them(number: int, phrase: str) -> None:
    assert size(number) == phrase


def test_counts_and_their_nouns() -> None:
    assert count(31657) == "31,657"
    assert plural(1, "message", "messages") == "1 message"
    assert plural(1204, "message", "messages") == "1,204 messages"


def test_ranges_and_shares_are_written_in_one_way() -> None:
    assert span(39355, 39375) == "39,355–39,375"
    assert span(97, 97) == "97"
    assert percent(0.747) == "75 %"
    assert percent(1.652, 1) == "165.2 %"


@pytest.mark.parametrize(
    ("written", "seconds"), [("1791167623", 1791167623), ("", None), ("-1", None), ("٣", None)]
)
def test_only_a_plain_number_is_taken_for_seconds(written: str, seconds: int | None) -> None:
    assert seconds_of(written) == seconds


def test_a_moment_is_shown_in_the_viewers_zone() -> None:
    utc_evening = 1_782_945_000  # 2026-07-01T22:30:00Z
    east = timezone(timedelta(hours=3))

    assert moment(utc_evening, east) == "2 Jul 2026, 01:30"
    assert stamp(utc_evening, east) == "2026-07-02T01:30:00+03:00"


@pytest.mark.parametrize("seconds", [None, 10**18, -(10**18)])
def test_a_time_that_is_none_is_called_unknown(seconds: int | None) -> None:
    assert (moment(seconds), stamp(seconds)) == ("unknown", "")


@pytest.mark.parametrize(
    ("passed", "long", "short"),
    [
        (0, "just now", "now"),
        (59, "just now", "now"),
        (60, "1 minute ago", "1 min"),
        (7200, "2 hours ago", "2 h"),
        (86_400 * 6, "6 days ago", "6 d"),
        (86_400 * 7, "1 week ago", "1 w"),
        (86_400 * 100, "3 months ago", "3 mo"),
        (86_400 * 800, "2 years ago", "2 y"),
        (-500, "just now", "now"),
    ],
)
def test_ages_are_told_in_the_largest_unit_that_fits(passed: int, long: str, short: str) -> None:
    now = 1_790_000_000

    assert (age(now - passed, now), short_age(now - passed, now)) == (long, short)


HELSINKI = ZoneInfo("Europe/Helsinki")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2026-07-01T22:30:00Z", "2 Jul 2026, 01:30:00"),
        ("2026-07-01T22:30:00.123456789Z", "2 Jul 2026, 01:30:00"),
        ("2026-07-01T18:30:00-04:00", "2 Jul 2026, 01:30:00"),
        # The clocks go forward at 01:00 UTC on 29 March, and back on 25 October.
        ("2026-03-28T21:59:59Z", "28 Mar 2026, 23:59:59"),
        ("2026-03-29T00:59:59Z", "29 Mar 2026, 02:59:59"),
        ("2026-03-29T01:00:00Z", "29 Mar 2026, 04:00:00"),
        ("2026-03-29T21:00:00Z", "30 Mar 2026, 00:00:00"),
        ("2026-10-25T00:30:00Z", "25 Oct 2026, 03:30:00"),
        ("2026-10-25T01:30:00Z", "25 Oct 2026, 03:30:00"),
        ("2026-10-25T22:00:00Z", "26 Oct 2026, 00:00:00"),
    ],
)
def test_a_record_is_filed_under_the_day_it_was_here(written: str, shown: str) -> None:
    assert when(written, HELSINKI) == shown


def test_stored_seconds_and_record_stamps_fall_on_the_same_day() -> None:
    seconds = int(datetime.fromisoformat("2026-07-01T22:30:00+00:00").timestamp())

    assert moment(seconds, HELSINKI) == "2 Jul 2026, 01:30"


@pytest.mark.parametrize("written", ["", "yesterday", "2026-13-01T00:00:00Z", "<b>\x00"])
def test_what_is_no_time_is_shown_as_it_is_written(written: str) -> None:
    assert when(written, HELSINKI) == printable(written)
