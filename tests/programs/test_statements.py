"""The statements of a source: what each assigns, and whether a part of it runs several times."""

from __future__ import annotations

import pytest

from tapemagic.programs.text.statements import statements_in

NAMES = {
    "y = x": ("y",),
    "y, (z, *rest), a[k], b.c = x": ("y", "z", "rest"),
    "a[(k := 1)] = x": ("k",),
    "y = [\n    1,\n    (z := 2),\n]": ("y", "z"),
    "while (z := f()) > 0:\n    pass": ("z",),
    "assert (z := 1)": ("z",),
    "with f() as (y, z):\n    pass": ("y", "z"),
    "for k, v in (z := x):\n    y = k": ("k", "v"),
    "y += 1": ("y",),
}


@pytest.mark.parametrize(("text", "names"), NAMES.items(), ids=NAMES)
def test_the_names_that_a_statement_assigns(text: str, names: tuple[str, ...]) -> None:
    """A compound statement assigns its own names, not those of the statements inside it."""
    assert statements_in(text.splitlines(keepends=True))[1].names == names


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("y = [f(x) for x in xs]", True),
        ("y = f(\n    {\n        k: x\n        for k, x in xs\n    }\n)", True),
        ("return sum(f(x) for x in xs)", True),
        ("y = before(x)", False),
        ("if any(f(x) for x in xs):\n    pass", False),
        ("for x in [f(y) for y in ys]:\n    pass", False),
    ],
)
def test_statements_of_which_a_part_repeats(text: str, repeats: bool) -> None:
    """A comprehension anywhere in the value of a statement may repeat a part of it."""
    lines = [f"    {line}\n" for line in text.split("\n")]
    assert statements_in(lines)[1].repeats is repeats
