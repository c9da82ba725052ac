"""What was seen of a session stays readable, whatever its agent does to the rows."""

from __future__ import annotations

from app.catalog import How, SessionChange
from compaction.messages import Message
from tests.builders import SESSION, call, human, result, says, traces
from tests.catalog.conftest import Watched

FIRST_RUN = (
    human("Why is the build red?"),
    says("I will look.", call("c1", "bash", '{"command":"make <all>"}')),
    result("c1", "error: 失败\n" * 200),
    says("A header is missing."),
)
SECOND_RUN = (human("Add it."), says("Done."))
SUMMARY = (human("[Context Compaction]\n\nA header was missing."), *SECOND_RUN)


def test_a_session_seen_for_the_first_time_is_its_first_state(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)

    outcome = watched.refresh()

    assert outcome.changes == [SessionChange(SESSION, How.FIRST, 0, 4)]
    assert watched.states() == [("first", FIRST_RUN)]


def test_what_is_appended_is_a_further_state(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()

    watched.agent.append(SECOND_RUN)
    outcome = watched.refresh()

    assert outcome.changes == [SessionChange(SESSION, How.APPENDED, 4, 6)]
    assert watched.states()[1:] == [("appended", FIRST_RUN + SECOND_RUN)]


def test_nothing_changed_is_no_state(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()

    assert watched.refresh().changes == []
    watched.agent.checkpoint()
    assert watched.refresh().changes == []
    assert len(watched.states()) == 1


def test_a_write_back_leaves_what_was_there_before_readable(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN + SECOND_RUN)
    watched.refresh()

    watched.agent.replace(SUMMARY)
    outcome = watched.refresh()

    assert outcome.changes == [SessionChange(SESSION, How.REWRITTEN, 6, 3)]
    assert watched.states() == [("first", FIRST_RUN + SECOND_RUN), ("rewritten", SUMMARY)]


def test_a_manual_compact_of_many_rows_is_one_rewrite(watched: Watched) -> None:
    long = tuple(says(f"step {n}") for n in range(1_200))
    watched.agent.append(long)
    watched.refresh()

    watched.agent.replace((human("[Conversation Summary]\n\n…"), *long[-4:]))
    watched.agent.append(SECOND_RUN)
    watched.refresh()

    (_, before), (how, after) = watched.states()
    assert (before, how) == (long, "rewritten")
    assert after == (human("[Conversation Summary]\n\n…"), *long[-4:], *SECOND_RUN)


def test_rows_replaced_by_the_same_messages_are_no_new_state(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()

    watched.agent.replace(FIRST_RUN)

    assert watched.refresh().changes == []
    watched.agent.append(SECOND_RUN)
    assert watched.refresh().changes == [SessionChange(SESSION, How.APPENDED, 4, 6)]


def test_a_session_between_delete_and_insert_is_not_taken_for_empty(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()

    watched.agent.delete()
    watched.while_asleep = [lambda: watched.agent.append(SUMMARY)]
    outcome = watched.refresh()

    assert [change.how for change in outcome.changes] == [How.REWRITTEN]
    assert [how for how, _ in watched.states()] == ["first", "rewritten"]


def test_a_session_that_stays_empty_was_cleared(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()

    watched.agent.delete()
    outcome = watched.refresh()

    assert outcome.changes == [SessionChange(SESSION, How.CLEARED, 4, 0)]
    assert watched.states() == [("first", FIRST_RUN), ("cleared", ())]
    assert watched.refresh().changes == []


def test_a_clear_is_noticed_beside_sessions_that_grow(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN, "other")
    watched.agent.append(FIRST_RUN)
    watched.refresh()

    watched.agent.delete("other")
    watched.agent.append(SECOND_RUN)
    outcome = watched.refresh()

    assert {(one.session_id, one.how) for one in outcome.changes} == {
        ("other", How.CLEARED),
        (SESSION, How.APPENDED),
    }


def test_messages_taken_away_at_the_end_are_a_rewrite(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN + SECOND_RUN)
    watched.refresh()

    watched.agent.roll_back(keep=4)
    watched.refresh()
    watched.agent.append((human("Another way."),))
    watched.refresh()

    assert watched.states() == [
        ("first", FIRST_RUN + SECOND_RUN),
        ("rewritten", FIRST_RUN),
        ("appended", (*FIRST_RUN, human("Another way."))),
    ]


def test_taken_away_and_appended_between_two_looks_is_a_rewrite(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN + SECOND_RUN)
    watched.refresh()

    watched.agent.roll_back(keep=4)
    watched.agent.append(tuple(says(f"new {n}") for n in range(9)))
    watched.refresh()

    (how, after) = watched.states()[-1]
    assert (how, after[:4], len(after)) == ("rewritten", FIRST_RUN, 13)


def test_a_message_changed_where_it_stands_is_a_rewrite(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()

    watched.agent.edit("Why is the build green?")
    watched.refresh()

    assert watched.states()[-1] == (
        "rewritten",
        (human("Why is the build green?"), *FIRST_RUN[1:]),
    )


def test_a_deleted_session_leaves_the_index_and_stays_witnessed(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()

    watched.agent.drop()
    watched.refresh()

    db = watched.catalog.reader()
    assert db.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM messages").fetchone() == (0,)
    assert watched.states()[0] == ("first", FIRST_RUN)
    assert watched.refresh().changes == []


def test_a_database_that_is_gone_takes_its_sessions_out_of_the_index(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()
    watched.agent.stop()

    for path in watched.agent.database.parent.glob("sessions.db*"):
        path.unlink()
    watched.refresh()

    assert watched.catalog.reader().execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    assert watched.states() == [("first", FIRST_RUN)]


def test_each_content_is_kept_once(watched: Watched) -> None:
    same = says("I will look.")
    watched.agent.append((same, same), "one")
    watched.agent.append((same,), "two")

    watched.refresh()

    kept = watched.catalog.reader().execute("SELECT count(*) FROM witness.contents").fetchone()
    assert kept == (1,)


def test_every_append_is_a_state_that_reads_back_as_it_was(watched: Watched) -> None:
    said: list[Message] = []
    expected = []
    for number in range(120):
        new = says(f"step {number}")
        said.append(new)
        expected.append(tuple(said))
        watched.agent.append((new,))
        watched.refresh()

    assert [messages for _, messages in watched.states()] == expected


def test_only_new_rows_are_read_when_messages_are_appended(watched: Watched) -> None:
    watched.agent.append(tuple(says(f"step {n}") for n in range(3_000)))
    watched.refresh()
    reads: list[tuple[str, int]] = []

    watched.agent.append(SECOND_RUN)
    watched.refresher.refresh(lambda progress: reads.append((progress.stage, progress.total)))

    texts = watched.catalog.coverage()
    assert texts.is_whole
    assert texts.total == 3_002
    assert ("reading", 1) in reads


def test_nothing_of_the_folder_is_touched(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)
    watched.refresh()
    watched.agent.append(SECOND_RUN)
    before = traces(watched.folder)

    watched.refresh()

    assert traces(watched.folder) == before


def test_another_program_that_looks_at_the_folder_is_left_to_it(watched: Watched) -> None:
    watched.agent.append(FIRST_RUN)

    with watched.catalog.turn() as is_ours:
        assert is_ours
        outcome = watched.refresher.refresh()

    assert outcome.is_elsewhere
    assert watched.states() == []


def test_a_cancelled_refresh_keeps_what_it_has_and_goes_on_later(watched: Watched) -> None:
    for number in range(5):
        watched.agent.append(FIRST_RUN, f"session {number}")
    asked = iter([False] * 4)

    outcome = watched.refresher.refresh(is_cancelled=lambda: next(asked, True))

    assert not outcome.is_complete
    assert 0 < len(outcome.changes) < 5
    assert len(outcome.changes) + len(watched.refresh().changes) == 5
