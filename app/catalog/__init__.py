"""The catalog: an index of the inspected folder, and what only we saw of it.

It is two SQLite files per project. The index can be made again at any time; the witness cannot:
it keeps every state in which a session was seen, and so what a rewrite destroyed.

    catalog = Catalog.open(places_of(folder, home))
    outcome = Refresher(catalog, folder, home).refresh()
    for state in catalog.states(session_id):
        messages = tuple(catalog.messages(state))
"""

from app.catalog.catalog import Catalog, Coverage, Places, places_of
from app.catalog.changes import (
    Change,
    FileChange,
    Outcome,
    Progress,
    RecordsChange,
    SessionChange,
    Stage,
)
from app.catalog.refresh import Refresher
from app.catalog.snapshots import How, State

__all__ = [
    "Catalog",
    "Change",
    "Coverage",
    "FileChange",
    "How",
    "Outcome",
    "Places",
    "Progress",
    "RecordsChange",
    "Refresher",
    "SessionChange",
    "Stage",
    "State",
    "places_of",
]
