"""A browser, and a JupyterLab, for all tests of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.jupyter import Lab, serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(__file__).resolve().parents[2] / "front_end/node_modules/axe-core/axe.min.js"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder; each module is one group of pytest-xdist, but every lesson is its own."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if item.path.name != "test_course.py":
                item.add_marker(pytest.mark.xdist_group(item.path.stem))


def found() -> str | None:
    """The path of a Chromium, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def missing(reason: str) -> None:
    """Skip a test, or fail where that is forbidden."""
    if os.environ.get("TAPEMAGIC_NO_SKIP"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium without a network."""
    path = found()
    if path is None:
        missing(f"no browser to look with: none of {', '.join(BROWSERS)} is on the PATH")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab of our own."""
    with serving(tmp_path_factory.mktemp("lab"), browser) as started:
        yield started


@pytest.fixture(scope="package")
def axe() -> str:
    """The source of axe, which looks for what people with disabilities cannot use."""
    if not AXE.exists():
        missing("axe-core is not here: tools/npm.sh installs it")
    return AXE.read_text(encoding="utf-8")
