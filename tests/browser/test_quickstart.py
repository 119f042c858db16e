"""The quickstart notebook in JupyterLab, looked at and clicked like a reader does it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
QUICKSTART = ROOT / "notebooks" / "01-quickstart.ipynb"
SCREENSHOTS = ROOT / "build" / "screenshots"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SERVER_OPTIONS = [
    "--no-browser",
    "--allow-root",
    "--expose-app-in-browser",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--ServerApp.password=",
    "--IdentityProvider.token=",
]
# Too early, before the kernel is there, a dialogue would ask which kernel is meant.
RUN_ALL = """() => {
    const { commands, shell } = window.jupyterapp;
    const run = async () => {
        await shell.currentWidget.sessionContext.ready;
        await commands.execute('notebook:run-all-cells');
    };
    const late = new Promise((_, fail) => setTimeout(() => fail('still running'), 120000));
    return Promise.race([run(), late]);
}"""
TROUBLE = ", ".join(
    f".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.{kind}']"
    for kind in ("error", "stderr")
)
# A picture as such has a size of its own, an inline drawing has shapes.
DRAWN = "image => image.naturalWidth > 100 || image.querySelectorAll('path, polygon').length > 3"
NO_NEWS = '{"fetchNews": "false", "checkForUpdates": false}'


@pytest.fixture
def browser() -> str:
    """The path of a Chromium; without one the test is skipped, or fails where that is forbidden."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        reason = f"no browser to look with: none of {', '.join(BROWSERS)} is on the PATH"
        if os.environ.get("TAPEMAGIC_NO_SKIP"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab of our own, with a copy of the quickstart and no settings."""
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(QUICKSTART, work)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        name: str(tmp_path / name)
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    options = [*SERVER_OPTIONS, f"--port={port}", f"--ServerApp.root_dir={work}"]
    news = Path(settings["JUPYTER_CONFIG_DIR"], "lab/user-settings/@jupyterlab/apputils-extension")
    news.mkdir(parents=True)
    (news / "notification.jupyterlab-settings").write_text(NO_NEWS)
    log = tmp_path / "server.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=os.environ | settings,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            wait_for(f"http://127.0.0.1:{port}/api/status", server, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 90) -> None:
    """Return when the server answers; fail with its log when it does not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310 -- our own http address
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")


@pytest.fixture
def page(browser: str, lab: str) -> Iterator[Page]:
    """The quickstart, opened and run to its end, in a browser cut off from the network."""
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=BROWSER_OPTIONS)
        page = chromium.new_page(viewport={"width": 1200, "height": 1000}, device_scale_factor=1.5)
        page.route(lambda url: not url.startswith(lab), lambda route: route.abort())
        page.goto(f"{lab}/lab/tree/{QUICKSTART.name}?reset")
        idle = page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        idle.wait_for(timeout=90_000)
        page.evaluate(RUN_ALL)
        idle.wait_for(timeout=90_000)
        yield page
        chromium.close()


def turn_to(report: Locator, title: str) -> Locator:
    """The page of a report's tab, after a click on its title."""
    report.locator(".lm-TabBar-tab", has_text=title).click()
    shown = report.locator(".widget-tab-contents > :not(.lm-mod-hidden)")
    expect(shown).to_have_count(1)
    return shown


def keep(report: Locator, name: str) -> None:
    """A picture of the whole report, for people to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    area = report.locator("xpath=ancestor::div[contains(@class, 'jp-OutputArea-output')][1]")
    area.screenshot(path=SCREENSHOTS / f"{name}.png")


def whole(report: Locator) -> bool:
    """Whether the verdict and the tabs stay where they are: what is too long is scrolled inside its tab."""
    area = report.locator("xpath=ancestor::div[contains(@class, 'jp-OutputArea-output')][1]")
    return bool(
        area.evaluate("area => area.scrollHeight <= Math.min(area.clientHeight, innerHeight)")
    )


def test_every_tab_shows_what_it_says(page: Page) -> None:
    """The first report has a tab of each face: tables, and the graph as a picture with words."""
    assert [] == page.locator(TROUBLE).all_text_contents()

    report = page.locator(".jp-OutputArea-output .widget-tab").first
    report.scroll_into_view_if_needed(timeout=30_000)

    variables = turn_to(report, "Variables").locator("table")
    expect(variables).to_be_visible()
    expect(variables).to_contain_text("watched")
    keep(report, "variables")

    graph = turn_to(report, "Graph").get_by_role("img", name="Graph of the recorded operations")
    expect(graph).to_be_visible()
    assert graph.evaluate(DRAWN)
    assert whole(report)
    keep(report, "graph")

    gradients = turn_to(report, "Gradients").locator("table")
    expect(gradients).to_be_visible()
    expect(gradients).to_contain_text("6.0")
    keep(report, "gradients")

    cell = page.locator(".jp-CodeCell", has_text="g = x1 * x2 * np.sin(x1)").first
    cell.scroll_into_view_if_needed(timeout=30_000)
    picture = cell.get_by_role("img", name="Graph of the recorded operations")
    expect(picture).to_be_visible(timeout=30_000)
    cell.screenshot(path=SCREENSHOTS / "cell.png")
