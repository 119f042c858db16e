"""Make docs/animation.gif, a report in JupyterLab whose steps are played and whose slider is moved, and docs/code.png.

Run it as a module, `python -m tools.animation`, from the repository's folder.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.browser.conftest import BROWSERS, OPTIONS
from tests.browser.jupyter import REPORT, serving

TARGET = Path("docs/animation.gif")
LIMIT = 500_000
COLOURS = 128
WIDTH = 760
SETUP = "%load_ext tapemagic\nimport numpy as np"
CELL = "%%tape x y --what-if x=0:4\nx, y = 2.0, 3.0\na = x * y\nz = a + np.sin(a) * x"
PROGRAM = Path("docs/code.png")
DATA = "x, y = np.arange(6.0).reshape(3, 2), np.array([0.1, 0.2, 0.3])\nw, b = np.array([0.5, -0.5]), 0.1"
CODE = "%%tape w b\nerror = np.tanh(x @ w + b) - y\nloss = np.mean(error**2)"
LEFT_OUT = (
    ".jp-Collapser, .jp-InputPrompt, .jp-OutputPrompt, .jp-OutputArea-promptOverlay, .jp-Toolbar, "
    ".tm-bar, .tm-caption"
)
"""The parts of JupyterLab and of the report for which a small picture has no room."""
PICTURE = "470px"
"""The height of the graph."""
BRIEF, LONG = 700, 2200
"""Milliseconds for which a picture stands."""

Frame = tuple[bytes, int]


def main() -> None:
    """Write the animation and the picture; fail if the animation is too large."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"there is no browser here: none of {', '.join(BROWSERS)} is on the PATH")
    with (
        tempfile.TemporaryDirectory() as place,
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=browser, args=OPTIONS) as chromium,
        serving(Path(place), chromium) as lab,
        lab.notebook("animation", [SETUP, CELL, DATA, CODE], width=WIDTH + 60) as page,
    ):
        frames = list(scenes(page))
        Image.open(io.BytesIO(program(page))).quantize(COLOURS).save(PROGRAM, optimize=True)
    save(frames)
    size = TARGET.stat().st_size
    print(f"{TARGET}: {len(frames)} pictures, {size:,} bytes")
    if size > LIMIT:
        sys.exit(f"more than {LIMIT:,} bytes")


def scenes(page: Page) -> Iterator[Frame]:
    """The pictures, each with its time: all steps, a value in full, then the slider to the right and back."""
    page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    cell = page.locator(".jp-CodeCell").nth(1)
    report = cell.locator(REPORT)
    expect(report.get_by_role("tab").first).to_be_visible(timeout=60_000)
    page.set_viewport_size({"width": WIDTH + 60, "height": 1300})
    page.add_style_tag(
        content=f"{LEFT_OUT} {{ display: none !important }} .tapemagic {{ --tm-high: {PICTURE} !important }}"
    )
    cell.scroll_into_view_if_needed()
    yield cell.screenshot(), LONG
    report.get_by_label("First step").click()
    last = int(report.locator(".tm-count").inner_text().rpartition(" ")[2])
    for _ in range(last):
        report.get_by_label("Step forward").click()
        page.wait_for_timeout(250)
        yield cell.screenshot(), BRIEF
    value = report.locator(".tm-picture [data-n^=n]").filter(has_text="a = ").first
    value.click()
    page.mouse.move(0, 0)
    expect(report.locator(".tm-full")).to_be_visible()
    yield cell.screenshot(), LONG
    page.keyboard.press("Escape")
    yield from slid(page, cell, report)


def slid(page: Page, cell: Locator, report: Locator) -> Iterator[Frame]:
    """The pictures of the report while its slider moves."""
    slider = report.get_by_role("slider", name="x").first
    for value in (2.2, 2.4, 2.7, 3.0, 3.3, 3.0, 2.6, 2.2, 2.0):
        before = report.locator(".tm-head").inner_text()
        slider.fill(str(value))
        slider.dispatch_event("change")
        expect(report.locator(".tm-head")).not_to_have_text(before)
        page.wait_for_timeout(150)
        yield cell.screenshot(), BRIEF // 2


def program(page: Page) -> bytes:
    """The picture of a program of derivatives, in which the lines of a step of the reverse sweep light up."""
    cell = page.locator(".jp-CodeCell").nth(3)
    report = cell.locator(REPORT)
    report.get_by_role("tab", name="Code").click()
    expect(report.locator("[data-k]").first).to_be_visible()
    while not report.locator(".tm-words").get_by_text("tanh passes back").count():
        report.get_by_label("Step back").click()
    page.mouse.move(0, 0)
    return cell.screenshot()


def save(frames: list[Frame]) -> None:
    """Write pictures as a GIF with one palette, so that only what changes is stored again."""
    pictures = [Image.open(io.BytesIO(data)).convert("RGB") for data, _ in frames]
    width = WIDTH
    height = max(round(each.height * width / each.width) for each in pictures)
    pages = []
    for each in pictures:
        page = Image.new("RGB", (width, height), "white")
        page.paste(each.resize((width, round(each.height * width / each.width)), Image.LANCZOS))
        pages.append(page)
    some = pages[:: len(pages) // 5]  # forward and in reverse, with all colours of both
    sheet = Image.new("RGB", (width, height * len(some)))
    for k, page in enumerate(some):
        sheet.paste(page, (0, k * height))
    palette = Image.new("P", (1, 1))
    palette.putpalette(
        colours(sheet, Image.Quantize.MEDIANCUT) + colours(sheet, Image.Quantize.MAXCOVERAGE)
    )
    first, *others = [page.quantize(palette=palette, dither=Image.Dither.NONE) for page in pages]
    times = [time for _, time in frames]
    first.save(TARGET, save_all=True, append_images=others, duration=times, loop=0, optimize=True)


def colours(picture: Image.Image, method: Image.Quantize) -> list[int]:
    """Half of a palette: by the median cut the frequent colours, by the largest coverage the rare ones, too."""
    return picture.quantize(COLOURS // 2, method).getpalette("RGB")


if __name__ == "__main__":
    main()
