"""Drive JupyterLab in a browser as a reader does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

import tapemagic
from tools.fonts import font_environment

EXTENSION = Path(tapemagic.__file__).parent / "labextension"
OPTIONS = [
    "--no-browser", "--allow-root", "--expose-app-in-browser", "--ip=127.0.0.1", "--ServerApp.port_retries=0",
    "--ServerApp.password=", "--IdentityProvider.token=",
]  # fmt: skip
NO_NEWS = '{"fetchNews": "false", "checkForUpdates": false}'
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
HEIGHT = 1000
WAIT = 90_000
"""Limit for the start of a kernel or of JupyterLab on a busy machine, in milliseconds."""
NOISE = ("Could not restore the debugger state",)
"""Messages of JupyterLab in the console when a kernel is shut down early."""
PATIENCE = 15_000
"""Limit for anything else, in milliseconds."""

# Before the kernel is ready, JupyterLab would ask in a dialogue which kernel to use.
RUN_ALL = """() => {
    const { commands, shell } = window.jupyterapp;
    const run = async () => {
        await shell.currentWidget.sessionContext.ready;
        await commands.execute('notebook:run-all-cells');
    };
    const late = new Promise((_, fail) => setTimeout(() => fail('still running'), 300000));
    return Promise.race([run(), late]);
}"""
SET_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
THEME_SET = "light => document.body.dataset.jpThemeLight === String(light)"
ASK = """async expression => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const message = { code: '', user_expressions: { it: expression }, store_history: false };
    const { content } = await kernel.requestExecute(message).done;
    const { it } = content.user_expressions;
    if (it.status !== 'ok') throw new Error(`${it.ename}: ${it.evalue}`);
    return it.data['text/plain'];
}"""
STARTED = "() => window.jupyterapp?.restored.then(() => true)"
OPEN = """async path => {
    const { commands, shell } = window.jupyterapp;
    const widget = await commands.execute('docmanager:open', { path, factory: 'Notebook' });
    await widget.context.ready;
    await widget.sessionContext.ready;
}"""
# Closing a tab by its button would ask whether to save.
CLOSE = "() => window.jupyterapp.shell.currentWidget.dispose()"
SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"
MODELS = """async () => {
    const { rendermime } = window.jupyterapp.shell.currentWidget.content;
    const mimeType = 'application/vnd.jupyter.widget-view+json';
    const renderer = rendermime.createRenderer(mimeType);
    const manager = await renderer._manager.promise;
    return (await Promise.all(Object.values(manager._models))).length;
}"""
IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
REPORT = ".jp-OutputArea-output .tapemagic"


@dataclass
class Watch:
    """Collect the errors on the pages of a browser window.

    Attributes
    ----------
    troubles : list of str
        Errors in the console, and requests that would leave this machine (they are held back).
    """

    troubles: list[str] = field(default_factory=list)

    def look_at(self, context: BrowserContext) -> None:
        """Watch all pages of a window."""
        context.route(_leaves, lambda route: route.abort())
        context.on("request", lambda request: self._asked(request.url))
        context.on("console", lambda said: self._said(said.type, said.text, said.location))
        context.on("weberror", lambda error: self.troubles.append(f"raised: {error.error}"))

    def _asked(self, address: str) -> None:
        if _leaves(address):
            self.troubles.append(f"asked for {address}")

    def _said(self, kind: str, text: str, location: Any) -> None:
        if kind == "error":
            self.troubles.append(f"console: {text} ({location['url']})")


def _leaves(address: str) -> bool:
    """Return True if a request leaves this machine."""
    parts = urlsplit(address)
    inside = parts.hostname in {"127.0.0.1", "localhost"}
    return not inside and parts.scheme not in {"data", "blob", "about", "file"}


@dataclass
class Window:
    """A browser window that shows JupyterLab, and what goes wrong in it."""

    context: BrowserContext
    page: Page
    watch: Watch
    theme: str = ""


@dataclass
class Lab:
    """A JupyterLab server with its folder of notebooks, and a browser.

    Attributes
    ----------
    address : str
    folder : Path
        Where its notebooks are.
    data : Path
        Where it keeps which notebooks are trusted.
    chromium : Browser
    """

    address: str
    folder: Path
    data: Path
    chromium: Browser
    _free: Window | None = field(default=None, init=False)

    def write(self, name: str, cells: Sequence[str]) -> Path:
        """Write a new notebook into the folder."""
        notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, path := self.folder / f"{name}.ipynb")
        return path

    def trust(self, path: Path) -> None:
        """Sign a notebook, as saving it in this Lab does."""
        NotebookNotary(data_dir=str(self.data)).sign(nbformat.read(path, as_version=4))

    @contextmanager
    def opened(
        self,
        path: Path,
        *,
        run: bool = True,
        width: int = 1280,
        theme: str = "light",
        allowed: Sequence[str] = (),
    ) -> Iterator[Page]:
        """Open a notebook of the folder; after the test, fail if anything went wrong in its window.

        Parameters
        ----------
        path : Path
        run : bool, optional
            Whether to run all cells.
        width : int, optional
            Of the window, in pixels.
        theme : {'light', 'dark'}, optional
        allowed : sequence of str, optional
            Words in errors of the console that the test provokes on purpose.
        """
        # Loading JupyterLab costs seconds of CPU, so one window shows notebook after notebook. A second
        # window opens only inside the block of another; a window in which a test failed isn't reused.
        window, self._free = self._free or self._new_window(), None
        page, watch = window.page, window.watch
        watch.troubles.clear()
        try:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            if theme != window.theme:
                page.evaluate(SET_THEME, THEMES[theme])
                page.wait_for_function(THEME_SET, arg=theme == "light")
                window.theme = theme
            page.evaluate(OPEN, path.relative_to(self.folder).as_posix())
            page.locator(IDLE).wait_for(state="attached", timeout=WAIT)
            if run:
                run_all(page)
            yield page
            page.evaluate(SHUT_DOWN)
            troubles = [*watch.troubles]
            page.evaluate(CLOSE)
            page.locator(".jp-Notebook").wait_for(state="detached")
        except BaseException:
            window.context.close()
            raise
        if self._free is None:
            self._free = window
        else:
            window.context.close()
        troubles = [
            each for each in troubles if not any(word in each for word in (*NOISE, *allowed))
        ]
        assert [] == troubles, "\n".join(troubles)

    def _new_window(self) -> Window:
        """Open a window with an empty JupyterLab."""
        context = self.chromium.new_context(device_scale_factor=1.5)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=self.address)
        watch = Watch()
        watch.look_at(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(f"{self.address}/lab?reset")
        page.wait_for_function(STARTED, timeout=WAIT)
        return Window(context, page, watch)

    @contextmanager
    def notebook(self, name: str, cells: Sequence[str], **options: Any) -> Iterator[Page]:
        """Open a new notebook with some cells. See `opened`."""
        with self.opened(self.write(name, cells), **options) as page:
            yield page


def run_all(page: Page) -> None:
    """Run all cells of the open notebook, to their ends."""
    page.evaluate(RUN_ALL)
    page.locator(IDLE).wait_for(state="attached", timeout=WAIT)


def report_of(page: Page, index: int) -> Locator:
    """The report of a cell, scrolled to; the first cell is number 0."""
    cell = page.locator(".jp-CodeCell").nth(index)
    cell.scroll_into_view_if_needed()
    report = cell.locator(REPORT)
    expect(report.get_by_role("tab").first).to_be_visible(timeout=WAIT)
    return report


def ask(page: Page, expression: str) -> str:
    """The value of an expression in the notebook's kernel, as Python writes it."""
    answer: str = page.evaluate(ASK, expression)
    return answer


def models(page: Page) -> int:
    """How many widget models the open notebook has in the browser."""
    count: int = page.evaluate(MODELS)
    return count


@contextmanager
def serving(place: Path, chromium: Browser) -> Iterator[Lab]:
    """Start a JupyterLab with an empty folder of notebooks, default settings, and the DejaVu fonts."""
    folder = place / "work"
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        name: str(place / name)
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    options = [*OPTIONS, f"--port={port}", f"--ServerApp.root_dir={folder}"]
    # The extension of this checkout, whatever is installed beside JupyterLab.
    extensions = place / "extensions"
    extensions.mkdir()
    (extensions / "tapemagic").symlink_to(EXTENSION)
    options.append(f"--LabApp.extra_labextensions_path={extensions}")
    news = Path(settings["JUPYTER_CONFIG_DIR"], "lab/user-settings/@jupyterlab/apputils-extension")
    news.mkdir(parents=True)
    (news / "notification.jupyterlab-settings").write_text(NO_NEWS)
    log = place / "server.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=os.environ | settings | font_environment("dejavu", place),
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status", server, log)
            data = Path(settings["JUPYTER_DATA_DIR"])
            yield Lab(f"http://127.0.0.1:{port}", folder, data, chromium)
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers; if it doesn't, fail and show its log."""
    end = time.monotonic() + WAIT / 1e3
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310 -- our own http address
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")
