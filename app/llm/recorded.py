"""A summariser that answers with the summary on record, where it was made of the same messages."""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.failures import NothingRecorded
from compaction.anchors import render
from compaction.messages import Message
from compaction.records import CompactionRecord
from compaction.summary import SummaryRequest


class RecordedSummariser:
    """A `compaction.Summariser` for one compaction; its `leaving` belongs into `Ports.on_leaving`.

    `summarised` are the messages that the recorded summary stands for.
    """

    name = "recorded"

    def __init__(self, record: CompactionRecord | None, summarised: Sequence[Message]) -> None:
        self._record = record
        self._summarised = tuple(summarised)
        self._leaving: tuple[Message, ...] = ()

    def leaving(self, messages: Sequence[Message]) -> None:
        """Take note of what is about to be summarised, as it is before any of it is offloaded."""
        self._leaving = tuple(messages)

    def summarise(self, request: SummaryRequest) -> Message:  # noqa: ARG002 - see `leaving`
        """The recorded summary. Raises NothingRecorded where there is none of these messages."""
        record = self._record
        if record is None or not record.anchors or not self._summarised:
            raise NothingRecorded("no summary was recorded here")
        if self._leaving != self._summarised:
            raise NothingRecorded(
                f"the recorded summary stands for {len(self._summarised)} messages, and this run "
                f"would summarise {len(self._leaving)} or others"
            )
        text = f"## Anchors\n\n{render(record.anchors)}\n\n## Summary\n{record.summary_text}"
        return Message("assistant", text)
