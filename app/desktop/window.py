"""The window itself: a program of its own, started by `launcher.py`, and all that knows pywebview.

It is run by its path, with nothing of Anchorline imported. One line of JSON on its standard input
says what to show (the address is a secret: a command line could be read by others), and when that
input ends the window closes, so it never outlives the program that opened it. On its standard
output it says SHOWN, CLOSED or, where no web view can be had, NO-WEB-VIEW and what is missing.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import webview
    from webview.guilib import GUIType

_PATIENCE = 2.0
"""Seconds that the window is given to close by itself."""


def main() -> int:
    """Show the window until it is closed or the standard input ends."""
    answers = _own_output()
    order = json.loads(sys.stdin.readline())
    gui = _web_view()
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Chromium refuses to start as root with its sandbox on.
        os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")

    import webview  # noqa: PLC0415 - after the environment that its web view reads

    logging.getLogger("pywebview").setLevel(logging.CRITICAL)
    window = webview.create_window(
        order["title"],
        order["url"],
        width=order["width"],
        height=order["height"],
        min_size=(640, 400),
    )
    if window is None:
        return 1
    window.events.shown += lambda: print("SHOWN", file=answers, flush=True)
    threading.Thread(target=_close_with_input, args=(window,), daemon=True).start()
    try:
        # Private: neither the key's cookie nor what was shown is left on the disk.
        webview.start(gui=gui, private_mode=True, icon=order["icon"] if gui == "qt" else None)
    except webview.errors.WebViewException:
        print("NO-WEB-VIEW", _missing(gui), file=answers, flush=True)
        return 1
    print("CLOSED", file=answers, flush=True)
    return 0


def _own_output() -> TextIO:
    """The standard output, taken away from everybody else: web views print what they like."""
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def _web_view() -> GUIType | None:
    """Qt where it is whole, else whatever pywebview finds."""
    if "PYWEBVIEW_GUI" in os.environ or find_spec("qtpy") is None:
        return None
    whole = any(
        find_spec(binding) and find_spec(f"{binding}.QtWebEngineCore")
        for binding in ("PySide6", "PyQt6")
    )
    return "qt" if whole else None


def _missing(gui: GUIType | None) -> str:
    """What keeps a Qt that is installed from being loaded; empty where there is none."""
    if gui != "qt":
        return ""
    try:
        import_module("webview.platforms.qt")
    except ImportError as error:
        return " ".join(str(error).split())
    return ""


def _close_with_input(window: webview.Window) -> None:
    sys.stdin.read()
    # A web view that hangs must not keep its process.
    timer = threading.Timer(_PATIENCE, os._exit, args=(1,))
    timer.daemon = True
    timer.start()
    window.destroy()


if __name__ == "__main__":
    sys.exit(main())
