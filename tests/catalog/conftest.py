"""A project with an agent at work in it, and the catalog that follows it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.catalog import Catalog, Outcome, Places, Refresher
from compaction.messages import Message
from tests.builders import SESSION, make_database, tool_calls_cell

PROGRAM = Path(__file__).with_name("writer.py")
_INSERT = (
    "INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, created_at) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
Statement = tuple[str, Sequence[object]]


class Agent:
    """harness9 at work: another process that holds the database open in WAL mode."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self._second = 1_786_000_000
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def append(self, messages: Iterable[Message], session: str = SESSION) -> None:
        """A run's end: its new messages are saved."""
        self._do(self._saving(messages, session))

    def delete(self, session: str = SESSION) -> None:
        """The first half of a replacement; also a clear."""
        self._do([("DELETE FROM messages WHERE session_id = ?", (session,))])

    def replace(self, messages: Iterable[Message], session: str = SESSION) -> None:
        """A write-back or a manual compact: two transactions, as harness9 makes them."""
        self.delete(session)
        self.append(messages, session)

    def roll_back(self, keep: int, session: str = SESSION) -> None:
        """Take away the newest messages, so that `keep` are left."""
        query = (
            "DELETE FROM messages WHERE session_id = ?1 AND id NOT IN "
            "(SELECT id FROM messages WHERE session_id = ?1 ORDER BY id LIMIT ?2)"
        )
        self._do([(query, (session, keep))])

    def edit(self, content: str, session: str = SESSION) -> None:
        """Change the first message where it stands, as no known version does."""
        query = (
            "UPDATE messages SET content = ?2 WHERE id = "
            "(SELECT min(id) FROM messages WHERE session_id = ?1)"
        )
        self._do([(query, (session, content)), *self._saving((), session)])

    def drop(self, session: str = SESSION) -> None:
        """Delete the session itself."""
        self._do(
            [
                ("DELETE FROM messages WHERE session_id = ?", (session,)),
                ("DELETE FROM sessions WHERE id = ?", (session,)),
            ]
        )

    def checkpoint(self) -> None:
        self._send("checkpoint")

    def stop(self) -> None:
        self._process.communicate()

    def _saving(self, messages: Iterable[Message], session: str) -> list[Statement]:
        self._second += 60
        known = "INSERT OR IGNORE INTO sessions VALUES (?, ?, ?)"
        return [
            (known, (session, self._second, self._second)),
            *((_INSERT, (session, m.role, m.content, *_calls(m), self._second)) for m in messages),
            ("UPDATE sessions SET updated_at = ? WHERE id = ?", (self._second, session)),
        ]

    def _do(self, statements: Sequence[Statement]) -> None:
        self._send(statements)

    def _send(self, wish: object) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(wish) + "\n")
        self._process.stdin.flush()
        self._answer()

    def _answer(self) -> None:
        assert self._process.stdout
        assert self._process.stdout.readline().strip() in ("ready", "done")


def _calls(message: Message) -> tuple[str | None, str | None]:
    return tool_calls_cell(message.tool_calls), message.tool_call_id or None


@dataclass
class Watched:
    """A project, its agent and its catalog. Time passes only when the refresher sleeps."""

    folder: Path
    agent: Agent
    catalog: Catalog
    now: float = 1_000.0
    while_asleep: list[Callable[[], None]] = field(default_factory=list)
    """What happens during the refresher's next sleeps, one each."""

    def __post_init__(self) -> None:
        self.refresher = self.new_refresher()

    def new_refresher(self) -> Refresher:
        home = self.folder / "nobody"
        return Refresher(self.catalog, self.folder, home, lambda: self.now, self._sleep)

    def refresh(self) -> Outcome:
        outcome = self.refresher.refresh()
        assert outcome.damage == []
        assert outcome.is_complete
        return outcome

    def states(self, session: str = SESSION) -> list[tuple[str, tuple[Message, ...]]]:
        """How each state came about, and what it held."""
        return [
            (state.how.value, tuple(self.catalog.messages(state)))
            for state in self.catalog.states(session)
        ]

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.while_asleep:
            self.while_asleep.pop(0)()


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "cache" / "catalog.db", tmp_path / "data" / "witness.db")


@pytest.fixture
def catalog(places: Places) -> Iterator[Catalog]:
    opened = Catalog.open(places)
    yield opened
    opened.close()


@pytest.fixture
def watched(tmp_path: Path, catalog: Catalog) -> Iterator[Watched]:
    folder = tmp_path / "project"
    agent = Agent(make_database(folder / ".harness9" / "sessions.db", ()))
    watched = Watched(folder, agent, catalog)
    yield watched
    agent.stop()
