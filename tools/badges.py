"""Add a badge that opens a notebook on Binder below the title of each lesson; --check changes nothing."""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
COURSE = ROOT / "notebooks"
BADGE = re.compile(r"\[!\[Open on Binder\]\(binder\.svg\)\]\([^)]*\)\n*")
TITLE = re.compile(r"# .+\n*")


def repository() -> str:
    """The owner and the name of the repository on GitHub, from pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        address = tomllib.load(file)["project"]["urls"]["Repository"]
    return str(address).removeprefix("https://github.com/")


def badge(name: str) -> str:
    """The badge of a notebook of the course."""
    path = quote(f"notebooks/{name}", safe="")
    link = f"https://mybinder.org/v2/gh/{repository()}/HEAD?labpath={path}"
    return f"[![Open on Binder](binder.svg)]({link})"


def with_badge(source: str, name: str) -> str:
    """The first cell of a notebook, its badge below its title.

    Raises
    ------
    ValueError
        If the cell does not begin with a title.
    """
    source = BADGE.sub("", source).rstrip("\n")
    title = TITLE.match(source)
    if not title:
        raise ValueError(f"{name} does not begin with a title, as in '# Slopes'")
    rest = source[title.end() :]
    return "\n\n".join(part for part in (title[0].rstrip("\n"), badge(name), rest) if part)


def main() -> int:
    """Write the badges, or name the notebooks that lack theirs."""
    import nbformat

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if a badge is missing"
    )
    options = parser.parse_args()
    failed = False
    for path in sorted(COURSE.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        first = notebook.cells[0]
        badged = with_badge(first.source, path.name)
        if first.source == badged:
            continue
        if options.check:
            print(f"{path.name} lacks its Binder badge: `make notebooks` adds it.")
            failed = True
        else:
            first.source = badged
            nbformat.write(notebook, path)
            print(f"{path.name}: badge written")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
