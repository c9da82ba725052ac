"""The vocabularies shipped with the engine: which token each run of bytes is, and how text splits.

Both files are read from the package and checked by their hash. There is no cache to trust and no
network to reach. Where they come from: `vocabularies/README.md`.
"""

from __future__ import annotations

import hashlib
import lzma
from base64 import b64decode
from dataclasses import dataclass
from importlib.resources import files


class BadVocabulary(ValueError):
    """A vocabulary of this installation is missing or damaged."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One encoding: its name, the hash of its file once unpacked, and its splitting pattern."""

    name: str
    sha256: str
    pattern: str

    def ranks(self) -> dict[bytes, int]:
        """Every token with its rank. Raises BadVocabulary where the file is not the published one.

        Takes a few tenths of a second and tens of megabytes: keep what is made of it.
        """
        lines = self._unpacked().splitlines()
        return {b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}

    def _unpacked(self) -> bytes:
        path = files("compaction.counters") / "vocabularies" / f"{self.name}.tiktoken.xz"
        try:
            raw = lzma.decompress(path.read_bytes())
        except (OSError, lzma.LZMAError) as error:
            raise BadVocabulary(f"{path}: {error}; install the package anew") from error
        if hashlib.sha256(raw).hexdigest() != self.sha256:
            raise BadVocabulary(f"{path}: not the published vocabulary; install the package anew")
        return raw


_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"

VOCABULARIES = {
    vocabulary.name: vocabulary
    for vocabulary in (
        Vocabulary(
            "o200k_base",
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
            "|".join(
                (
                    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_CONTRACTIONS}",
                    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_CONTRACTIONS}",
                    r"\p{N}{1,3}",
                    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                    r"\s*[\r\n]+",
                    r"\s+(?!\S)",
                    r"\s+",
                )
            ),
        ),
        Vocabulary(
            "cl100k_base",
            "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        ),
    )
}
