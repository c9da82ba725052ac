from __future__ import annotations

import pytest

from app.errors import NotFound
from app.services.offloads import PAGE_BYTES, PAGE_LINES, OffloadRow, offload_list, offload_page
from app.sources.model import Session
from compaction.placeholder import Gate
from compaction.records import OffloadEntry
from tests.builders import SESSION, SessionData, call, human, record, result, says
from tests.services.conftest import Read

HOOK = (
    "[输出已保存至 .harness9/tool_results/{id}/c1.txt，共 1 行 / {size} 字节。\n"
    "可通过 read_file 工具配合 offset/limit 参数分页读取。\n\n"
    "预览（前 1 行）：\nfirst\n...（已截断）]"
)


def entry(call_id: str, size: int) -> OffloadEntry:
    return OffloadEntry(call_id, "", f".harness9/tool_results/{SESSION}/{call_id}.txt", size, 1)


def row(session: Session, call_id: str) -> OffloadRow:
    return next(one for one in offload_list(session).rows if one.call_id == call_id)


def test_a_file_knows_its_tool_its_gate_and_who_speaks_of_it(read: Read) -> None:
    session = read(
        SessionData(
            runs=([human("go"), says("", call("c1", "bash")), result("c1", "x" * 5000)],),
            records=(
                record(offloaded=(entry("c1", 5000),)),
                record(),
                record(offloaded=(entry("c1", 5000),)),
            ),
            files={"c1": "x" * 5000},
        )
    )

    found = row(session, "c1")

    assert (found.tool, found.gates, found.size, found.lines) == (
        "bash",
        (Gate.COMPACTION,),
        5000,
        1,
    )
    assert (found.records, found.result, found.messages) == ((1, 3), 3, ())
    assert (found.differs, found.is_orphan) == ("", False)


def test_a_hook_placeholder_proves_the_hook(read: Read) -> None:
    text = HOOK.format(id=SESSION, size=12_000)
    session = read(
        SessionData(
            runs=([says("", call("c1", "bash")), result("c1", text)],), files={"c1": "x" * 12_000}
        )
    )

    found = row(session, "c1")

    assert (found.gates, found.messages, found.differs) == ((Gate.HOOK,), (2,), "")


def test_which_gate_wrote_a_file_is_not_guessed(read: Read) -> None:
    session = read(SessionData(runs=([human("go")],), files={"c1": "x" * 20_000}))

    found = row(session, "c1")

    assert (found.gates, found.tool, found.is_orphan) == ((), "", True)


def test_a_file_that_is_gone_is_missing(read: Read) -> None:
    session = read(
        SessionData(runs=([human("go")],), records=(record(offloaded=(entry("c9", 4100),)),))
    )

    view = offload_list(session)

    assert (view.missing, view.on_disk, view.bytes) == (1, 0, 0)
    assert view.rows[0].size is None
    assert "4,100 bytes" in view.rows[0].differs


def test_a_file_that_differs_from_its_record_says_how(read: Read) -> None:
    session = read(
        SessionData(
            runs=([human("go")],),
            records=(record(offloaded=(entry("c1", 5000),)),),
            files={"c1": "x" * 4999},
        )
    )

    view = offload_list(session)

    assert view.differing == 1
    assert view.rows[0].differs == "On disk 4,999 bytes, claimed 5,000."


def test_the_largest_comes_first(read: Read) -> None:
    session = read(
        SessionData(runs=([human("go")],), files={"a": "x" * 10, "b": "x" * 30, "c": "x" * 20})
    )

    assert [one.call_id for one in offload_list(session).rows] == ["b", "c", "a"]


@pytest.mark.parametrize(
    "text",
    [
        "line\n" * 2000,
        "x" * 50_000,
        "界🦊" * 9000 + "\nlast",
        "\n" * 3000,
        "short",
        "",
        "no end\n" + "y" * (PAGE_BYTES - 7),
    ],
)
def test_paging_through_a_file_shows_every_line_under_its_number(read: Read, text: str) -> None:
    session = read(SessionData(runs=([human("go")],), files={"c1": text}))
    shown: dict[int, str] = {}
    offset: int | None = 0
    while offset is not None:
        page = offload_page(session, "c1", offset)
        assert len(page.lines) <= PAGE_LINES + 1
        assert page.end - page.start <= PAGE_BYTES
        for line in page.lines:
            shown[line.number] = shown.get(line.number, "") + line.text
        offset = page.next

    assert "\n".join(shown[number] for number in sorted(shown)) == text
    assert sorted(shown) == list(range(1, text.count("\n") + 2))


def test_a_file_that_holds_a_placeholder_is_told_apart(read: Read) -> None:
    text = HOOK.format(id=SESSION, size=12_000)
    session = read(SessionData(runs=([human("go")],), files={"c1": text}))

    assert offload_page(session, "c1", 0).is_placeholder


@pytest.mark.parametrize("call_id", ["c2", "", "../c1", "c1.txt"])
def test_a_file_that_is_not_listed_is_not_found(read: Read, call_id: str) -> None:
    session = read(SessionData(runs=([human("go")],), files={"c1": "x"}))

    with pytest.raises(NotFound):
        offload_page(session, call_id, 0)
