from __future__ import annotations

import pytest

from app.services.plan import PlanView, plans_of
from app.sources.model import Plan, Task, TaskState
from app.text import moment, when
from tests.builders import SessionData, human
from tests.services.conftest import Opened


def test_cancelled_tasks_are_not_counted(opened: Opened) -> None:
    data = SessionData(runs=([human("go")],))
    services = opened(data)
    plans = services.workspace.folder / ".harness9" / "plans"
    plans.mkdir()
    (plans / f"20260101-{data.id[:8]}.md").write_text(
        f"# Plan\nsession: {data.id}\n\n- [x] read\n- [>] write\n- [-] drop\n- [ ] test\n", "utf-8"
    )

    (one,) = plans_of(services.session(data.id)).plans

    assert (one.done, one.counted) == (1, 3)
    assert [task.state for task in one.plan.tasks][2] is TaskState.CANCELLED


def test_a_plan_of_nothing_has_no_share() -> None:
    plan = Plan("x", (Task("drop", TaskState.CANCELLED),))

    assert PlanView(plan, 0, 0).share == 0.0


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("1791167623", moment(1791167623)),
        ("2026-10-05T02:13:43Z", when("2026-10-05T02:13:43Z")),
        ("yesterday", "yesterday"),
        ("", ""),
    ],
)
def test_the_time_of_a_plan_is_told_in_one_way_wherever_it_comes_from(
    written: str, says: str
) -> None:
    assert PlanView(Plan("x", (), written), 0, 0).updated == says


def test_what_is_not_shown_of_a_plan_file_is_counted() -> None:
    view = PlanView(Plan("x", (), text="-" * 15_020), 0, 0)

    assert (len(view.text), view.rest) == (15_000, 20)
