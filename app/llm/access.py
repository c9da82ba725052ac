"""How Claude is reached: key, model and address, from a person's settings or the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.llm.failures import KeyRefused, NoKey, Rejected

if TYPE_CHECKING:
    import anthropic

DEFAULT_MODEL = "claude-haiku-5-5"
DEFAULT_URL = "https://api.anthropic.com"

KEY_VARIABLE = "ANTHROPIC_API_KEY"
URL_VARIABLE = "ANTHROPIC_BASE_URL"
MODEL_VARIABLE = "ANCHORLINE_MODEL"

_HERE = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Access:
    """What a call of Claude needs; the key never shows. Made by `access`, which checks."""

    key: str = field(repr=False)
    model: str = DEFAULT_MODEL
    base_url: str = DEFAULT_URL

    @property
    def host(self) -> str:
        """Whom a call reaches: the address without what stands before and behind it."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    def client(self, timeout: float) -> anthropic.Anthropic:
        """A client that waits `timeout` seconds for each byte and never tries again by itself.

        Its library takes a second or more to import, which happens here.
        """
        import anthropic  # noqa: PLC0415 - slow to import, and not needed to run the app

        return anthropic.Anthropic(
            api_key=self.key, base_url=self.base_url, timeout=timeout, max_retries=0
        )

    def without_key(self, text: str) -> str:
        """`text` in one short line, safe to show: a proxy may well echo what it was sent."""
        line = " ".join(text.replace(self.key, "[key]").split())
        return line if len(line) <= 300 else line[:299] + "…"


def access(
    environment: Mapping[str, str], *, key: str = "", model: str = "", base_url: str = ""
) -> Access:
    """What was given, else what the environment says, else the defaults.

    Raises NoKey without a key, KeyRefused for one that cannot be a key, and Rejected for an address
    that would send it in the clear.
    """
    key = (key or environment.get(KEY_VARIABLE, "")).strip()
    model = (model or environment.get(MODEL_VARIABLE, "")).strip()
    base_url = (base_url or environment.get(URL_VARIABLE, "")).strip()
    if not key:
        raise NoKey(f"no key for Claude: set {KEY_VARIABLE}, or choose the offline summariser")
    if not key.isascii() or any(not char.isprintable() or char == " " for char in key):
        raise KeyRefused("the key for Claude holds characters that no key has; copy it again")
    return Access(key, model or DEFAULT_MODEL, _checked(base_url or DEFAULT_URL))


def _checked(url: str) -> str:
    parts = urlsplit(url)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    if not safe or not parts.hostname:
        raise Rejected(f"{url!r} is no address for Claude: https is needed except on this machine")
    return url
