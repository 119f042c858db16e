"""The tools that build the documentation site: the reference is complete, and links that lead nowhere are found."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import tapemagic
from tools.links import broken_links
from tools.reference import magics_page, module_pages, public_names


def test_every_public_name_is_in_the_reference() -> None:
    """Each module has all its names in its table, and each name is explained on one page."""
    pages = module_pages()

    assert {"tapemagic", "tapemagic.errors", "tapemagic.nn", "tapemagic.nn.datasets"} <= set(pages)
    for module, page in pages.items():
        for name in public_names(import_module(module)):
            assert f"`{name} <" in page, f"{module}.{name}"
    explained = [line for page in pages.values() for line in page.splitlines() if ".. auto" in line]
    assert len(set(explained)) == len(explained) > len(tapemagic.__all__)


def test_the_reference_names_every_magic() -> None:
    """Cell magics and line magics, with their options."""
    page = magics_page()

    for name in ("%%tape", "%gradient", "%check_gradient", "%tape_graph"):
        assert f"``{name}``\n" in page
    assert "--what-if" in page


def test_the_citation_names_this_version() -> None:
    """The version stands in two files."""
    citation = Path(__file__).resolve().parents[1] / "CITATION.cff"

    assert f"version: {tapemagic.__version__}\n" in citation.read_text()


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    """Pages, files and anchors that are not there; addresses of others are not asked for here."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "picture.svg").write_text("")
    (tmp_path / "index.html").write_text(
        "<p id='here'></p><a href='#here'></a><a href='#there'></a><a href='sub/'></a><a href=''></a>"
        "<a href='sub/a.html#%C3%BC'></a><a href='sub/a.html#b'></a><a href='none.html'></a>"
        "<img src='picture.svg'><img src='other.svg'><img src='data:image/png;base64,x'>"
        "<a href='https://example.org/x#y'></a><a href='mailto:x@example.org'></a>",
        encoding="utf-8",
    )
    (tmp_path / "sub" / "a.html").write_text(
        "<h1 id='ü'></h1><a href='../index.html#here'></a>", encoding="utf-8"
    )
    (tmp_path / "sub" / "index.html").write_text("")

    assert [
        "index.html: #there leads nowhere",
        "index.html: none.html leads nowhere",
        "index.html: other.svg leads nowhere",
        "index.html: sub/a.html#b leads nowhere",
    ] == broken_links(tmp_path)
