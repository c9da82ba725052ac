"""A session's task lists, as the plan file and the database have them."""

from __future__ import annotations

from dataclasses import dataclass

from app.sources.model import Plan, Session, TaskState
from app.text import first_line, moment, seconds_of, when

_SHOWN = 15_000
"""Characters of a plan file; more would be no plan."""


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

    @property
    def updated(self) -> str:
        """When, in words; empty when it does not say."""
        # The file has RFC 3339, the database Unix seconds.
        seconds = seconds_of(self.plan.updated)
        return when(self.plan.updated) if seconds is None else moment(seconds)

    @property
    def text(self) -> str:
        """The file as it is; empty for a list in the database."""
        return self.plan.text[:_SHOWN]

    @property
    def rest(self) -> int:
        """Characters of the file that are not shown."""
        return max(0, len(self.plan.text) - _SHOWN)


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
