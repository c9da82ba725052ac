"""The design system, read as text: colours, contrast, vendored files, and no inline anything."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from app.paths import assets_dir

STATIC = assets_dir() / "static"
TEMPLATES = sorted((assets_dir() / "templates").rglob("*.html"))
SHEETS = sorted((STATIC / "css").glob("*.css"))
TOKENS, CONTRAST_TOKENS = STATIC / "css" / "tokens.css", STATIC / "css" / "tokens-hc.css"

_TOKEN = re.compile(r"(--[\w-]+):\s*light-dark\((#\w+),\s*(#\w+)\);")
_LITERAL = re.compile(
    r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch|color)a?\(|"
    r":[^;{}]*\b(?:black|white|red|green|blue|gr[ae]y|yellow|orange|purple|pink)\b[^;{}]*[;}]"
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_VARIABLE_NAME = re.compile(r"--[\w-]+")

EDITOR = "editor-background"
GROUNDS = {
    # text on ground: what is read on what
    "foreground": ("editor-background", "editorWidget-background", "menu-background"),
    "descriptionForeground": (
        "editor-background",
        "sideBar-background",
        "sideBarSectionHeader-background",
        "editorWidget-background",
        "panel-background",
        "quickInput-background",
        "menu-background",
        "titleBar-activeBackground",
        "commandCenter-background",
        "textCodeBlock-background",
        "list-hoverBackground",
        "list-activeSelectionBackground",
        "diffEditor-insertedLineBackground",
        "diffEditor-removedLineBackground",
        "--anchorline-diff-summarisedBackground",
        "--anchorline-diff-offloadedBackground",
        "--anchorline-human-background",
    ),
    "editor-foreground": (
        "editor-background",
        "textCodeBlock-background",
        "diffEditor-insertedLineBackground",
        "diffEditor-removedLineBackground",
        "diffEditor-insertedTextBackground",
        "diffEditor-removedTextBackground",
        "--anchorline-diff-summarisedBackground",
        "--anchorline-diff-offloadedBackground",
        "--anchorline-human-background",
        "editor-findMatchBackground",
        "selection-background",
    ),
    "textLink-foreground": (
        "editor-background",
        "textCodeBlock-background",
        "diffEditor-unchangedRegionBackground",
        "diffEditor-removedLineBackground",
        "--anchorline-diff-offloadedBackground",
        "--anchorline-diff-summarisedBackground",
        "--anchorline-human-background",
        "list-activeSelectionBackground",
    ),
    "errorForeground": ("editor-background", "sideBar-background", "statusBar-background"),
    "editorLineNumber-foreground": (
        "editor-background",
        "diffEditor-insertedLineBackground",
        "diffEditor-removedLineBackground",
        "--anchorline-diff-summarisedBackground",
        "--anchorline-diff-offloadedBackground",
        "--anchorline-human-background",
    ),
    "titleBar-activeForeground": ("titleBar-activeBackground",),
    "activityBar-foreground": ("activityBar-background",),
    "activityBar-inactiveForeground": ("activityBar-background",),
    "activityBarBadge-foreground": ("activityBarBadge-background",),
    "sideBar-foreground": ("sideBar-background", "list-hoverBackground"),
    "sideBarTitle-foreground": ("sideBar-background",),
    "list-activeSelectionForeground": ("list-activeSelectionBackground",),
    "tab-activeForeground": ("tab-activeBackground",),
    "tab-inactiveForeground": ("editorGroupHeader-tabsBackground",),
    "breadcrumb-foreground": ("editor-background",),
    "panelTitle-activeForeground": ("panel-background",),
    "panelTitle-inactiveForeground": ("panel-background",),
    "statusBar-foreground": ("statusBar-background", "statusBarItem-hoverBackground"),
    "statusBarItem-warningForeground": ("statusBar-background", "editor-background"),
    "input-foreground": ("input-background",),
    "input-placeholderForeground": ("input-background",),
    "button-foreground": ("button-background", "button-hoverBackground"),
    "button-secondaryForeground": (
        "button-secondaryBackground",
        "button-secondaryHoverBackground",
    ),
    "badge-foreground": ("badge-background",),
    "diffEditor-unchangedRegionForeground": ("diffEditor-unchangedRegionBackground",),
    "charts-yellow": ("editor-background",),
    "charts-green": ("editor-background", "editorWidget-background"),
    "charts-blue": ("textCodeBlock-background",),
    "--anchorline-onTier-foreground": (
        "charts-yellow",
        "charts-orange",
        "charts-red",
        "charts-purple",
        "--anchorline-tierNone",
    ),
    "--anchorline-human-border": ("--anchorline-human-background",),
    "--anchorline-diff-insertedBorder": ("diffEditor-insertedLineBackground", EDITOR),
    "--anchorline-diff-removedBorder": ("diffEditor-removedLineBackground", EDITOR),
    "--anchorline-diff-summarisedBorder": ("--anchorline-diff-summarisedBackground", EDITOR),
    "--anchorline-diff-offloadedBorder": ("--anchorline-diff-offloadedBackground", EDITOR),
}


def tokens(theme: str) -> dict[str, str]:
    """Every colour token of a theme: `dark`, `light`, `hc-dark` or `hc-light`."""
    which = 2 if theme.endswith("light") else 3
    sheets = (TOKENS, CONTRAST_TOKENS) if theme.startswith("hc") else (TOKENS,)
    found = {}
    for sheet in sheets:
        found.update({match[1]: match[which] for match in _TOKEN.finditer(sheet.read_text())})
    return found


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, after WCAG."""
    assert re.fullmatch(r"#[0-9a-f]{6}", colour), f"{colour} cannot be measured: it is not opaque"
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("theme", "least"), [("dark", 4.5), ("light", 4.5), ("hc-dark", 7.0), ("hc-light", 7.0)]
)
def test_all_text_can_be_read_in_every_theme(theme: str, least: float) -> None:
    found = tokens(theme)

    def colour(name: str) -> str:
        return found[name if name.startswith("--") else f"--vscode-{name}"]

    too_faint = [
        f"{text} on {ground}: {ratio:.2f}"
        for text, grounds in GROUNDS.items()
        for ground in grounds
        if (ratio := contrast(colour(text), colour(ground))) < least
    ]
    assert too_faint == []


def test_high_contrast_overrides_only_tokens_that_exist() -> None:
    usual = _TOKEN.findall(TOKENS.read_text())
    contrasted = _TOKEN.findall(CONTRAST_TOKENS.read_text())

    assert {name for name, _, _ in contrasted} <= {name for name, _, _ in usual}


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_only_the_tokens_hold_colours(sheet: Path) -> None:
    if sheet in (TOKENS, CONTRAST_TOKENS):
        return

    rules = _VARIABLE_NAME.sub("", _COMMENT.sub("", sheet.read_text()))

    assert _LITERAL.findall(rules) == []


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_variable_that_is_used_is_defined(sheet: Path) -> None:
    defined = {name for one in SHEETS for name in re.findall(r"(--[\w-]+)\s*:", one.read_text())}

    used = re.findall(r"var\((--[\w-]+)", sheet.read_text())

    assert set(used) <= defined


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_hold_no_inline_script_style_or_handler(template: Path) -> None:
    text = template.read_text()

    assert not re.search(r"\sstyle\s*=|\son[a-z]+\s*=|hx-on|<style|javascript:|\|\s*safe\b", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)


def test_templates_were_found() -> None:
    assert len(TEMPLATES) > 10, "no templates: the tests above checked nothing"


def test_vendored_files_are_what_the_list_says() -> None:
    vendor = STATIC / "vendor"
    rows = re.findall(
        r"^\| (\S+) \| (\S+) \| ([\d.]+) \| (.+) \| `(\w{64})` \|$",
        (vendor / "VENDOR.md").read_text(),
        re.MULTILINE,
    )
    listed = {name: digest for name, _, _, _, digest in rows}

    files = {
        str(path.relative_to(vendor)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vendor.rglob("*")
        if path.is_file() and not path.name.startswith("LICENSE") and path.name != "VENDOR.md"
    }
    assert listed == files


def test_nothing_is_fetched_from_elsewhere() -> None:
    ours = [*SHEETS, *(STATIC / "js").glob("*.js"), *TEMPLATES]

    for path in ours:
        assert not re.search(r"(?:src|href|url|import|fetch)\W*['\"(]?https?:", path.read_text())
