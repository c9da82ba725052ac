"""The wheel: what people install works without the checkout it was built from."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.programs import CHECKOUT, PATIENCE

pytestmark = pytest.mark.slow

pytest.importorskip("hatchling")


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    run("-m", "hatchling", "build", "--target", "wheel", "--directory", target, cwd=CHECKOUT)
    return next(target.glob("anchorline-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel unpacked by pip, and nothing else of ours."""
    target = tmp_path_factory.mktemp("installed")
    run(
        "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target, wheel,
        cwd=target,
    )  # fmt: skip
    return target


def files_below(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != ".DS_Store"
    }


@pytest.mark.parametrize("assets", ["templates", "static"])
def test_the_wheel_holds_every_page_and_every_script(wheel: Path, assets: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.namelist()

    held = {
        name.removeprefix(f"app/_assets/{assets}/")
        for name in packed
        if name.startswith(f"app/_assets/{assets}/")
    }

    assert held == files_below(CHECKOUT / assets)
    assert held


def test_the_wheel_holds_the_two_packages_whole_and_no_more(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.startswith("anchorline-")}

    ours = {
        f"{package}/{name}"
        for package in ("app", "compaction")
        for name in files_below(CHECKOUT / package)
    }
    assert {name for name in packed if not name.startswith("app/_assets/")} == ours


def test_the_installed_command_serves_its_own_pages(installed: Path, tmp_path: Path) -> None:
    script = (
        "import sys, urllib.request\n"
        "from http.cookiejar import CookieJar\n"
        "from pathlib import Path\n"
        "from app import paths\n"
        "from app.desktop.host import serving\n"
        "assert paths.assets_dir() == Path('app/_assets').resolve(), paths.assets_dir()\n"
        "browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))\n"
        "with serving(Path(sys.argv[1]), None) as url:\n"
        "    page = browser.open(url).read().decode()\n"
        "    style = browser.open(url.partition('?')[0] + 'static/css/tokens.css').read()\n"
        "assert 'Anchorline' in page and style\n"
        "print('served')\n"
    )

    said = run("-c", script, tmp_path, cwd=installed, PYTHONPATH=str(installed))

    assert said == "served\n"


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    said = run(
        installed / "bin" / "anchorline", "--version", cwd=tmp_path, PYTHONPATH=str(installed)
    )

    assert said.startswith("anchorline ")
