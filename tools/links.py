"""Find links of a site that lead to a page, a file or an anchor which is not there."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and what they may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where a tag leads, and by which name it is reached."""
        found = dict(attrs)
        if name := found.get("id") or (tag == "a" and found.get("name")):
            self.anchors.add(str(name))
        for key in ("href", "src"):
            if (value := found.get(key)) is not None:
                self.links.append(value)


def broken_links(folder: Path) -> list[str]:
    """A line for each link of the pages below a folder that stays on the site and leads nowhere."""
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
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if target in pages:
        return unquote(parts.fragment) in pages[target].anchors
    return target.exists()
