"""A session's task lists, as the plan file and the database have them."""

from __future__ import annotations

from dataclasses import dataclass

from app.sources.model import Plan, Session, TaskState
from app.text import first_line


@dataclass(frozen=True, slots=True)
class PlanView:
    """One task list and how far it has got."""

    plan: Plan
    done: int
    counted: int
    """Tasks that are to be done: cancelled ones are not."""

    @property
    def share(self) -> float:
        return self.done / self.counted if self.counted else 0.0


@dataclass(frozen=True, slots=True)
class Plans:
    id: str
    title: str
    plans: tuple[PlanView, ...]


def plans_of(session: Session) -> Plans:
    """All task lists of a session."""
    return Plans(session.info.id, first_line(session.info.title), tuple(map(_view, session.plans)))


def _view(plan: Plan) -> PlanView:
    states = [task.state for task in plan.tasks]
    counted = len(states) - states.count(TaskState.CANCELLED)
    return PlanView(plan, states.count(TaskState.COMPLETED), counted)
