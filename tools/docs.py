"""Build the documentation site in build/docs, with warnings as errors and every link into the site checked.

Its source is put together in build/docs-source: the Markdown of this repository and its notebooks as they lie here, so
that their links hold, and a page of the reference for each public module, from ``__all__`` and the docstrings.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.links import broken_links
from tools.reference import magics_page, module_pages

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "site"
SOURCE = ROOT / "build" / "docs-source"
PAGES = ROOT / "build" / "docs"
CACHE = ROOT / "build" / "docs-cache"
COPIED = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "benchmarks/*.md",
    "benchmarks/*.svg",
    "docs/*.*",
    "docs/gallery/*",
    "docs/teaching/**/*",
    "notebooks/*.ipynb",
    "notebooks/*.md",
    "notebooks/*.svg",
)
"""The files of the repository that the site shows, or to which its pages lead."""


def contents() -> Iterator[tuple[str, bytes]]:
    """The path and the content of each file of the source."""
    for pattern in COPIED:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and ".ipynb_checkpoints" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_bytes()
    for path in sorted(SITE.rglob("*")):
        if path.is_file() and path.name != "toctree.md" and path.suffix != ".pyc":
            yield path.relative_to(SITE).as_posix(), path.read_bytes()
    pages = module_pages()
    toctree = (SITE / "toctree.md").read_text(encoding="utf-8")
    toctree = toctree.replace("API", "\n".join(f"api/{name}" for name in pages))
    if not (ROOT / "notebooks" / "README.md").exists():
        toctree = toctree.replace("notebooks/README\n", "")
    yield "index.md", ((ROOT / "README.md").read_text(encoding="utf-8") + toctree).encode()
    yield "api/magics.rst", magics_page().encode()
    for name, page in pages.items():
        yield f"api/{name}.rst", page.encode()


def write_source() -> None:
    """Write what has changed, so that Sphinx reads no more than that, and remove what is gone."""
    wanted = dict(contents())
    for name, content in wanted.items():
        path = SOURCE / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in SOURCE.rglob("*"):
        if path.is_file() and path.relative_to(SOURCE).as_posix() not in wanted:
            path.unlink()


def sphinx(builder: str, target: Path) -> int:
    """Run one of Sphinx's builders on the source; its exit code."""
    options = [
        "-W",
        "--keep-going",
        "--quiet",
        "-j",
        "2",
        "-d",
        str(CACHE),
    ]
    command = [sys.executable, "-m", "sphinx", "-b", builder, *options, str(SOURCE), str(target)]
    return subprocess.run(command, check=False).returncode


def main() -> int:
    """Build the site, and look for what leads nowhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", action="store_true", help="ask for the pages of others, too")
    parser.add_argument("--fresh", action="store_true", help="keep nothing of the last build")
    options = parser.parse_args()
    if options.fresh:
        for folder in (SOURCE, PAGES, CACHE):
            shutil.rmtree(folder, ignore_errors=True)
    write_source()
    failed = sphinx("html", PAGES)
    for complaint in (broken := broken_links(PAGES)):
        print(complaint)
    if options.links:
        failed = sphinx("linkcheck", PAGES.with_name("docs-links")) or failed
    if failed:
        shutil.rmtree(CACHE, ignore_errors=True)  # pages that were read do not warn a second time
    if not failed and not broken:
        print(f"The site is {(PAGES / 'index.html').relative_to(ROOT)}")
    return int(bool(failed or broken))


if __name__ == "__main__":
    sys.exit(main())
