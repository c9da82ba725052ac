from __future__ import annotations

import pytest

from app.services.recent import Recent


def test_an_answer_is_kept_while_the_stamp_is_the_same() -> None:
    recent = Recent[object](2)

    first = recent.get("a", 1, object)

    assert recent.get("a", 1, object) is first
    assert recent.get("a", 2, object) is not first


def test_the_answer_asked_for_longest_ago_goes_first() -> None:
    recent = Recent[object](2)
    a, b = recent.get("a", 1, object), recent.get("b", 1, object)

    recent.get("a", 1, object)
    recent.get("c", 1, object)

    assert recent.get("a", 1, object) is a
    assert recent.get("b", 1, object) is not b


def test_a_failure_is_not_kept() -> None:
    recent = Recent[int](1)

    with pytest.raises(ZeroDivisionError):
        recent.get("a", 1, lambda: 1 // 0)

    assert recent.get("a", 1, lambda: 7) == 7
