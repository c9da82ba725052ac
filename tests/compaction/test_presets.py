"""Presets: data that fits the strategies it names, each with where it was read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.llm.offline import OfflineSummariser
from app.services import build
from compaction import (
    STRATEGIES,
    MemoryOffloads,
    Message,
    Ports,
    Settings,
    estimate,
    read_settings,
    violations,
)
from compaction.pairs import broken_pairs, mend
from compaction.presets import PRESETS, Preset
from compaction.provenance import Draft

PAGE = (Path(__file__).parents[2] / "docs" / "presets.md").read_text("utf-8")
LOOPING = "383b43d3-ec49-4793-89e5-c64337493ea3"


@pytest.fixture(scope="module")
def session(corpus: Path) -> tuple[Message, ...]:
    root = corpus / "coding-home"
    rows = build(root / "project", root / "home").session(LOOPING).messages
    return (Message("system", "You are a coding agent."), *rows)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_a_preset_can_be_applied_and_names_its_source(preset: Preset) -> None:
    settings = read_settings(preset.settings, Settings(128_000))
    options = STRATEGIES[preset.strategy].read(preset.options)

    assert settings.context_window == 128_000
    assert options.items() >= preset.options.items()
    assert preset.source
    assert preset.differs
    assert preset.name not in STRATEGIES


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_a_preset_compacts_a_real_session_within_the_laws(
    preset: Preset, session: tuple[Message, ...]
) -> None:
    strategy = STRATEGIES[preset.strategy]
    settings = read_settings(preset.settings, Settings(estimate(session), session_id="s1"))

    outcome = strategy.compact(
        session, settings, Ports(OfflineSummariser(), MemoryOffloads()), values=preset.options
    )

    after = outcome.draft.messages
    assert violations(outcome.draft, session) == []
    assert estimate(after) < estimate(session)
    assert after[0] == session[0]
    if strategy.guarded:
        whole = mend(Draft.of(session)).messages
        assert len(broken_pairs(after)) <= len(broken_pairs(whole))


def row(preset: Preset) -> str:
    """A preset as it stands on its page."""
    numbers = {**preset.settings, **preset.options}
    taken = ", ".join(f"`{name}` {_told(value)}" for name, value in numbers.items()) or "none"
    cells = (
        f"`{preset.name}`",
        preset.manner_of,
        f"[`{preset.strategy}`](strategies/{preset.strategy}.md)",
        taken,
        preset.differs,
        f"{preset.source} ({preset.confidence})",
    )
    return f"| {' | '.join(cells)} |"


def _told(value: object) -> str:
    return f"{value * 100:g} %" if isinstance(value, float) else str(value)


def test_the_page_has_every_preset_as_it_is() -> None:
    listed = re.findall(r"^\| `.*$", PAGE, re.M)

    assert listed == [row(preset) for preset in PRESETS.values()]
