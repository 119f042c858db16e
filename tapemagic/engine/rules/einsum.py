"""Einstein summation, whose derivatives are sums of products of the same form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from tapemagic.engine.registry import (
    composite,
    even_zeros,
    not_differentiable,
    operation,
    vjp_argnums,
)
from tapemagic.engine.tensor.dispatch import apply

LETTERS = ascii_uppercase + ascii_lowercase


def einsum_(*operands: Any, subscripts: str, **options: Any) -> Any:
    """``np.einsum`` with the subscripts as a keyword argument."""
    return np.einsum(subscripts, *operands, **options)


@composite(np.einsum)
def _(*operands: Any, out: None = None, optimize: Any = False, **options: Any) -> Any:
    subscripts, *arrays = operands if isinstance(operands[0], str) else _spelled(operands)
    options |= {"subscripts": subscripts} | ({"optimize": optimize} if optimize else {})
    return apply(operation(einsum_), tuple(arrays), options)


def _spelled(operands: Sequence[Any]) -> list[Any]:
    """Convert the form ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` to letters instead of numbers."""
    count = len(operands) // 2
    subscripts = ",".join(map(_word, operands[1 : 2 * count : 2]))
    if len(operands) % 2:
        subscripts += "->" + _word(operands[-1])
    return [subscripts, *operands[: 2 * count : 2]]


def _word(labels: Iterable[Any]) -> str:
    return "".join("..." if label is Ellipsis else LETTERS[label] for label in labels)


def _parse(subscripts: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """Return a letter for each axis of each operand, and for each axis of the result."""
    joined, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = joined.split(",")
    # An ellipsis is for axes without a letter: letters that the subscripts don't use name these
    # axes.
    unused = [letter for letter in LETTERS if letter not in subscripts]
    hidden = [ndim + 3 - len(t) if "." in t else 0 for t, ndim in zip(terms, ndims, strict=True)]
    dots = "".join(unused[: max(hidden)])
    if not arrow:
        output = "..." + "".join(letter for letter in LETTERS if joined.count(letter) == 1)
    inputs = [t.replace("...", dots[len(dots) - n :]) for t, n in zip(terms, hidden, strict=True)]
    return inputs, output.replace("...", dots)


def _einsum(argnums, g, _z, *operands, subscripts, optimize=False):
    """The gradient of an operand: a sum with the cotangent replacing the operand."""
    inputs, output = _parse(subscripts, [len(getattr(x, "shape", ())) for x in operands])
    return [_swapped(k, g, operands, inputs, output, bool(optimize)) for k in argnums]


def _swapped(
    position: int, g: Any, operands: Sequence[Any], words: list[str], output: str, optimize: bool
) -> Any:
    """Return the gradient of an operand, whose axes have the letters of its word."""
    factors, inputs = list(operands), words[:]
    x, word = factors.pop(position), inputs.pop(position)
    available_letters = set(output).union(*inputs)
    result = ""
    index: list[Any] = [...]
    diagonals = []
    # An axis whose letter occurs nowhere else was summed, or broadcast if its length is 1: the gradient is constant
    # along it, so it isn't computed for each entry. A repeated letter, as in "ii", has a gradient on its diagonal
    # only.
    for axis, (letter, length) in enumerate(zip(word, x.shape, strict=True)):
        first = word.index(letter)
        is_present = first == axis and letter in available_letters and length != 1
        result += letter if is_present else ""
        index.append(
            slice(None) if is_present else None
        )  # the sweep, or the diagonal below, repeats None
        if first < axis:
            shape = [length if i in (first, axis) else 1 for i in range(x.ndim)]
            diagonals.append(np.eye(length, dtype=bool).reshape(shape))
    terms = ",".join(["..." + output, *inputs])
    dx = np.einsum(f"{terms}->...{result}", g, *factors, optimize=optimize)
    dx = dx[tuple(index)] if None in index else dx
    for diagonal in diagonals:
        dx = np.where(diagonal, dx, 0.0)
    return dx


vjp_argnums(einsum_, _einsum, name="einsum", ignores="order")
even_zeros(einsum_)
not_differentiable(np.einsum_path)
