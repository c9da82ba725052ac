"""Presets: data that fits the strategies it names, each with where it was read."""

from __future__ import annotations

import pytest

from compaction import STRATEGIES, Settings, read_settings
from compaction.presets import PRESETS, Preset


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_a_preset_can_be_applied_and_names_its_source(preset: Preset) -> None:
    settings = read_settings(preset.settings, Settings(128_000))
    options = STRATEGIES[preset.strategy].read(preset.options)

    assert settings.context_window == 128_000
    assert options.items() >= preset.options.items()
    assert preset.source
    assert preset.differs
    assert preset.name not in STRATEGIES
