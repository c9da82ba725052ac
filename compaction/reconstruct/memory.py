"""A history as it stands in the running agent's memory, which is not always what was stored.

When a run begins, the list in memory is the stored rows. From then on compactions put
placeholders into it, in rows of earlier runs (where nobody saves them) as in those of the run
itself (which are saved with them when it ends).
"""

from __future__ import annotations

from collections.abc import Mapping

from compaction.messages import Message
from compaction.reconstruct.history import History
from compaction.reconstruct.layers import Version, wrapped
from compaction.utf8 import byte_length


class Memory:
    """The rows during one run; mutable, and never shared."""

    def __init__(self, history: History, run: range) -> None:
        self.run = run
        self._history = history
        # Each changed row: its versions, and which of them it has now.
        self._versions = {i: list(history.versions[i]) for i in history.placeholders_in(run)}
        self._now = dict.fromkeys(self._versions, 0)

    def current(self, index: int) -> Version:
        """The text of a row as the agent has it now."""
        if index in self._versions:
            return self._versions[index][self._now[index]]
        return Version.of(self._history.messages[index].content)

    def next(self, index: int, path: str) -> Version | None:
        """The text the row has after a compaction moves it; None where that cannot have been.

        A row of the run itself was stored as the run left it: it can be moved only as often as
        its stored text says.
        """
        if index in self._versions and self._now[index] + 1 < len(self._versions[index]):
            return self._versions[index][self._now[index] + 1]
        if index in self.run:
            return None
        return wrapped(self.current(index), path, self._history.preview_lines)

    def move(self, index: int, to: Version) -> None:
        """Let the row have its next text."""
        versions = self._versions.setdefault(index, [self.current(index)])
        now = self._now[index] = self._now.get(index, 0) + 1
        if now == len(versions):
            versions.append(to)

    def changes(self, count: int) -> dict[int, Version]:
        """The rows among the first `count` that differ from what is stored."""
        return {
            index: self._versions[index][now]
            for index, now in self._now.items()
            if index < count and now != self._stored(index)
        }

    def _stored(self, index: int) -> int:
        """Which of its versions a row was stored in."""
        return len(self._history.versions[index]) - 1 if index in self.run else 0


class Weights:
    """Bytes of rows, some of which have another text than the stored one."""

    def __init__(self, history: History, changes: Mapping[int, Version]) -> None:
        self._history = history
        self._extra = {
            index: version.bytes - byte_length(history.messages[index].content)
            for index, version in changes.items()
        }

    def of(self, index: int) -> int:
        return self._history.size(index) + self._extra.get(index, 0)

    def first(self, count: int) -> int:
        """Bytes of the first `count` rows."""
        extra = sum(more for index, more in self._extra.items() if index < count)
        return self._history.sums[count] + extra


def as_seen(message: Message, version: Version) -> Message:
    """`message` with the text of `version`; with its stored text where that one is gone."""
    if version.text is None:
        return message
    return Message(message.role, version.text, message.tool_calls, message.tool_call_id)
