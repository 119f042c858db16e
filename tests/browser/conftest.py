"""A browser and a JupyterLab for the tests of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.jupyter import Lab, serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
AXE = Path(__file__).resolve().parents[2] / "front_end/node_modules/axe-core/axe.min.js"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out modules as a whole with --dist loadscope, but the lessons one by one."""
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    # Not --dist loadgroup: pytest-xdist 3.8 writes the groups to an attribute that pytest 9.2 no longer has.
    class Modules(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.split("::", maxsplit=1)[0]
            # The tests of other modules share a page, and some use what the test before did there.
            return nodeid if module.endswith("test_course.py") else module

    return Modules(config, log)


def chromium_path() -> str | None:
    """Find a Chromium on the PATH."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def skip_or_fail(reason: str) -> None:
    """Skip a test, or fail it in CI."""
    if os.environ.get("TAPEMAGIC_NO_SKIP"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium without a network."""
    path = chromium_path()
    if path is None:
        skip_or_fail(f"no browser to look with: none of {', '.join(BROWSERS)} is on the PATH")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab with an empty folder of notebooks."""
    with serving(tmp_path_factory.mktemp("lab"), browser) as started:
        yield started


@pytest.fixture(scope="package")
def axe() -> str:
    """The source of axe, which finds what people with disabilities can't use."""
    if not AXE.exists():
        skip_or_fail("axe-core is not here: tools/npm.sh installs it")
    return AXE.read_text(encoding="utf-8")
