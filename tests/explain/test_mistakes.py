"""Mistakes that explain a wrong derivative are named, and none is made up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapemagic.explain.mistakes import (
    agreement,
    find_factor,
    find_mistake,
    find_wrong_axis,
)

TAPE = np.array([[2.0, -4.0], [0.5, 0.0], [1.0, 3.0]])
ROW = np.array([1.0, -2.0, 0.0])
SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])
COMPLEX = np.array([1.0 + 2.0j, 3.0 - 1.0j])
AGREE = agreement(1e-6, 1e-10)
CONJUGATE = "for a complex source, the tape returns the conjugate of the derivative in textbooks."
ADDS = (
    "of your result agrees: if a source is used for several results, "
    "its gradient is the sum over all of them."
)
TRANSPOSED = "Your result is transposed. Append .T."
FORGOT = "Did you forget the 2 of the squares and the 1/5 of their mean?"
LEAVE = "the gradient has an entry for every entry of the source. Remove that call."

MISTAKES = {
    "sign": (-TAPE, TAPE, "Your result has the opposite sign everywhere."),
    "sign of a number": (np.array(-2.0), np.array(2.0), "Your result has the opposite sign."),
    "sign of some": (
        np.array([1.0, 2.0, -3.0]),
        np.array([1.0, 2.0, 3.0]),
        "Your result has the opposite sign where they differ.",
    ),
    "twice": (
        2 * TAPE,
        TAPE,
        "Your result is 2 times the tape's everywhere. It has a factor of 2 too many.",
    ),
    "half": (
        TAPE / 2,
        TAPE,
        "Your result is 1/2 of the tape's everywhere. A factor of 2 is missing.",
    ),
    "half of a number": (
        np.array(3.0),
        np.array(6.0),
        "Your result is 1/2 of the tape's. A factor of 2 is missing.",
    ),
    "sum for mean": (
        7 * TAPE,
        TAPE,
        "Your result is 7 times the tape's everywhere. Did you use np.sum instead of np.mean (7 values)?",
    ),
    "mean for sum": (
        TAPE / 7,
        TAPE,
        "Your result is 1/7 of the tape's everywhere. Did you use np.mean instead of np.sum (7 values)?",
    ),
    "mean for sum, and sign": (
        -TAPE / 7,
        TAPE,
        (
            "Your result is -1/7 of the tape's everywhere. The sign is opposite. "
            "Did you use np.mean instead of np.sum (7 values)?"
        ),
    ),
    "sum for mean, and sign": (
        -7 * TAPE,
        TAPE,
        (
            "Your result is -7 times the tape's everywhere. The sign is opposite. "
            "Did you use np.sum instead of np.mean (7 values)?"
        ),
    ),
    "half, and sign": (
        -TAPE / 2,
        TAPE,
        "Your result is -1/2 of the tape's everywhere. The sign is opposite. A factor of 2 is missing.",
    ),
    "no 2/n": (2.5 * TAPE, TAPE, f"Your result is 2.5 times the tape's everywhere. {FORGOT}"),
    "no 2/n, of an even n": (
        3 * TAPE,
        TAPE,
        f"Your result is 3 times the tape's everywhere. {FORGOT.replace('5', '6')}",
    ),
    "no 2/n, and sign": (
        -2.5 * TAPE,
        TAPE,
        f"Your result is -2.5 times the tape's everywhere. The sign is opposite. {FORGOT}",
    ),
    "no 2/n, of a number": (
        np.array(5.0),
        np.array(2.0),
        f"Your result is 2.5 times the tape's. {FORGOT}",
    ),
    "2/n twice": (
        0.4 * TAPE,
        TAPE,
        (
            "Your result is 0.4 times the tape's everywhere. "
            "Is the 2/5 of a mean of 5 squares in it twice?"
        ),
    ),
    "2/n in one entry": (np.array([2.5, 1.0]), np.array([1.0, 1.0]), ""),
    "2/n of no mean": (3.5 * TAPE, TAPE, "Your result is 3.5 times the tape's everywhere."),
    "imaginary 2/n": (
        2.5j * COMPLEX,
        COMPLEX,
        "Your result is 0+2.5j times the tape's everywhere.",
    ),
    "no such mean": (5 * TAPE, TAPE, "Your result is 5 times the tape's everywhere."),
    "factor": (0.7 * TAPE, TAPE, "Your result is 0.7 times the tape's everywhere."),
    "complex factor": (1j * COMPLEX, COMPLEX, "Your result is 0+1j times the tape's everywhere."),
    "factor of some": (
        ROW * [1.0, 3.0, 1.0],
        ROW,
        "Your result is 3 times the tape's where they differ.",
    ),
    "transpose": (SQUARE.T, SQUARE, "Your result is transposed. Append .T."),
    "transposed shape": (TAPE.T, TAPE, "Your result is transposed. Append .T."),
    "transpose, and sign": (
        -SQUARE.T,
        SQUARE,
        f"{TRANSPOSED} It also has the opposite sign everywhere.",
    ),
    "transposed shape, and sign": (
        -TAPE.T,
        TAPE,
        f"{TRANSPOSED} It also has the opposite sign everywhere.",
    ),
    "transpose, times a number": (
        -7 * SQUARE.T,
        SQUARE,
        (
            f"{TRANSPOSED} It also is -7 times the tape's everywhere. The sign is opposite. "
            "Did you use np.sum instead of np.mean (7 values)?"
        ),
    ),
    "transposed row": (
        2 * ROW[None],
        ROW[:, None],
        (f"{TRANSPOSED} It also is 2 times the tape's everywhere. It has a factor of 2 too many."),
    ),
    "transpose, and something else": (TAPE.T + np.eye(2, 3), TAPE, ""),
    "transpose, of some": (SQUARE.T * [[1, 2], [1, 1]], SQUARE, ""),
    "shape": (ROW, ROW[:, None], "The numbers agree. Append .reshape((3, 1)) to your result."),
    "shape of a number": (
        ROW[:1],
        ROW[0],
        "The numbers agree. Append .reshape(()) or [0] to your result.",
    ),
    "shape of a number in a table": (
        np.array([[2.0]]),
        np.array(2.0),
        "The numbers agree. Append .reshape(()) or [0, 0] to your result.",
    ),
    "shape of a number, and sign": (
        np.array([[-2.0]]),
        np.array(2.0),
        "Append .reshape(()) or [0, 0] to your result. It also has the opposite sign.",
    ),
    "shape, and factor": (
        ROW[:, None] / 2,
        ROW,
        (
            "Append .reshape((3,)) to your result. "
            "It also is 1/2 of the tape's everywhere. A factor of 2 is missing."
        ),
    ),
    "shape, and another number": (np.array([3.1]), np.array(2.0), ""),
    "another arrangement, and sign": (-TAPE.reshape(2, 3), TAPE, ""),
    "a sum of all": (np.sum(TAPE), TAPE, f"Your result is np.sum(...) of the tape's, but {LEAVE}"),
    "a mean of all": (
        np.mean(TAPE),
        TAPE,
        f"Your result is np.mean(...) of the tape's, but {LEAVE}",
    ),
    "a sum over an axis": (
        TAPE.sum(1),
        TAPE,
        f"Your result is np.sum(..., axis=1) of the tape's, but {LEAVE}",
    ),
    "a sum that is zero": (np.array(0.0), np.array([1.0, -1.0]), ""),
    "one for all": (
        np.array(2.0),
        np.full((3, 2), 2.0),
        "Every entry is the number in your result. Write np.full((3, 2), ...).",
    ),
    "no sum over samples": (np.stack([ROW, ROW]) / 2, ROW, f"np.sum(..., axis=0) {ADDS}"),
    "no mean over samples": (np.stack([ROW, ROW, ROW]), ROW, f"np.mean(..., axis=0) {ADDS}"),
    "no sum over columns": (
        np.stack([ROW, ROW], 1) / 2,
        ROW[:, None],
        f"np.sum(..., axis=1) {ADDS}",
    ),
    "no sum at all": (TAPE, np.sum(TAPE), f"np.sum(...) {ADDS}"),
    "conjugate": (
        np.conjugate(COMPLEX),
        COMPLEX,
        f"Your result is the conjugate of the tape's everywhere: {CONJUGATE}",
    ),
    "one entry": (ROW + 0.5 * (ROW == 1), ROW, ""),
    "another function": (TAPE**2, TAPE, ""),
    "zeros": (np.zeros(3), ROW, ""),
    "not zero": (ROW, np.zeros(3), ""),
    "odd factor of a number": (np.array(3.0), np.array(2.0), ""),
    "odd factor of one entry": (np.array([1.0, 5.0]), np.array([1.0, 2.0]), ""),
    "nan": (np.array([np.nan, 1.0]), np.array([2.0, 1.0]), ""),
    "tape's nan": (np.array([2.0, 2.0]), np.array([np.nan, 1.0]), ""),
    "infinite": (np.array([np.inf, 1.0]), np.array([2.0, 1.0]), ""),
    "another shape": (np.array([1.0, 2.0]), TAPE, ""),
    "empty": (np.zeros((0, 3)), np.zeros(3), ""),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    """A single mistake that explains all differences is named; otherwise none is."""
    mine, tape, expected = MISTAKES[name]

    assert expected == find_mistake(np.asarray(mine), np.asarray(tape), AGREE, {7, 2}, {5, 6})


def test_rounding() -> None:
    """A mistake is recognised up to the tolerance."""
    rough = 7 * TAPE * (1 + 1e-7 * np.arange(6.0).reshape(3, 2))

    assert find_mistake(rough, TAPE, AGREE).startswith("Your result is 7 times")
    assert "" == find_mistake(rough, TAPE, agreement(1e-9, 0.0))


@pytest.mark.parametrize(("rtol", "atol"), [(0.0, 0.1), (0.1, 0.0)])
def test_agreement(rtol: float, atol: float) -> None:
    """The tolerances mean what they do in `numpy.isclose`, but that nan agrees with nan."""
    agree: Any = agreement(rtol, atol)

    a, b = np.array([0.0, 10.05, np.nan, np.inf]), np.array([0.05, 10.0, np.nan, np.inf])
    assert [atol > 0, True, True, True] == agree(a, b).tolist()


X = np.array([1.0, 2.0, -3.0])
NAMED = [("n", 3), ("one", np.ones(3)), ("w", np.array([[1.0, 2.0]])), ("h", X + 0.5), ("x", X)]
MISSING = "agrees in every entry. Is this factor missing, as from the chain rule?"
EXTRA = "agrees in every entry. Is this factor in it twice?"
INNER = np.cos(X**2)

FORGOTTEN = {
    "an array": (INNER, X * INNER, f"Your result times x {MISSING}"),
    "a number and an array": (INNER, -2 * X * INNER, f"Your result times -2 * x {MISSING}"),
    "of two entries": (INNER * [1, 1, 0], X * INNER * [1, 1, 0], f"Your result times x {MISSING}"),
    "too many": (X * INNER, INNER, f"Your result divided by x {EXTRA}"),
    "three too many": (3 * X * INNER, INNER, f"Your result divided by (3 * x) {EXTRA}"),
    "not a whole number": (INNER, 1.5 * X * INNER, ""),
    "not in every entry": (INNER, X * INNER * [1, 1, 1.1], ""),
    "not exactly": (INNER, X * INNER * [1, 1, 1 + 1e-8], ""),
    "of one entry": (INNER * [1, 0, 0], X * INNER * [1, 0, 0], ""),
    "by a constant ratio": (INNER, INNER, ""),
    "zeros": (np.zeros(3), X, ""),
    "not zero": (X, np.zeros(3), ""),
    "nan": (np.array([np.nan, 1.0, 1.0]), X, ""),
    "a number for a number": (np.array(2.0), np.array(3.0), ""),
    "empty": (np.zeros(0), np.zeros(0), ""),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_factor(name: str) -> None:
    """A factor is named if all entries agree with it, but not where a constant would do."""
    mine, tape, expected = FORGOTTEN[name]

    assert expected == find_factor(mine, tape, NAMED)


@pytest.mark.parametrize("seed", range(50))
def test_no_factor_is_made_up(seed: int) -> None:
    """Of numbers that have nothing to do with each other, none is a factor; nor of small whole numbers, mostly."""
    rng = np.random.default_rng(seed)

    for draw in (rng.normal, lambda size: rng.integers(1, 10, size).astype(float)):
        arrays = [draw(size=6) for _ in range(12)]
        named = [(f"a{k}", a) for k, a in enumerate(arrays[2:])]
        assert "" == find_factor(arrays[0], arrays[1], named)


PARTS = np.arange(12.0).reshape(4, 3) ** 2
BLOCK = np.arange(9.0).reshape(3, 3) ** 2
USED = "the source was used for every index of axis 0, so its gradient is the sum over that axis."

AXES = {
    "sum": (
        PARTS.sum(1),
        PARTS.sum(0),
        PARTS,
        f"You used np.sum(..., axis=1), but you need np.sum(..., axis=0): {USED}",
    ),
    "of a square": (
        BLOCK.sum(1),
        BLOCK.sum(0),
        BLOCK,
        f"You used np.sum(..., axis=1), but you need np.sum(..., axis=0): {USED}",
    ),
    "mean": (
        PARTS.mean(0),
        PARTS.sum(0),
        PARTS,
        f"You used np.mean(..., axis=0), but you need np.sum(..., axis=0): {USED}",
    ),
    "of all": (
        PARTS.sum(),
        PARTS.sum(0, keepdims=True),
        PARTS,
        f"You used np.sum(...), but you need np.sum(..., axis=0): {USED}",
    ),
    "right, but for the shape": (np.full((3, 1), 3.0), np.full(3, 3.0), np.ones((3, 3)), ""),
    "other parts": (PARTS.sum(1), PARTS.sum(0), PARTS + 1, ""),
    "another gradient": (PARTS.sum(1), PARTS.sum(0) + 1, PARTS, ""),
    "something else": (PARTS.sum(1) + 1, PARTS.sum(0), PARTS, ""),
    "zeros": (np.zeros(2), np.ones(3), np.stack([np.ones(3), np.zeros(3)]), ""),
}


@pytest.mark.parametrize("name", AXES)
def test_wrong_axis(name: str) -> None:
    """The parts of the gradient, added up along another axis."""
    mine, tape, parts, expected = AXES[name]

    assert expected == find_wrong_axis(np.asarray(mine), tape, parts, AGREE)
