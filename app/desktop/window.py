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
        print("NO-WEB-VIEW", _missing(), file=answers, flush=True)
        return 1
    print("CLOSED", file=answers, flush=True)
    return 0


def _own_output() -> TextIO:
    """The standard output, taken away from everybody else: web views print what they like."""
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def _qt() -> str:
    """The name of a Qt for Python that is whole, web engine included; empty when there is none."""
    whole = (
        binding
        for binding in ("PySide6", "PyQt6")
        if find_spec(binding) and find_spec(f"{binding}.QtWebEngineCore")
    )
    return next(whole, "") if find_spec("qtpy") else ""


def _web_view() -> GUIType | None:
    """Qt where it is whole, else whatever pywebview finds."""
    return "qt" if _qt() and "PYWEBVIEW_GUI" not in os.environ else None


def _missing() -> str:
    """What keeps the Qt that is installed from being loaded; empty where none is installed."""
    binding = _qt()
    try:
        if binding:
            # Asked directly: from qtpy one only hears that there is no Qt.
            import_module(f"{binding}.QtWebEngineWidgets")
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
