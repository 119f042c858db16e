"""The programs of docs/from-*.md: ours give the text below them, and other libraries the same numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
MODULES = {"autograd": "autograd", "jax": "jax", "pytorch": "torch"}
BLOCK = re.compile(r"```(?:python|text)\n(.*?)```", re.DOTALL)

SECTIONS = {
    name: [
        [heading.partition("\n")[0], *BLOCK.findall(heading)]
        for heading in (DOCS / f"from-{name}.md").read_text().split("\n## ")[1:]
    ]
    for name in MODULES
}
"""For each page, the heading and the blocks of each section: theirs, ours, the result."""


def value_of(*blocks: str) -> Any:
    """Run blocks in their order; the value of the last expression."""
    names: dict[str, Any] = {}
    tree = ast.parse("\n".join(blocks))
    last: Any = tree.body.pop()
    exec(compile(tree, "<page>", "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), "<page>", "eval"), names)  # noqa: S307


def numbers(value: Any) -> Iterator[Any]:
    """The arrays in a result."""
    if isinstance(value, dict):
        value = tuple(value[key] for key in sorted(value))
    if isinstance(value, tuple):
        for part in value:
            yield from numbers(part)
    else:
        yield value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)


def test_pages_have_the_same_programs() -> None:
    """Each page shows the ten programs, with the same code of ours."""
    pages = [[(heading, *blocks[1:]) for heading, *blocks in page] for page in SECTIONS.values()]

    assert pages[0] == pages[1] == pages[2]
    assert len(pages[0]) == 11


@pytest.mark.parametrize("number", range(1, 11))
def test_ours(number: int) -> None:
    """Our program gives the text below it."""
    imports, program = SECTIONS["jax"][0], SECTIONS["jax"][number]

    assert repr(value_of(imports[2], program[2])) == program[3].rstrip("\n")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the libraries themselves
@pytest.mark.parametrize("number", range(1, 11))
@pytest.mark.parametrize("name", MODULES)
def test_theirs(name: str, number: int) -> None:
    """Their program, where the library is installed, gives the same numbers."""
    pytest.importorskip(MODULES[name])
    imports, program = SECTIONS[name][0], SECTIONS[name][number]
    ours = value_of(imports[2], program[2])

    theirs = value_of(imports[1], program[1])

    for mine, other in zip(numbers(ours), numbers(theirs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9)
