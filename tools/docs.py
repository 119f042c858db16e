"""Build the documentation site in build/docs; warnings and broken links are errors.

Its source is copied to build/docs-source: the Markdown files and notebooks of this repository, under the same paths so
that their links work, and a page of the reference for each public module, from ``__all__`` and the docstrings.
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
"""The files of the repository that the site shows or links to."""


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
    """Copy the files that changed, and remove those that are gone."""
    files = dict(contents())
    for name, content in files.items():
        path = SOURCE / name
        # Sphinx reads every file again whose time is new.
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in SOURCE.rglob("*"):
        if path.is_file() and path.relative_to(SOURCE).as_posix() not in files:
            path.unlink()


def sphinx(builder: str, target: Path) -> int:
    """Run a Sphinx builder on the source, and return its exit status."""
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
    """Build the site, and check its links."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", action="store_true", help="also check links to other sites")
    parser.add_argument("--fresh", action="store_true", help="delete the last build first")
    options = parser.parse_args()
    if options.fresh:
        for folder in (SOURCE, PAGES, CACHE):
            shutil.rmtree(folder, ignore_errors=True)
    write_source()
    failed = sphinx("html", PAGES)
    for line in (broken := broken_links(PAGES)):
        print(line)
    if options.links:
        failed = sphinx("linkcheck", PAGES.with_name("docs-links")) or failed
    if failed:
        shutil.rmtree(CACHE, ignore_errors=True)  # pages that were read do not warn a second time
    if not failed and not broken:
        print(f"The site is {(PAGES / 'index.html').relative_to(ROOT)}")
    return int(bool(failed or broken))


if __name__ == "__main__":
    sys.exit(main())
