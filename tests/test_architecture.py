"""Who may import whom, read from the syntax trees: the directions of the design as a table."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in ("app", "compaction")
    for path in (ROOT / package).rglob("*.py")
    if "_assets" not in path.parts
)

WORLD = frozenset(
    "asyncio http multiprocessing os pathlib random secrets select shutil signal socket sqlite3 "
    "ssl subprocess sys tempfile threading time urllib uuid webbrowser".split()
)
"""Standard modules that reach out of the program: the engine is handed what it needs of them."""


@dataclass(frozen=True)
class Rule:
    """`package` imports nothing of `forbidden`, except in `allowed`."""

    package: str
    forbidden: frozenset[str]
    allowed: tuple[str, ...] = ()


def rule(package: str, forbidden: str, *allowed: str) -> Rule:
    return Rule(package, frozenset(forbidden.split()), allowed)


RULES = (
    # The engine: values and pure functions, for whoever imports it.
    rule("compaction", "app tests " + " ".join(WORLD)),
    # cli, desktop -> web -> services -> catalog -> sources -> compaction
    rule("app/sources", "app.background app.catalog app.cli app.commands app.desktop app.llm"),
    rule("app/sources", "app.services app.web flask jinja2 waitress"),
    rule("app/catalog", "app.cli app.commands app.desktop app.services app.web flask"),
    rule("app/llm", "app.catalog app.cli app.commands app.desktop app.services app.sources"),
    rule("app/llm", "app.web flask"),
    rule("app/background", "app.cli app.commands app.desktop app.services app.web flask"),
    rule("app/services", "app.cli app.commands app.desktop app.web flask jinja2 waitress"),
    rule("app/web", "app.catalog app.cli app.commands app.desktop waitress"),
    rule("app/desktop", "app.cli app.commands app.sources app.catalog"),
    # One module, or one package, per library that reaches far.
    rule("app", "webview", "app/desktop/window.py"),
    rule("app", "waitress", "app/desktop/server.py"),
    rule("app", "anthropic", "app/llm"),
    rule(
        "app",
        "sqlite3 sqlite_utils",
        "app/sources/sessions_db.py",
        "app/sources/untouched.py",
        "app/catalog",
        "app/vectors.py",
    ),
    rule("app", "watchdog", "app/background/watch.py"),
    rule("app", "platformdirs", "app/paths.py"),
    rule("app", "tests playwright pytest hypothesis"),
)


@cache
def tree(module: str) -> ast.Module:
    return ast.parse((ROOT / module).read_text("utf-8"), module)


def imported(module: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a module imports, `from a import b` as `a.b`."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def within(name: str, above: str, separator: str) -> bool:
    return name == above or name.startswith(above + separator)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.package}: {min(rule.forbidden)}…")
def test_nobody_imports_against_the_direction(rule: Rule) -> None:
    offences = [
        f"{module}:{line} imports {name}"
        for module in MODULES
        if within(module, rule.package, "/")
        and not any(within(module, place, "/") for place in rule.allowed)
        for line, name in imported(module)
        if any(within(name, forbidden, ".") for forbidden in rule.forbidden)
    ]

    assert offences == []


def test_the_engine_needs_the_standard_library_and_nothing_else() -> None:
    known = sys.stdlib_module_names | {"compaction"}
    # One counter knows a tokenizer, and only when it is asked to count.
    on_use = {("compaction/counters/bpe.py", "tiktoken")}

    offences = [
        f"{module}:{line} imports {name}"
        for module in MODULES
        if module.startswith("compaction/")
        for line, name in imported(module)
        if name.partition(".")[0] not in known and (module, name.partition(".")[0]) not in on_use
    ]

    assert offences == []


def test_the_whole_engine_loads_no_library() -> None:
    script = "from compaction import *; import sys; print(*sys.modules)"
    bare = subprocess.run(
        # -S: without any installed package, as on a machine that has the engine alone.
        [sys.executable, "-S", "-c", script],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )

    loaded = {name.partition(".")[0] for name in bare.stdout.split()}

    assert loaded <= sys.stdlib_module_names | {"compaction", "__main__"}


def test_importing_the_engine_loads_no_part_of_it_before_one_is_named() -> None:
    script = "import compaction, sys; print(*(n for n in sys.modules if 'compaction' in n))"

    bare = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )

    assert bare.stdout.split() == ["compaction"]


@pytest.mark.parametrize("call", ["now", "today", "utcnow", "open", "print", "input"])
def test_the_engine_asks_nobody(call: str) -> None:
    """No clock, no file, no terminal: those are ports."""
    offences = [
        f"{module}:{node.lineno} calls {call}"
        for module in MODULES
        if module.startswith("compaction/")
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call)
        and (getattr(node.func, "id", "") == call or getattr(node.func, "attr", "") == call)
    ]

    assert offences == []


def test_every_module_says_what_it_knows() -> None:
    silent = [module for module in MODULES if not ast.get_docstring(tree(module))]

    assert silent == []


def test_imports_name_their_whole_path() -> None:
    relative = [
        f"{module}:{node.lineno}"
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ImportFrom) and node.level
    ]

    assert relative == []


def test_nothing_was_overlooked() -> None:
    assert {"app/cli.py", "compaction/messages.py"} <= set(MODULES)
    for rule in RULES:
        assert rule.package.startswith(("app", "compaction"))
