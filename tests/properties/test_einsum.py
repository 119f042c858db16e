"""Einstein sums and tensor products with any letters."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.properties.laws import check_multilinear
from tests.properties.strategies import Shape, arrays, shapes, smaller, whole

pytestmark = pytest.mark.thorough

LETTERS = "ijkl"


@st.composite
def sums(draw: st.DrawFn, most: int = 3) -> tuple[str, list[Any]]:
    """Subscripts, with operands to match: letters that repeat, axes of length 1, ellipses."""
    lengths = {letter: draw(st.sampled_from([2, 3, 1, 0])) for letter in LETTERS}
    dots = draw(shapes(most=2))
    terms, operands = [], []
    for k in range(draw(st.integers(1, most))):
        word = draw(st.text(LETTERS, max_size=3))
        there = word[: draw(st.integers(0, len(word)))] if draw(st.booleans()) else None
        term, shape = _term(draw, word, there, lengths, dots)
        terms.append(term)
        operands.append(draw(arrays(shape, seed=k)))
    return ",".join(terms) + draw(_outputs(terms)), operands


def _term(
    draw: st.DrawFn, word: str, before: str | None, lengths: dict[str, int], dots: Shape
) -> tuple[str, Shape]:
    """A term and its operand's shape; an ellipsis stands behind `before`, if that is not None."""
    shape = tuple(lengths[letter] for letter in word)
    if before is None:
        return word, shape
    hidden = draw(smaller(dots))
    cut = len(before)
    return f"{before}...{word[cut:]}", shape[:cut] + hidden + shape[cut:]


def _outputs(terms: list[str]) -> st.SearchStrategy[str]:
    """No output, or any of the letters in any order, with the ellipsis if there is one."""
    letters = sorted({letter for term in terms for letter in term if letter != "."})
    chosen = st.lists(st.sampled_from(letters), unique=True) if letters else st.just([])
    dotted = any("..." in term for term in terms)
    explicit = st.builds(_with_dots, chosen, st.integers(0, 4) if dotted else st.none())
    return st.just("") | explicit


def _with_dots(letters: list[str], place: int | None) -> str:
    """An explicit output, with an ellipsis in front of the letter at `place`."""
    word = list(letters)
    if place is not None:
        word.insert(place, "...")
    return "->" + "".join(word)


def _same_kind(operands: list[Any]) -> list[Any]:
    """The operands, all complex if one of them is."""
    kind = np.result_type(*operands)
    return [whole(np.empty(np.shape(x), kind), k) for k, x in enumerate(operands)]


@given(sums(), st.sampled_from([False, True, "optimal"]))
def test_einsum(drawn: tuple[str, list[Any]], optimize: Any) -> None:
    """A sum of products is linear in each factor, and so is its derivative."""
    subscripts, operands = drawn

    check_multilinear(
        lambda *xs: np.einsum(subscripts, *xs, optimize=optimize), *_same_kind(operands)
    )


@given(sums(most=2))
def test_einsum_with_numbers(drawn: tuple[str, list[Any]]) -> None:
    """The form with lists of numbers in the place of letters."""
    subscripts, operands = drawn
    terms, arrow, output = subscripts.partition("->")
    lists = [_numbers(term) for term in terms.split(",")]
    tail = [_numbers(output)] if arrow else []

    def call(*xs: Any) -> Any:
        return np.einsum(*(part for pair in zip(xs, lists, strict=True) for part in pair), *tail)

    check_multilinear(call, *_same_kind(operands), order=1)


def _numbers(term: str) -> list[Any]:
    """The letters of a term as numbers."""
    letters = term.replace("...", ".")
    return [... if letter == "." else string.ascii_letters.index(letter) for letter in letters]


@given(st.data())
def test_einsum_of_one_array_thrice(data: st.DataObject) -> None:
    """The same tensor as several operands gets the gradients of all."""
    n = data.draw(st.sampled_from([2, 3, 1]))
    terms = [data.draw(st.text(LETTERS, min_size=2, max_size=2)) for _ in range(3)]
    subscripts = ",".join(terms) + data.draw(_outputs(terms))
    x = whole(np.empty((n, n)))

    def polarised(a: Any, b: Any, c: Any) -> Any:
        total = a + b + c
        return sum(
            sign * np.einsum(subscripts, part, part, part)
            for sign, part in [
                (1, total), (-1, a + b), (-1, a + c), (-1, b + c), (1, a), (1, b), (1, c),
            ]
        )  # fmt: skip

    check_multilinear(polarised, x, whole(x, seed=1), whole(x, seed=2), order=1)


@given(st.data())
def test_tensordot(data: st.DataObject) -> None:
    """Contractions over any pairs of axes, or over so many neighbours."""
    x = data.draw(shapes(most=3))
    count = data.draw(st.integers(0, len(x)))
    if data.draw(st.booleans()):
        y = x[len(x) - count :] + data.draw(shapes(most=2))
        axes: Any = count
    else:
        left = data.draw(st.permutations(range(len(x))))[:count]
        free = data.draw(shapes(most=2))
        right = data.draw(st.permutations(range(count + len(free))))[:count]
        shape = dict(zip(right, (x[axis] for axis in left), strict=True))
        rest = iter(free)
        y = tuple(shape[k] if k in shape else next(rest) for k in range(count + len(free)))
        back = data.draw(st.booleans())
        axes = (left, [k - len(y) if back else k for k in right])
    operands = _same_kind([np.empty(x, data.draw(st.sampled_from([float, complex]))), np.empty(y)])

    check_multilinear(lambda a, b: np.tensordot(a, b, axes=axes), *operands)


@given(st.data())
def test_outer_products(data: st.DataObject) -> None:
    """``np.outer``, ``np.kron`` and ``np.multiply.outer``'s like, of any shapes."""
    x, y = _same_kind([data.draw(arrays(shapes(most=2), seed=k)) for k in range(2)])

    check_multilinear(np.outer, x, y)
    assume(np.size(x) and np.size(y))
    check_multilinear(np.kron, x, y)


@given(st.data())
def test_inner_products(data: st.DataObject) -> None:
    """``np.inner`` and ``np.dot``, which sum over one axis of each."""
    n = data.draw(st.sampled_from([2, 1, 3, 0]))
    left, right = data.draw(shapes(most=2)), data.draw(shapes(most=2))
    place = data.draw(st.integers(max(len(right) - 1, 0), max(len(right) - 1, 0)))
    x, y = _same_kind([np.empty((*left, n)), np.empty((*right, n))])
    z = whole(np.empty((*right[:place], n, *right[place:])))

    check_multilinear(np.inner, x, y)
    check_multilinear(np.dot, x, z)
