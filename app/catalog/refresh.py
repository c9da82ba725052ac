"""The catalog brought up to date with the inspected folder; work follows what changed there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from app.catalog import index
from app.catalog.beside import Beside
from app.catalog.catalog import Catalog, Coverage
from app.catalog.changes import Cancelled, Outcome, Progress, Report, Stage
from app.catalog.feed import feed
from app.catalog.rows import Follower
from app.errors import SourceBusy, SourceError
from app.sources.model import Damage
from app.sources.stores import Store, stores_of


def _silent(_progress: Progress) -> None:
    pass


def _never() -> bool:
    return False


class Refresher:
    """Looks at one folder and its home for one catalog. Not for two threads at once."""

    def __init__(
        self,
        catalog: Catalog,
        folder: Path,
        home: Path,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._catalog = catalog
        self._folder = folder
        self._home = home
        self._clock = clock
        self._sleep = sleep

    def refresh(
        self, report: Report = _silent, is_cancelled: Callable[[], bool] = _never
    ) -> Outcome:
        """Take in what changed since the last time, and make it searchable.

        What cannot be read is in the outcome's damage; nothing is raised for what is on disk.
        """
        outcome = Outcome()
        with self._catalog.turn() as is_ours:
            if not is_ours:
                outcome.is_elsewhere = True
                return outcome
            try:
                self._refresh(outcome, report, is_cancelled)
            except Cancelled:
                outcome.is_complete = False
        return outcome

    def _refresh(self, outcome: Outcome, report: Report, is_cancelled: Callable[[], bool]) -> None:
        # Looked up anew each time: a .harness9 may have come since.
        stores = stores_of(self._folder, self._home)

        def step(done: int, total: int) -> None:
            report(Progress(Stage.READING, done, total))

        follower = Follower(self._catalog, self._clock, self._sleep, step, is_cancelled, outcome)
        self._databases(stores, follower)
        beside = Beside(self._catalog, is_cancelled, outcome)
        beside.records(stores)
        beside.files(stores)

        def fed(coverage: Coverage) -> None:
            report(Progress(Stage.INDEXING, coverage.indexed, coverage.total))

        feed(self._catalog, fed, is_cancelled)

    def _databases(self, stores: tuple[Store, ...], follower: Follower) -> None:
        outcome = follower.outcome
        found = [store.databases() for store in stores]
        outcome.damage.extend(damage for one in found for damage in one.damage)
        paths = [path for one in found for path in one.paths.values()]
        for gone in index.databases(self._catalog.reader()) - {str(path) for path in paths}:
            with self._catalog.writing_index() as db:
                index.forget_database(db, gone)
        for path in paths:
            try:
                follower.follow(path)
            except SourceBusy as error:
                outcome.is_complete = False
                outcome.damage.append(Damage(path, str(error)))
            except SourceError as error:
                outcome.damage.append(Damage(path, str(error)))
