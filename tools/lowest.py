"""Print the lowest versions that pyproject.toml allows with an extra, as constraints for pip."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads(
    (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]
OWN = re.compile(rf"{PROJECT['name']}\[(?P<extra>\w+)\]")
BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[^]]*\])?\s*(>=|~=)\s*(?P<version>[\w.]+)")


def requirements(extra: str) -> Iterator[str]:
    """Iterate over the requirements of an extra, including those of the extras that it names."""
    for requirement in PROJECT["optional-dependencies"][extra]:
        own = OWN.match(requirement)
        yield from requirements(own["extra"]) if own else [requirement]


def main(extra: str) -> None:
    """Print a line ``name==version`` for each direct dependency that has a lower bound."""
    for requirement in [*PROJECT["dependencies"], *requirements(extra)]:
        if bound := BOUND.match(requirement):
            print(f"{bound['name']}=={bound['version']}")


if __name__ == "__main__":
    main(sys.argv[1])
