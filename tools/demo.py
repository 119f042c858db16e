"""Run the quickstart in a kernel, print its %%tape reports, and write a page to look at."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

from jinja2 import DictLoader
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

from notebooks import COURSE, ROOT, clean, execute

QUICKSTART = COURSE / "01-quickstart.ipynb"
PAGE = ROOT / "build" / "demo" / "quickstart.html"

# nbconvert's own page waits for scripts from the network: only formulas need one, and may wait.
OFFLINE = """
{% extends 'lab/index.html.j2' %}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mathjax %}
{{ super() | replace('<script src', '<script defer src') }}
{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
"""


def reports(notebook: Any) -> list[tuple[str, str]]:
    """The source and the text of every %%tape cell that shows something."""
    return [
        (cell.source, output.data["text/plain"])
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.lstrip().startswith("%%tape")
        for output in cell.outputs
        if "text/plain" in output.get("data", {})
    ]


def write_page(notebook: Any) -> None:
    """The notebook as a page of HTML which needs no network."""
    exporter = HTMLExporter(
        extra_loaders=[DictLoader({"offline.html.j2": OFFLINE})], template_file="offline.html.j2"
    )
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": "tapemagic quickstart"}})
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(html, encoding="utf-8")


def main() -> int:
    """Print what the notebook's tapes recorded, and where to look next."""
    print(f"Running {QUICKSTART.relative_to(ROOT)} in a kernel ...", flush=True)
    try:
        notebook = clean(execute(QUICKSTART))
    except CellExecutionError as error:
        print(error)
        return 1
    shown = reports(notebook)
    for number, (source, text) in enumerate(shown, start=1):
        print(f"\n{f' {number} of {len(shown)} ':═^78}\n")
        print(textwrap.indent(source.strip(), "    "), end="\n\n")
        print(text)
    write_page(notebook)
    print(f"\n{'═' * 78}\n")
    print(f"{len(shown)} %%tape reports. The same as a page: {PAGE.relative_to(ROOT)}")
    print("To try it live, with tabs and graphs to click: make lab")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
