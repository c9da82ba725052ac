"""The catalog's files: made, kept through a rebuild, and set aside where they cannot be used."""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from app.catalog import Catalog, Places, places_of
from tests.builders import SESSION, human, says
from tests.catalog.conftest import Watched

MESSAGES = (human("Hello."), says("Hi."))


def test_both_files_are_for_their_owner_alone(catalog: Catalog) -> None:
    for path in (catalog.places.index, catalog.places.witness):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_two_projects_of_one_name_have_two_catalogs(tmp_path: Path) -> None:
    one = places_of(tmp_path / "a" / "work", tmp_path)
    other = places_of(tmp_path / "b" / "work", tmp_path)

    assert one.index.parent.name.startswith("work-")
    assert {one.index, one.witness}.isdisjoint({other.index, other.witness})


def test_what_was_seen_survives_the_loss_of_the_index(watched: Watched) -> None:
    watched.agent.append(MESSAGES)
    watched.refresh()
    watched.agent.replace(MESSAGES[:1])
    watched.refresh()
    before = watched.states()
    watched.catalog.close()

    watched.catalog.places.index.unlink()
    with closing(Catalog.open(watched.catalog.places)) as catalog:
        watched.catalog = catalog
        watched.refresher = watched.new_refresher()

        assert watched.refresh().changes == []
        assert watched.states() == before
        assert catalog.coverage().is_whole


@pytest.mark.parametrize("which", ["index", "witness"])
def test_a_damaged_file_is_set_aside_with_a_sentence(places: Places, which: str) -> None:
    Catalog.open(places).close()
    path: Path = getattr(places, which)
    path.write_bytes(b"this is no database " * 500)

    with closing(Catalog.open(places, now=lambda: 0.0)) as catalog:
        (notice,) = catalog.notices

    assert notice.startswith(f"{path.name} is damaged")
    aside = path.with_name(f"{path.name}.damaged-19700101-000000")
    assert aside.name in notice
    assert aside.read_bytes().startswith(b"this is no database")


@pytest.mark.parametrize("which", ["index", "witness"])
def test_a_file_of_a_newer_version_is_set_aside_with_a_sentence(places: Places, which: str) -> None:
    Catalog.open(places).close()
    path: Path = getattr(places, which)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES (?, 'from_the_future', '')",
            (which,),
        )

    with closing(Catalog.open(places)) as catalog:
        (notice,) = catalog.notices
        assert catalog.states(SESSION) == ()

    assert "newer version" in notice
    assert len(list(path.parent.glob(path.name + ".newer-*"))) == 1


def test_an_index_beside_another_witness_is_made_anew(watched: Watched) -> None:
    watched.agent.append(MESSAGES)
    watched.refresh()
    watched.catalog.close()

    watched.catalog.places.witness.unlink()
    with closing(Catalog.open(watched.catalog.places)) as catalog:
        watched.catalog = catalog
        watched.refresher = watched.new_refresher()
        watched.refresh()

        assert watched.states() == [("first", MESSAGES)]


def test_threads_read_while_another_writes(watched: Watched) -> None:
    watched.agent.append(MESSAGES)
    watched.refresh()
    found: list[object] = []

    def read() -> None:
        for _ in range(50):
            found.append(watched.states()[0])

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(5):
        watched.agent.append((says(f"more {number}"),))
        watched.refresh()
    for thread in threads:
        thread.join()

    assert found == [("first", MESSAGES)] * 150
