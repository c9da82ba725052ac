"""An embedder that needs no model: hashed n-grams, weighted by how rare they are.

Words for languages that have spaces, pairs of characters for Chinese, Japanese and Korean. The same
texts always give the same vectors, on every machine.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain, pairwise
from operator import mul
from zlib import crc32

Vector = Mapping[int, float]
"""Coordinates that are not zero. A dense vector has all of them."""

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")
_LOOKED_AT = 2_000
"""Characters read at either end of a text, so that a huge output costs no more than another."""
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class HashedNgrams:
    """TF-IDF over hashed words and character n-grams. Vectors have length one, or are empty."""

    name: str = "hashed n-grams"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector per text. Only vectors of one call can be compared: rarity is among `texts`."""
        hashes = _Hashes()
        words = (_WORD.findall(_ends(text).lower()) for text in texts)
        counts = [Counter(chain.from_iterable(map(hashes.__getitem__, each))) for each in words]
        spread = Counter(chain.from_iterable(counts))
        rarity = {term: math.log(1 + len(texts) / among) for term, among in spread.items()}
        return [_weighted(count, rarity) for count in counts]


def _weighted(count: Counter[int], rarity: Mapping[int, float]) -> Vector:
    weights = {term: (1 + math.log(times)) * rarity[term] for term, times in count.items()}
    length = math.sqrt(sum(map(mul, weights.values(), weights.values())))
    return {term: weight / length for term, weight in weights.items()}


def _ends(text: str) -> str:
    if len(text) <= 2 * _LOOKED_AT:
        return text
    return f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"


class _Hashes(dict[str, tuple[int, ...]]):
    """The hashed terms of every word that was met so far: most words come again and again."""

    def __missing__(self, word: str) -> tuple[int, ...]:
        self[word] = hashes = tuple(map(_hashed, _terms(word[:_LONGEST])))
        return hashes


def _terms(word: str) -> Iterator[str]:
    if _IS_CJK.match(word):
        yield from word
        yield from map("".join, pairwise(word))
    else:
        yield word
        # Inflections and compounds still meet in their beginnings and endings.
        yield from (word[:4], word[-4:]) if len(word) > 6 else ()


def _hashed(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))


def similarity(one: Vector, other: Vector) -> float:
    """The cosine of two vectors of length one."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return sum(weight * large.get(term, 0.0) for term, weight in small.items())


@dataclass(slots=True)
class MemoryVectors:
    """Vectors in memory, all looked at by every question."""

    vectors: dict[int, Vector] = field(default_factory=dict)

    def add(self, key: int, vector: Vector) -> None:
        """Keep a vector under `key`; a second one of the same key replaces it."""
        self.vectors[key] = vector

    def nearest(self, vector: Vector, count: int) -> list[tuple[int, float]]:
        """The `count` most similar keys and their similarity, best first, ties in key order."""
        scored = ((key, similarity(vector, each)) for key, each in self.vectors.items())
        return nlargest(count, scored, key=lambda pair: (pair[1], -pair[0]))
