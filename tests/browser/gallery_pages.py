"""The reports of the gallery's cells as widgets, shown in a page without a notebook."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

from ipywidgets.widgets import widget as widgets
from playwright.sync_api import Locator, Page

from tapemagic.report.live.widget import VIEW
from tools.gallery import plain_shell, report
from tools.gallery_cells import CELLS

STATIC = Path(__file__).resolve().parents[2] / "tapemagic" / "report" / "live" / "static"
SHOW = """async ({ script, css, traits, ground }) => {
    document.documentElement.lang = 'en';
    document.title = 'a report';
    document.body.style = ground;
    const style = document.createElement('style');
    style.textContent = css;
    const place = document.createElement('main');
    document.body.replaceChildren(style, place);
    const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const { default: { render } } = await import(address);
    const model = { get: name => traits[name], on() {}, off() {}, send() {} };
    await render({ model, el: place });
}"""
GROUNDS = {
    "light": "background:#ffffff;color:#1f1f1f;margin:8px",
    "dark": "background:#111111;color:#e0e0e0;margin:8px",
}


@dataclass(frozen=True)
class Traits:
    """What a widget has of a report."""

    content: str
    answers: dict[str, str]


def gallery() -> dict[str, Traits]:
    """For each cell of the gallery, by its name, what the widget of its report has."""
    found = {}
    with warnings.catch_warnings(), plain_shell() as shell:
        warnings.simplefilter("default")  # as in a notebook
        for cell in CELLS:
            shown = report(shell, cell)
            model = widgets._instances[shown[VIEW]["model_id"]]
            found[cell.name] = Traits(model.content, dict(model.answers))
        shell.extension_manager.unload_extension("tapemagic")
    return found


def show(page: Page, traits: Traits, theme: str = "light") -> Locator:
    """Show a report in a page, whose kernel does not answer."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.evaluate(
        SHOW,
        {
            "script": (STATIC / "report.js").read_text(encoding="utf-8"),
            "css": (STATIC / "report.css").read_text(encoding="utf-8"),
            "traits": {"content": traits.content, "answers": traits.answers},
            "ground": GROUNDS[theme],
        },
    )
    return page.locator(".tapemagic")
