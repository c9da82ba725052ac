"""Counting as OpenAI's tokenizers do, offline; the only module that knows `tiktoken`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from compaction.counters.vocabulary import VOCABULARIES
from compaction.messages import Message
from compaction.tokens import Count

if TYPE_CHECKING:
    import tiktoken

PIECE = 65_536
"""Characters given to the tokenizer at once. Whitespace alone, a million long, makes it panic with
an error that `except Exception` does not catch; pieces of this size are far from that."""

SAMPLES = 8
SAMPLE = 4_096
"""Of a longer stretch that has no seam, this many samples of this many characters are counted."""

# No encoding here joins a letter or digit to the white space or punctuation after it (apostrophes
# excepted), so a text may be cut between the two without changing a token: what a match takes never
# depends on what came before.
_SEAM = re.compile(r"[^\W_](?=[ \t\r\n,.:;!?，。、：；！？（）“”])")

_UNBROKEN = "a stretch of text without spaces or punctuation was sampled"


@cache
def encoding(name: str) -> tiktoken.Encoding:
    """The tokenizer of a vocabulary, made once per process; 50 MB for the larger one.

    It knows no special tokens: `<|endoftext|>` is text like any other. Raises ValueError for an
    unknown name, ImportError where `tiktoken` is not installed.
    """
    if name not in VOCABULARIES:
        raise ValueError(f"{name!r} is no vocabulary; there are {', '.join(VOCABULARIES)}")
    try:
        import tiktoken  # noqa: PLC0415 - compiled, and not needed to import the engine
    except ImportError as error:
        raise ImportError(f"counting as {name} needs the package tiktoken") from error
    vocabulary = VOCABULARIES[name]
    return tiktoken.Encoding(
        name, pat_str=vocabulary.pattern, mergeable_ranks=vocabulary.ranks(), special_tokens={}
    )


class BpeCounter:
    """Counts with one of the shipped vocabularies. See `FlaggedCounter`.

    What is counted are the texts that the byte-quarter estimate counts, each by itself. A provider
    wraps every message in a few tokens more, which `per_message` stands for.

    Counts are remembered by message, so a growing conversation costs only what is new in it.
    """

    def __init__(self, name: str = "o200k_base", *, per_message: int = 0) -> None:
        if name not in VOCABULARIES:
            raise ValueError(f"{name!r} is no vocabulary; there are {', '.join(VOCABULARIES)}")
        self.name = name
        self._per_message = per_message
        self._remembered = _Remembered()

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of all `messages` together."""
        return self.measure(messages).tokens

    def measure(self, messages: Sequence[Message]) -> Count:
        """Tokens of all `messages` together, and whether every text was counted to its end."""
        return Count.total(map(self._measured, messages))

    def measure_text(self, text: str) -> Count:
        """Tokens of one text. Time is bounded also where a text has no seam to cut it at."""
        return Count.total(self._piece_counts(text))

    def _measured(self, message: Message) -> Count:
        known = self._remembered.get(message)
        if known is None:
            texts = map(self.measure_text, _texts(message))
            known = Count.total([Count(self._per_message), *texts])
            self._remembered.keep(message, known)
        return known

    def _piece_counts(self, text: str) -> Iterator[Count]:
        for start, end in _pieces(text):
            if end - start <= PIECE:
                yield Count(self._encoded(text[start:end]))
            else:
                yield self._sampled(text, start, end)

    def _sampled(self, text: str, start: int, end: int) -> Count:
        step = (end - start - SAMPLE) // (SAMPLES - 1)
        places = range(start, start + step * SAMPLES, step)
        tokens = sum(self._encoded(text[place : place + SAMPLE]) for place in places)
        return Count(tokens * (end - start) // (SAMPLES * SAMPLE), is_exact=False, why=_UNBROKEN)

    def _encoded(self, text: str) -> int:
        return len(encoding(self.name).encode_ordinary(text))


def _texts(message: Message) -> Iterable[str]:
    yield message.content
    yield message.tool_call_id
    for call in message.tool_calls:
        yield from (call.id, call.name, call.arguments)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where to cut a text: at seams, half a piece apart or more."""
    start = 0
    while len(text) - start > PIECE:
        seam = _SEAM.search(text, start + PIECE // 2)
        if seam is None:
            break
        yield start, seam.end()
        start = seam.end()
    yield start, len(text)


class _Remembered:
    """What was counted lately, by message: at least the last `ROOM`, at most twice as many."""

    ROOM = 20_000

    def __init__(self) -> None:
        self._young: dict[Message, Count] = {}
        self._old: dict[Message, Count] = {}

    def get(self, message: Message) -> Count | None:
        found = self._young.get(message)
        if found is None and (found := self._old.get(message)) is not None:
            self.keep(message, found)
        return found

    def keep(self, message: Message, count: Count) -> None:
        if len(self._young) >= self.ROOM:
            self._old, self._young = self._young, {}
        self._young[message] = count
