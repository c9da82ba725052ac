"""The hub: every window hears every name, no window makes another wait, none grows without end."""

from __future__ import annotations

import threading

import pytest

from app.background.hub import RESYNC, Hub, Window

AT_ONCE = 0.0
PATIENCE = 10.0


def opened(hub: Hub, seen: str | None = None) -> Window:
    window = hub.open(hub.seen if seen is None else seen)
    assert window
    return window


def test_every_window_hears_every_name() -> None:
    hub = Hub()
    windows = [opened(hub), opened(hub)]

    hub.publish("folder", "messages-1")

    assert [w.next(AT_ONCE).names for w in windows] == [("folder", "messages-1")] * 2


def test_a_name_that_waits_already_is_heard_once() -> None:
    hub = Hub()
    window = opened(hub)

    for _ in range(3):
        hub.publish("folder")

    assert window.next(AT_ONCE).names == ("folder",)
    assert window.next(AT_ONCE).names == ()


def test_a_full_window_is_cleared_and_told_to_look_at_everything() -> None:
    hub = Hub(most_waiting=3)
    slow, quick = opened(hub), opened(hub)

    for number in range(5):
        hub.publish(f"messages-{number}")
        quick.next(AT_ONCE)

    assert slow.next(AT_ONCE).names == (RESYNC,)
    assert quick.next(AT_ONCE).names == ()


def test_a_window_that_missed_nothing_is_told_nothing_when_it_comes_back() -> None:
    hub = Hub()
    hub.publish("folder")
    seen = hub.seen

    assert opened(hub, seen).next(AT_ONCE).names == ()


@pytest.mark.parametrize("seen", ["", "of-another-launch.1", "nonsense"])
def test_a_window_that_may_have_missed_something_looks_at_everything(seen: str) -> None:
    hub = Hub()
    hub.publish("folder")

    assert opened(hub, seen).next(AT_ONCE).names == (RESYNC,)


def test_what_is_published_between_page_and_stream_is_not_lost() -> None:
    hub = Hub()
    page = hub.seen
    hub.publish("messages-1")

    assert opened(hub, page).next(AT_ONCE).names == (RESYNC,)


def test_a_window_says_how_far_it_is() -> None:
    hub = Hub()
    window = opened(hub)
    hub.publish("folder")

    assert window.next(AT_ONCE).seen == hub.seen


def test_there_are_only_so_many_windows_and_a_closed_one_makes_room() -> None:
    hub = Hub(most_windows=2)
    first, _second = opened(hub), opened(hub)

    refused = hub.open()
    first.close()
    first.close()

    assert refused is None
    assert hub.open() is not None
    assert hub.windows == 2


def test_a_wait_ends_with_the_first_name() -> None:
    hub = Hub()
    window = opened(hub)
    heard: list[tuple[str, ...]] = []
    waiting = threading.Thread(target=lambda: heard.append(window.next(PATIENCE).names))
    waiting.start()

    hub.publish("folder")
    waiting.join(PATIENCE)

    assert heard == [("folder",)]


def test_closing_the_hub_ends_every_wait_and_lets_nobody_in() -> None:
    hub = Hub()
    window = opened(hub)
    waiting = threading.Thread(target=lambda: window.next(PATIENCE * 10))
    waiting.start()

    hub.close()
    hub.close()
    waiting.join(PATIENCE)

    assert not waiting.is_alive()
    assert window.closed
    assert hub.open() is None


def test_windows_come_and_go_while_much_is_published() -> None:
    hub = Hub()
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            window = hub.open()
            if window:
                window.next(0.001)
                window.close()

    comers = [threading.Thread(target=come_and_go) for _ in range(4)]
    for one in comers:
        one.start()
    for number in range(2000):
        hub.publish(f"messages-{number % 100}")
    done.set()
    for one in comers:
        one.join(PATIENCE)

    assert hub.windows == 0
