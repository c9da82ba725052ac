from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.errors import NotFound
from app.services import build
from app.services.history import WHOLE, WINDOW, history_page, message_part, raw_json
from app.services.messages import CHUNK
from tests.builders import SessionData, call, human, result, says
from tests.services.conftest import Opened, Read

TALK = [human("one"), says("two")]
GONE = (
    "[offloaded: .harness9/tool_results/{id}/c1.txt | 2 行 / {size} bytes]\n"
    "预览（前 1 行）：\nfirst\n...（完整结果已保存至文件，可通过 read_file 检索）"
)


def test_a_short_session_is_shown_whole(read: Read) -> None:
    page = history_page(read(SessionData(runs=(TALK * (WHOLE // 2),))))

    assert (page.first, page.last, page.total) == (1, WHOLE, WHOLE)
    assert (page.earlier, page.later) == (0, 0)


def test_a_long_session_opens_at_its_newest_messages(read: Read) -> None:
    page = history_page(read(SessionData(runs=(TALK * 400,))))

    assert (page.first, page.last) == (800 - WINDOW + 1, 800)
    assert (page.earlier, page.later) == (800 - WINDOW, 0)


@pytest.mark.parametrize(
    ("at", "first"), [(1, 1), (21, 1), (22, 2), (400, 380), (800, 701), (-3, 1), (10**9, 701)]
)
def test_a_window_is_laid_around_the_message_that_is_asked_for(
    read: Read, at: int, first: int
) -> None:
    page = history_page(read(SessionData(runs=(TALK * 400,))), at)

    assert (page.first, page.last) == (first, first + WINDOW - 1)
    assert [entry.message.number for entry in page.entries if entry.is_target] == (
        [at] if 1 <= at <= 800 else []
    )


def test_following_earlier_and_later_misses_no_message(read: Read) -> None:
    session = read(SessionData(runs=(TALK * 400,)))
    page, seen = history_page(session, 1), set()
    while True:
        seen.update(entry.message.number for entry in page.entries)
        if not page.later:
            break
        page = history_page(session, page.later)

    assert seen == set(range(1, 801))


def test_tool_results_are_not_counted_as_the_human(read: Read) -> None:
    messages = [human("go"), says("", call("a")), result("a", "1"), says("done"), human("thanks")]
    page = history_page(read(SessionData(runs=(messages,))))

    assert (page.humans, page.assistants, page.results) == (2, 2, 1)
    assert [(turn.message, turn.title) for turn in page.turns] == [(1, "go"), (5, "thanks")]


def test_messages_saved_together_are_one_run(read: Read) -> None:
    page = history_page(read(SessionData(runs=(TALK, TALK * 2, [human("end")]))))

    batches = [entry.batch for entry in page.entries if entry.batch]
    assert [(one.number, one.messages) for one in batches] == [(1, 2), (2, 4), (3, 1)]
    assert page.runs == 3


def test_an_empty_session_is_an_empty_page(opened: Opened) -> None:
    services = opened(SessionData(files={"c1": "left behind"}))

    (info,) = services.workspace.sessions()
    page = history_page(services.session(info.id))

    assert (page.total, page.first, page.last, page.entries) == (0, 0, 0, ())


def test_compactions_stand_where_they_happened(corpus: Path) -> None:
    services = build(corpus / "coding-home/project", corpus / "coding-home/home")
    session = services.session("383b43d3-ec49-4793-89e5-c64337493ea3")

    page = history_page(session)
    placed = [(m.number, e.message.number) for e in page.entries for m in e.markers]

    assert page.unplaced == 0
    assert [number for number, _ in placed] == list(range(1, 49))
    records = session.records.records
    assert all(records[number - 1].msgs_before == before for number, before in placed)


def test_what_cannot_be_placed_is_counted_and_not_guessed(corpus: Path) -> None:
    lost = build(corpus / "lost-runs", corpus / "nobody")
    written_back = build(corpus / "writeback-home/project", corpus / "writeback-home/home")

    one = history_page(lost.session("b20de592-66dd-40df-a5c4-02fdf372b91a"))
    other = history_page(written_back.session("6884d300-8c41-4281-b38e-8c748623a9d5"))

    assert 0 < one.unplaced < one.compactions == 26
    assert other.unplaced == other.compactions == 27


def test_what_a_compaction_left_is_counted_beside_who_spoke(corpus: Path) -> None:
    services = build(corpus / "writeback-home/project", corpus / "writeback-home/home")

    page = history_page(services.session("e8dc148e-4878-49cd-aa5e-99bce40bff70"))

    assert page.total == page.humans + page.assistants + page.results + page.summaries
    assert page.summaries == 1
    assert page.title == "Session e8dc148e", "a session without a human line has a name still"


def test_a_long_text_comes_in_bounded_chunks(opened: Opened) -> None:
    services = opened(SessionData(runs=([human("x" * (2 * CHUNK + 5))],)))
    (info,) = services.workspace.sessions()
    session, find = services.session(info.id), services.workspace.original_of

    parts = [message_part(session, 1, "text", at, find).excerpt for at in (0, CHUNK, 2 * CHUNK)]

    assert [len(part.text) for part in parts] == [CHUNK, CHUNK, 5]
    assert [part.rest for part in parts] == [CHUNK + 5, 5, 0]


def test_a_placeholders_original_comes_back_with_what_was_checked(opened: Opened) -> None:
    data = SessionData(files={"c1": "first\nsecond"})
    text = GONE.format(id=data.id, size=12)
    services = opened(
        SessionData(data.id, ([says("", call("c1")), result("c1", text)],), files=data.files)
    )
    session, find = services.session(data.id), services.workspace.original_of

    part = message_part(session, 2, "original", 0, find)

    assert (part.excerpt.text, part.is_sound) == ("first\nsecond", True)
    assert "size and line count" in part.says


@pytest.mark.parametrize(
    ("files", "says_so"),
    [({"c1": "first\nother text"}, "12 bytes"), ({}, "not in this project")],
)
def test_an_original_that_does_not_fit_is_not_passed_off_as_it(
    opened: Opened, files: dict[str, str], says_so: str
) -> None:
    data = SessionData()
    text = GONE.format(id=data.id, size=12)
    services = opened(
        SessionData(data.id, ([says("", call("c1")), result("c1", text)],), files=files)
    )
    session, find = services.session(data.id), services.workspace.original_of

    part = message_part(session, 2, "original", 0, find)

    assert not part.is_sound
    assert says_so in part.says


@pytest.mark.parametrize(
    ("number", "what"), [(0, "text"), (9, "text"), (1, "original"), (1, "1"), (1, "nonsense")]
)
def test_a_part_that_is_none_is_not_found(opened: Opened, number: int, what: str) -> None:
    data = SessionData(runs=([human("hello"), says("", call("a"))],))
    services = opened(data)

    with pytest.raises(NotFound):
        message_part(services.session(data.id), number, what, 0, services.workspace.original_of)


def test_the_raw_form_is_json_with_the_arguments_as_stored() -> None:
    raw = raw_json(says("hi", call("a", "bash", '{"n":1.50e2}')))

    assert '"arguments": {"n":1.50e2}' in raw
    assert json.loads(raw) == {
        "role": "assistant",
        "content": "hi",
        "tool_calls": [{"id": "a", "name": "bash", "arguments": {"n": 150.0}}],
    }
