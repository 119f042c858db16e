"""Find broken links of a site: the page, file or anchor does not exist."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the link and the anchor of a tag."""
        attributes = dict(attrs)
        if name := attributes.get("id") or (tag == "a" and attributes.get("name")):
            self.anchors.add(str(name))
        for key in ("href", "src"):
            if (value := attributes.get(key)) is not None:
                self.links.append(value)


def broken_links(folder: Path) -> list[str]:
    """List the broken links into the site, in the pages below a folder, each as a line of text."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")
    }
    return sorted(
        {
            f"{path.relative_to(folder.resolve())}: {link} leads nowhere"
            for path, page in pages.items()
            for link in page.links
            if not _leads_somewhere(link, path, pages)
        }
    )


def _leads_somewhere(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    # A link to a folder is one to its index.html, as web servers resolve it.
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if target in pages:
        return unquote(parts.fragment) in pages[target].anchors
    return target.exists()
