"""Reading pages as a browser would: what in them could run, load or lead somewhere."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.web.conftest import ORIGIN

_URLS = {"href", "src", "action", "formaction", "hx-get", "hx-post", "data", "poster", "srcset"}
BOOSTED = {"HX-Request": "true", "HX-Boosted": "true", "HX-Target": "main"}
BLOCK = {"HX-Request": "true"}


@dataclass
class Page(HTMLParser):
    """The elements of a page, and the rules that they break."""

    html: str
    text: str = ""
    urls: list[str] = field(default_factory=list)
    """Where links lead, and what htmx would fetch."""
    faults: list[str] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        given = {name: value or "" for name, value in attrs}
        if tag == "script" and not given.get("src", "").startswith("/static/"):
            self.faults.append("a script of its own")
        if tag in {"style", "base", "iframe", "object", "embed", "img"}:
            self.faults.append(f"<{tag}>")
        for name, value in given.items():
            if name.startswith(("on", "hx-on")) or name in {"style", "hx-vals", "hx-headers"}:
                self.faults.append(f"{tag} {name}={value!r}")
            if name in _URLS:
                self._check(value)
            if name == "hx-get" or (name == "href" and tag == "a"):
                self.urls.append(value)

    def _check(self, value: str) -> None:
        parts = urlsplit(urljoin(ORIGIN + "/here", value))
        if f"{parts.scheme}://{parts.netloc}" != ORIGIN:
            self.faults.append(f"leads to {value!r}")

    def handle_data(self, data: str) -> None:
        self.text += data


def walk(
    client: FlaskClient, *starts: str, alike: int | None = None
) -> Iterator[tuple[str, TestResponse]]:
    """Every page that links lead to, each once, with what was answered.

    `alike` bounds how many pages are visited whose addresses differ in numbers only.
    """
    waiting, seen = deque(starts or ("/",)), set(starts or ("/",))
    visits: Counter[str] = Counter()
    while waiting:
        url = waiting.popleft()
        answer = client.get(url)
        yield url, answer
        if answer.mimetype != "text/html":
            continue
        for link in Page(answer.text).urls:
            target = urljoin(url, link).partition("#")[0]
            if target in seen or not target.startswith("/") or target.startswith("/static/"):
                continue
            seen.add(target)
            kind = re.sub(r"\b\d+\b", "N", target)
            visits[kind] += 1
            if alike is None or visits[kind] <= alike:
                waiting.append(target)
