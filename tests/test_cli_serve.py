"""`anchorline serve`, as a program: one line with the address, then pages, then a clean end."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.programs import URL, program, said, status_of, stopped

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stops programs by signals")


def test_one_line_with_the_address_is_printed_and_nothing_else(tmp_path: Path) -> None:
    with program("serve", tmp_path, "--port", "0") as anchorline:
        line = said(anchorline)
        stopped(anchorline)
        rest, complaints = anchorline.communicate()

    assert URL.fullmatch(line.strip())
    assert (rest, complaints) == ("", "")


def test_the_address_lets_in_and_the_bare_one_does_not(tmp_path: Path) -> None:
    with program("serve", tmp_path) as anchorline:
        url = said(anchorline).strip()

        with_key, without = status_of(url), status_of(url.partition("?")[0])

    assert with_key in (200, 302, 303)
    assert without == 403


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_being_asked_to_end_is_a_success_and_gives_the_port_back(
    by: signal.Signals, tmp_path: Path
) -> None:
    with program("serve", tmp_path) as anchorline:
        url = said(anchorline).strip()
        status_of(url)

        code = stopped(anchorline, by)

    assert code == 0
    with pytest.raises(OSError, match="refused"):
        status_of(url)


def test_started_with_nohup_it_outlives_the_terminal(tmp_path: Path) -> None:
    with program("serve", tmp_path, nohup=True) as anchorline:
        url = said(anchorline).strip()
        anchorline.send_signal(signal.SIGHUP)

        answer = status_of(url)
        code = stopped(anchorline)

    assert answer in (200, 302, 303)
    assert code == 0


def test_the_port_that_was_asked_for_is_taken(tmp_path: Path) -> None:
    with program("serve", tmp_path) as first:
        port = said(first).split(":")[2].split("/")[0]

        with program("serve", tmp_path, "--port", port) as second:
            code = second.wait(60)
            _, complaint = second.communicate()

    assert code == 2
    assert complaint.startswith(f"anchorline: Port {port} cannot be used")
    assert complaint.count("\n") == 1


def test_two_programs_on_one_folder_do_not_share_a_key(tmp_path: Path) -> None:
    with program("serve", tmp_path) as first, program("serve", tmp_path) as second:
        one, other = said(first).strip(), said(second).strip()

        crossed = status_of(other.partition("?")[0] + "?" + one.partition("?")[2])

    assert crossed == 403
