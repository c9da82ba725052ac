"""Where a page belongs in the workbench, and what the shell around it shows for that."""

from __future__ import annotations

from dataclasses import dataclass
from gettext import gettext as _
from urllib.parse import unquote, urlsplit

from flask import current_app, request, url_for

from app.services import Services
from app.services.explorer import Overview, Problem, SessionRow
from app.services.vitals import Vitals, vitals_of
from app.text import count, plural
from app.web.appearance import THEMES, Theme, current_theme


@dataclass(frozen=True, slots=True)
class View:
    """One way to look at a session. It is offered once its endpoint exists."""

    key: str
    label: str
    icon: str
    endpoint: str
    """Takes a `session_id`."""
    activity: bool = False
    """Whether it has an icon of its own in the activity bar."""


VIEWS = (
    View("history", _("History"), "history", "history.page"),
    View("compactions", _("Compactions"), "fold", "compactions.index", activity=True),
    View("anchors", _("Anchors"), "pinned", "anchors.index"),
    View("offloads", _("Offloads"), "archive", "offloads.index", activity=True),
    View("plan", _("Plan"), "tasklist", "plan.page"),
    View("findings", _("Findings"), "issues", "problems.findings"),
    View("recompact", _("Re-compact"), "beaker", "recompact.form", activity=True),
)

TIMELINE = "timeline.panel"
"""The endpoint, with a `session_id`, of what the bottom panel loads, once it exists."""


@dataclass(frozen=True, slots=True)
class Crumb:
    """One step of the breadcrumbs; the last has no URL."""

    label: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page belongs."""

    title: str
    session_id: str = ""
    view: str = ""
    """The key of one of VIEWS; empty outside a session."""
    activity: str = ""
    """Which icon of the activity bar is lit, when it is not the view's own or the explorer."""
    tab: str = ""
    """What the current tab is called, when that is more than the view's name."""
    crumbs: tuple[Crumb, ...] = ()
    """What follows folder, session and view."""


@dataclass(frozen=True, slots=True)
class Link:
    """A tab, a tree row or an activity."""

    view: str
    label: str
    icon: str
    url: str
    note: str = ""
    is_current: bool = False
    badge: str = ""
    badge_says: str = ""


@dataclass(frozen=True, slots=True)
class Folder:
    name: str
    path: str
    empty_says: str


@dataclass(frozen=True, slots=True)
class TreeSession:
    """A session in the tree, with its views below it."""

    row: SessionRow
    children: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class TreeGroup:
    key: str
    label: str
    says: str
    is_open: bool
    sessions: tuple[TreeSession, ...]


@dataclass(frozen=True, slots=True)
class Shell:
    """Everything around the editor."""

    folder: Folder
    theme: Theme
    themes: tuple[Theme, ...]
    activities: tuple[Link, ...]
    groups: tuple[TreeGroup, ...]
    current: SessionRow | None
    vitals: Vitals | None
    tabs: tuple[Link, ...]
    crumbs: tuple[Crumb, ...]
    timeline_url: str
    problems: tuple[Problem, ...]
    problem_count: int
    session_changed: bool
    """Whether the page that was left showed another session."""


def shell_for(services: Services, place: Place) -> Shell:
    """The shell around the page at `place`."""
    seen = services.overview()
    current = seen.row(place.session_id) if place.session_id else None
    return Shell(
        folder=Folder(seen.name, seen.path, _empty(seen)),
        theme=current_theme(),
        themes=THEMES,
        activities=_activities(seen, place),
        groups=_groups(seen, place),
        current=current,
        vitals=vitals_of(services.session(current.id)) if current else None,
        tabs=_tabs(current, place),
        crumbs=_crumbs(seen, current, place),
        timeline_url=url_if(TIMELINE, session_id=current.id) if current else "",
        problems=seen.problems,
        problem_count=len(seen.problems),
        session_changed=_session_left() != place.session_id,
    )


def view_of(key: str) -> View:
    """The view of that key."""
    return next(view for view in VIEWS if view.key == key)


def _views() -> tuple[View, ...]:
    return tuple(view for view in VIEWS if view.endpoint in current_app.view_functions)


def url_if(endpoint: str, **values: str | int) -> str:
    """The address of `endpoint`, or empty while there is no such view."""
    return url_for(endpoint, **values) if endpoint in current_app.view_functions else ""  # type: ignore[arg-type]


def _activities(seen: Overview, place: Place) -> tuple[Link, ...]:
    lit = place.activity or next(
        (view.key for view in VIEWS if view.activity and view.key == place.view), "explorer"
    )
    explorer = Link(
        "explorer",
        _("Explorer"),
        "comment-discussion",
        url_for("explorer.home"),
        is_current=lit == "explorer",
    )
    problems = Link(
        "problems",
        _("Problems"),
        "warning",
        url_for("problems.page"),
        is_current=lit == "problems",
        badge=str(len(seen.problems)) if seen.problems else "",
        badge_says=plural(len(seen.problems), "problem in the data", "problems in the data"),
    )
    session_id = place.session_id or next(
        (row.id for group in seen.groups for row in group.sessions), ""
    )
    own = (
        Link(
            view.key,
            view.label,
            view.icon,
            url_if(view.endpoint, session_id=session_id),
            is_current=lit == view.key,
        )
        for view in _views()
        if view.activity and session_id
    )
    return (explorer, *own, problems)


def _groups(seen: Overview, place: Place) -> tuple[TreeGroup, ...]:
    return tuple(
        TreeGroup(
            group.key,
            group.label,
            group.says,
            group.is_open or any(row.id == place.session_id for row in group.sessions),
            tuple(TreeSession(row, _children(row, place)) for row in group.sessions),
        )
        for group in seen.groups
    )


def _children(row: SessionRow, place: Place) -> tuple[Link, ...]:
    notes = {
        "history": plural(row.messages, "message", "messages"),
        "compactions": count(row.compactions),
        "offloads": plural(row.offloads, "file", "files"),
    }
    here = row.id == place.session_id
    return tuple(
        Link(
            view.key,
            view.label,
            view.icon,
            url_if(view.endpoint, session_id=row.id),
            notes.get(view.key, ""),
            is_current=here and view.key == place.view,
        )
        for view in _views()
    )


def _tabs(current: SessionRow | None, place: Place) -> tuple[Link, ...]:
    if current is None:
        icon = "warning" if place.activity == "problems" else "list-unordered"
        return (Link("", place.title, icon, "", is_current=True),)
    return tuple(
        Link(
            view.key,
            place.tab if place.tab and view.key == place.view else view.label,
            view.icon,
            url_if(view.endpoint, session_id=current.id),
            is_current=view.key == place.view,
        )
        for view in _views()
    )


def _crumbs(seen: Overview, current: SessionRow | None, place: Place) -> tuple[Crumb, ...]:
    crumbs = [Crumb(seen.name, url_for("explorer.home"))]
    if current:
        view = view_of(place.view)
        crumbs.append(Crumb(current.title, url_for("history.page", session_id=current.id)))
        crumbs.append(Crumb(view.label, url_if(view.endpoint, session_id=current.id)))
        crumbs.extend(place.crumbs)
    else:
        crumbs.append(Crumb(place.title))
    return (*crumbs[:-1], Crumb(crumbs[-1].label))


def _session_left() -> str | None:
    """The session of the page that a link was followed from; None when that is unknown."""
    path = urlsplit(request.headers.get("HX-Current-URL", "")).path
    match path.split("/"):
        case ["", "sessions", session_id, *_rest]:
            return unquote(session_id)
        case ["", *_rest]:
            return ""
    return None


def _empty(seen: Overview) -> str:
    if seen.groups:
        return ""
    return _("No sessions yet.") if seen.has_store else _("No harness9 data here.")
