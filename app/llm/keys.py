"""Where the key for Claude comes from: the environment, else the system's keyring."""

from __future__ import annotations

from collections.abc import Mapping

from app.llm.access import KEY_VARIABLE

SERVICE, ACCOUNT = "anchorline", "anthropic"
"""The keyring's entry: `keyring set anchorline anthropic` makes it."""


def key_from(environment: Mapping[str, str]) -> str:
    """The key in the environment, else the keyring's, else an empty text."""
    return environment.get(KEY_VARIABLE, "").strip() or stored_key()


def stored_key() -> str:
    """The key in the system's keyring; empty where there is none, or no package `keyring`."""
    try:
        import keyring  # noqa: PLC0415 - an extra, and slow to find its backends
    except ImportError:
        return ""
    try:
        return keyring.get_password(SERVICE, ACCOUNT) or ""
    except Exception:  # locked, refused, not running: every backend has errors of its own
        return ""
