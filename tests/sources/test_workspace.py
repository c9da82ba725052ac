"""A project and the home store are read as one, and no id leads anywhere."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import NotFound, UsageError
from app.sources import Workspace, open_folder
from app.sources.model import Task, TaskState
from compaction.messages import Message
from tests.builders import (
    SESSION,
    SessionData,
    call,
    human,
    make_store,
    record,
    result,
    says,
    traces,
    write_files,
    write_records,
)

TALK = (human("Mend it"), says("", call("c1")), result("c1", "ok"), says("Done"))
OTHER = "2c0ffee2-0000-4000-8000-000000000002"
HOSTILE = [
    "../../etc/passwd",
    "..%2f..%2fx",
    "/abs",
    "C:\\x",
    ".",
    "..",
    "",
    "a\0b",
    "x" * 400,
    "../evil",
    "\udc80",
    "*",
    "%",
]


def project_with(tmp_path: Path, *sessions: SessionData) -> Workspace:
    make_store(tmp_path / "project", sessions)
    return open_folder(tmp_path / "project", tmp_path / "home")


def home_with(tmp_path: Path, *sessions: SessionData) -> Workspace:
    (tmp_path / "project").mkdir(exist_ok=True)
    make_store(tmp_path / "home", sessions)
    return open_folder(tmp_path / "project", tmp_path / "home")


def test_everything_about_a_session_is_brought_together(tmp_path: Path) -> None:
    workspace = project_with(
        tmp_path, SessionData(runs=[TALK], records=[record()], files={"c1": "long"})
    )

    session = workspace.session(SESSION)

    assert session.messages == TALK
    assert session.records.records == (record(),)
    assert [file.tool_call_id for file in session.offloads] == ["c1"]
    assert session.offloads[0].relative == f".harness9/tool_results/{SESSION}/c1.txt"
    assert (session.info.title, session.info.offloads) == ("Mend it", 1)
    assert session.damage == ()


def test_a_session_in_the_projects_own_database_belongs(tmp_path: Path) -> None:
    (info,) = project_with(tmp_path, SessionData(runs=[TALK])).sessions()

    assert (info.belongs, info.tie) == (True, "its messages are stored in this folder")


def test_home_sessions_that_nothing_ties_are_listed_apart(tmp_path: Path) -> None:
    (info,) = home_with(tmp_path, SessionData(runs=[TALK])).sessions()

    assert not info.belongs
    assert info.tie.startswith("nothing")


def tie_by_offloads(project: Path) -> None:
    write_files(project / ".harness9", SessionData(files={"c1": "x"}))


def tie_by_records(project: Path) -> None:
    write_records(project / ".harness9", SessionData(records=[record()]))


def tie_by_plan(project: Path) -> None:
    plan = project / ".harness9" / "plans" / f"20260803-{SESSION[:8]}.md"
    plan.parent.mkdir(parents=True)
    plan.write_text("# plan\n")


@pytest.mark.parametrize("tie", [tie_by_offloads, tie_by_records, tie_by_plan])
def test_what_lies_in_the_project_ties_a_home_session(tmp_path: Path, tie) -> None:  # type: ignore[no-untyped-def]
    workspace = home_with(tmp_path, SessionData(runs=[TALK]), SessionData(OTHER, runs=[TALK]))
    tie(tmp_path / "project")

    found = open_folder(workspace.folder, workspace.home).sessions()

    assert [(info.id, info.belongs) for info in found] == [(SESSION, True), (OTHER, False)]


NAMING = [
    ("look at {}/main.py", True),
    ("cd {}", True),
    ("it is in {}.", True),
    ("cd {}2", False),
    ("cd {}-old", False),
    ("cd {}.bak", False),
    ("cd /mnt{}", False),
]


@pytest.mark.parametrize(("text", "belongs"), NAMING)
def test_messages_that_name_the_folder_tie_a_home_session(
    tmp_path: Path, text: str, belongs: bool
) -> None:
    run = (human(text.format(tmp_path / "project")),)

    (info,) = home_with(tmp_path, SessionData(runs=[run])).sessions()

    assert info.belongs == belongs


def test_a_path_in_tool_arguments_ties_too(tmp_path: Path) -> None:
    run = (human("go"), says("", call("c", "ls", f'{{"path":"{tmp_path / "project"}"}}')))

    (info,) = home_with(tmp_path, SessionData(runs=[run])).sessions()

    assert info.belongs


def test_a_database_that_is_project_and_home_is_listed_once(tmp_path: Path) -> None:
    make_store(tmp_path, [SessionData(runs=[TALK])])

    found = open_folder(tmp_path, tmp_path).listing()

    assert [info.id for info in found.sessions] == [SESSION]
    assert found.damage == ()


@pytest.mark.parametrize(
    "inside", [".harness9", ".harness9/tool_results", f".harness9/tool_results/{SESSION}"]
)
def test_the_store_itself_or_a_folder_in_it_may_be_opened(tmp_path: Path, inside: str) -> None:
    make_store(tmp_path, [SessionData(runs=[TALK], files={"c1": "x"})])

    workspace = open_folder(tmp_path / inside)

    assert workspace.folder == tmp_path
    assert [info.id for info in workspace.sessions()] == [SESSION]


def test_a_folder_without_any_data_is_empty(tmp_path: Path) -> None:
    assert open_folder(tmp_path, tmp_path / "home").listing().sessions == ()


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not a folder"):
        open_folder(tmp_path / "nowhere")


def test_the_environment_names_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_store(tmp_path / "elsewhere", [SessionData(runs=[TALK])])
    monkeypatch.setenv("ANCHORLINE_HOME", str(tmp_path / "elsewhere"))

    assert len(open_folder(tmp_path).sessions()) == 1


def test_sessions_of_which_only_records_or_offloads_are_left_are_listed(tmp_path: Path) -> None:
    workspace = project_with(
        tmp_path, SessionData(records=[record()]), SessionData(OTHER, files={"c1": "x"})
    )

    found = {info.id: info for info in workspace.sessions()}

    assert set(found) == {SESSION, OTHER}
    assert all(info.belongs and info.database is None for info in found.values())
    assert workspace.session(SESSION).records.records == (record(),)
    assert workspace.session(OTHER).offloads[0].size == 1


def test_the_same_session_in_both_databases_is_shown_once_and_said_so(tmp_path: Path) -> None:
    make_store(tmp_path / "home", [SessionData(runs=[TALK])])
    workspace = project_with(tmp_path, SessionData(runs=[TALK, TALK]))

    found = workspace.listing()

    assert [info.messages for info in found.sessions] == [8]
    assert "is also in" in found.damage[0].says


def test_an_unreadable_database_does_not_hide_the_other(tmp_path: Path) -> None:
    workspace = home_with(tmp_path, SessionData(runs=[TALK]))
    store = tmp_path / "project" / ".harness9"
    store.mkdir()
    (store / "sessions.db").write_bytes(b"junk" * 1000)

    found = open_folder(workspace.folder, workspace.home).listing()

    assert [info.id for info in found.sessions] == [SESSION]
    assert [one.path for one in found.damage] == [store / "sessions.db"]


def test_ids_may_be_shortened_while_they_are_unambiguous(tmp_path: Path) -> None:
    workspace = project_with(
        tmp_path, SessionData(runs=[TALK]), SessionData(SESSION[:-1] + "2"), SessionData(OTHER)
    )

    assert workspace.resolve("2c0") == OTHER
    assert workspace.resolve(SESSION) == SESSION
    with pytest.raises(UsageError, match=SESSION):
        workspace.resolve("1c0f")
    with pytest.raises(NotFound):
        workspace.resolve("3")


@pytest.mark.parametrize("session_id", HOSTILE)
def test_hostile_ids_are_not_found(tmp_path: Path, session_id: str) -> None:
    workspace = project_with(tmp_path, SessionData(runs=[TALK], records=[record()]))
    before = traces(tmp_path)

    for ask in (workspace.session, workspace.resolve):
        with pytest.raises(NotFound):
            ask(session_id)

    assert traces(tmp_path) == before


@pytest.mark.parametrize("session_id", ["../../secret", "a/b", "/abs", "."])
def test_a_stored_session_with_a_hostile_id_is_shown_without_following_it(
    tmp_path: Path, session_id: str
) -> None:
    workspace = project_with(tmp_path, SessionData(runs=[TALK]), SessionData(session_id))
    (tmp_path / "secret.jsonl").write_text("{}")

    session = workspace.session(session_id)

    assert (session.records.path, session.offloads) == (None, ())


def test_links_in_the_store_are_reported_and_not_followed(tmp_path: Path) -> None:
    workspace = project_with(tmp_path, SessionData(runs=[TALK], records=[record()]))
    store = tmp_path / "project" / ".harness9"
    shutil.move(store / "sessions.db", tmp_path / "outside.db")
    (store / "sessions.db").symlink_to(tmp_path / "outside.db")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / SESSION).mkdir()
    (tmp_path / "outside" / SESSION / "c1.txt").write_text("secret")
    (store / "tool_results").symlink_to(tmp_path / "outside")

    found = workspace.listing()

    assert [(info.messages, info.offloads) for info in found.sessions] == [(0, 0)]
    assert any("is a link" in one.says for one in found.damage)


def test_a_placeholder_is_resolved_through_the_workspace(tmp_path: Path) -> None:
    text = "long " * 2000
    stored = Message(
        "user",
        f"[offloaded: .harness9/tool_results/{SESSION}/c1.txt | 1 行 / {len(text)} bytes]\n"
        f"预览（前 1 行）：\n{text}\n...（完整结果已保存至文件，可通过 read_file 检索）",
        (),
        "c1",
    )
    workspace = project_with(
        tmp_path, SessionData(runs=[(human("go"), stored)], files={"c1": text})
    )

    found = workspace.original_of(workspace.session(SESSION).messages[1])

    assert found is not None
    assert found.text == text


def test_plan_files_are_read(tmp_path: Path) -> None:
    workspace = project_with(tmp_path, SessionData(runs=[TALK]))
    plan = tmp_path / "project" / ".harness9" / "plans" / "1754000000-ffffffff.md"
    plan.parent.mkdir()
    plan.write_text(
        f"# 执行计划\n\nsession: {SESSION}\nupdated: 2026-08-03T00:10:07Z\n\n"
        "- [x] one\n- [>] two\n- [ ] three\n- [-] four\n- [?] five\n"
    )

    (found,) = workspace.session(SESSION).plans

    assert found.origin == "plans/1754000000-ffffffff.md"
    assert found.updated == "2026-08-03T00:10:07Z"
    assert found.tasks == (
        Task("one", TaskState.COMPLETED),
        Task("two", TaskState.IN_PROGRESS),
        Task("three", TaskState.PENDING),
        Task("four", TaskState.CANCELLED),
        Task("five", TaskState.UNKNOWN),
    )


def test_an_empty_session_is_listed(tmp_path: Path) -> None:
    workspace = project_with(tmp_path, SessionData(runs=[TALK]), SessionData(OTHER))

    found = {info.id: info.messages for info in workspace.sessions()}

    assert found == {SESSION: 4, OTHER: 0}
    assert workspace.session(OTHER).rows == ()


def test_a_session_is_read_while_it_is_half_rewritten(tmp_path: Path) -> None:
    workspace = project_with(tmp_path, SessionData(runs=[TALK]))
    with closing(sqlite3.connect(tmp_path / "project" / ".harness9" / "sessions.db")) as db:
        db.execute("DELETE FROM messages")
        db.commit()

    assert workspace.session(SESSION).rows == ()


@pytest.mark.parametrize("name", ["sessions.db", f"compaction_records/{SESSION}.jsonl"])
def test_a_pipe_in_place_of_a_file_is_reported_and_not_waited_for(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / ".harness9" / name
    path.parent.mkdir(parents=True)
    os.mkfifo(path)

    listing = open_folder(tmp_path, tmp_path / "nobody").listing()

    assert [damage.path for damage in listing.damage] == [path]
