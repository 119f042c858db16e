"""Write docs/gallery.md: cells, the graphs and texts of their reports; --look takes pictures, --check only compares."""

from __future__ import annotations

import argparse
import difflib
import html
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from tapemagic.drawing.elements import svg_of
from tools.gallery_cells import CELLS, Cell

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
LOOKS = ROOT / "build" / "gallery"

INTRODUCTION = """\
# Gallery

Cells under `%%tape` and their reports: from the product of two numbers to the training of a network, with common errors
and the usual causes of `nan`. Below each cell you see its graph, and you can open the text of its report. A notebook
shows the report in tabs, with tables and pictures of the arrays.

In a graph, watched values are blue, and the target is yellow. A box has the name and the value of a result, and after
"grad" its gradient; an arrow has the local derivative. Of two cells in one section, the first one ran before. All begin
with

```python
%load_ext tapemagic
import numpy as np
import tapemagic as tm
```

`make gallery` runs the cells and writes this page.
"""
IMPORTS = "import numpy as np\nimport tapemagic as tm"
IMAGE = re.compile(r'<img alt="Graph of [^"]*"[^>]* src="([^"]*)"')
WIDTHS = (1280, 700)
GROUNDS = {"white": "background:#ffffff;color:#1f1f1f", "dark": "background:#111111;color:#e0e0e0"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

Bundle = Mapping[str, str]


@contextmanager
def plain_shell() -> Iterator[InteractiveShell]:
    """A shell without history, and without the settings of this computer."""
    config = Config()
    config.HistoryManager.enabled = False
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield InteractiveShell.instance(config=config, ipython_dir=folder)
        finally:
            InteractiveShell.clear_instance()


def reports() -> dict[str, Bundle]:
    """The report of each cell by the cell's name, as a MIME bundle."""
    with plain_shell() as shell:
        try:
            return {cell.name: report(shell, cell) for cell in CELLS}
        finally:
            shell.extension_manager.unload_extension("tapemagic")


def report(shell: InteractiveShell, cell: Cell) -> Bundle:
    """The report of a cell, which runs in an empty namespace after its own preparations."""
    shell.reset(new_session=False)
    for source in ("%reload_ext tapemagic", IMPORTS, *cell.before):
        shell.run_cell(source).raise_error()
    with capture_output() as captured:
        result = shell.run_cell(cell.source)
    if not cell.fails:
        result.raise_error()
        if result.result is None or captured.stderr:
            raise RuntimeError(f"the cell {cell.name}: {captured.stderr or 'no report'}")
        bundle: Bundle = result.result._repr_mimebundle_()
        return bundle
    if result.error_in_exec is None:
        raise RuntimeError(f"the cell {cell.name} did not fail")
    [shown] = captured.outputs
    return shown.data  # type: ignore[no-any-return]


def drawing(report: Bundle) -> str:
    """The picture of the graph in a report."""
    image = IMAGE.search(report["text/html"])
    if image is None:
        raise RuntimeError("a report has no picture")
    return svg_of(html.unescape(image[1]))


def document(reports: Mapping[str, Bundle]) -> str:
    """The whole text of docs/gallery.md."""
    return "\n".join([INTRODUCTION, *(section(cell, reports[cell.name]) for cell in CELLS)])


def section(cell: Cell, report: Bundle) -> str:
    """A cell with its report as Markdown."""
    parts = [f"## {cell.title}"]
    parts += [fenced(source, "python") for source in (*cell.before, cell.source)]
    parts.append(f"![The graph of this cell](gallery/{cell.name}.svg)")
    text = fenced(report["text/plain"], "text")
    parts.append(f"<details>\n<summary>The report as text</summary>\n\n{text}\n\n</details>")
    return "\n\n".join(parts) + "\n"


def fenced(text: str, language: str) -> str:
    """Text in a code block."""
    return f"```{language}\n{text}\n```"


def write(reports: Mapping[str, Bundle]) -> None:
    """Write the page and its pictures."""
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir()
    for name, bundle in reports.items():
        (PICTURES / f"{name}.svg").write_text(drawing(bundle) + "\n", encoding="utf-8")
    DOCUMENT.write_text(document(reports), encoding="utf-8")


def difference(reports: Mapping[str, Bundle]) -> str:
    """The lines in which the page differs from the reports of its cells; pictures are not compared."""
    before = DOCUMENT.read_text(encoding="utf-8").splitlines() if DOCUMENT.exists() else []
    now = document(reports).splitlines()
    return "\n".join(difflib.unified_diff(before, now, "docs/gallery.md", "now", lineterm="", n=0))


def look(reports: Mapping[str, Bundle]) -> None:
    """Take a picture of each report as a browser shows it, wide and narrow, on white and on black."""
    from playwright.sync_api import sync_playwright

    LOOKS.mkdir(parents=True, exist_ok=True)
    options = ["--no-sandbox", "--disable-gpu"]
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=options)
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 800})
            for ground, style in GROUNDS.items():
                for name, bundle in reports.items():
                    page.set_content(framed(bundle["text/html"], style))
                    page.screenshot(path=LOOKS / f"{name}-{width}-{ground}.png", full_page=True)
        browser.close()


def framed(page: str, style: str) -> str:
    """A report as a page of its own."""
    style = f"{style};font:14px sans-serif;margin:12px"
    return f'<!doctype html><meta charset="utf-8"><body style="{style}">{page}</body>'


def main() -> int:
    """Write the gallery and take its pictures, or compare the text with the stored one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--look", action="store_true", help=f"write pictures to {LOOKS.relative_to(ROOT)}, too"
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing, and fail if the text is out of date"
    )
    options = parser.parse_args()
    bundles = reports()
    if options.check:
        print(changes := difference(bundles), end="\n" * bool(changes))
        return int(bool(changes))
    write(bundles)
    if options.look:
        look(bundles)
    print(f"{DOCUMENT.relative_to(ROOT)}: {len(bundles)} cells")
    return 0


if __name__ == "__main__":
    sys.exit(main())
