"""The slips that explain a wrong derivative, and those that are not made up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapemagic.analysis.slips import near, slip

TAPE = np.array([[2.0, -4.0], [0.5, 0.0], [1.0, 3.0]])
ROW = np.array([1.0, -2.0, 0.0])
SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])
COMPLEX = np.array([1.0 + 2.0j, 3.0 - 1.0j])
AGREE = near(1e-6, 1e-10)
CONJUGATE = (
    "with respect to a complex number, the tape gives the conjugate of the derivative in textbooks."
)
ADDS = (
    "of yours agrees: where a source is used for several results, "
    "its gradient adds up what comes from each of them."
)

SLIPS = {
    "sign": (-TAPE, TAPE, "Yours has the opposite sign everywhere."),
    "sign of a number": (np.array(-2.0), np.array(2.0), "Yours has the opposite sign."),
    "sign of some": (
        np.array([1.0, 2.0, -3.0]),
        np.array([1.0, 2.0, 3.0]),
        "Yours has the opposite sign where they differ.",
    ),
    "twice": (
        2 * TAPE,
        TAPE,
        "Yours is 2 times the tape's everywhere: there is a factor of 2 too many.",
    ),
    "half": (TAPE / 2, TAPE, "Yours is 1/2 of the tape's everywhere: a factor of 2 is missing."),
    "half of a number": (
        np.array(3.0),
        np.array(6.0),
        "Yours is 1/2 of the tape's: a factor of 2 is missing.",
    ),
    "sum for mean": (
        7 * TAPE,
        TAPE,
        "Yours is 7 times the tape's everywhere: did you take the sum for the mean of 7 numbers?",
    ),
    "mean for sum": (
        TAPE / 7,
        TAPE,
        "Yours is 1/7 of the tape's everywhere: did you take the mean for the sum of 7 numbers?",
    ),
    "mean for sum, and sign": (
        -TAPE / 7,
        TAPE,
        "Yours is -1/7 of the tape's everywhere: did you take the mean for the sum of 7 numbers?",
    ),
    "no such mean": (5 * TAPE, TAPE, "Yours is 5 times the tape's everywhere."),
    "factor": (0.7 * TAPE, TAPE, "Yours is 0.7 times the tape's everywhere."),
    "complex factor": (1j * COMPLEX, COMPLEX, "Yours is 0+1j times the tape's everywhere."),
    "factor of some": (
        ROW * [1.0, 3.0, 1.0],
        ROW,
        "Yours is 3 times the tape's where they differ.",
    ),
    "transpose": (SQUARE.T, SQUARE, "Yours is the transpose of the tape's: write .T behind it."),
    "transposed shape": (TAPE.T, TAPE, "Yours is the transpose of the tape's: write .T behind it."),
    "shape": (ROW, ROW[:, None], "The numbers agree: write .reshape((3, 1)) behind yours."),
    "shape of a number": (ROW[:1], ROW[0], "The numbers agree: write .reshape(()) behind yours."),
    "one for all": (
        np.array(2.0),
        np.full((3, 2), 2.0),
        "Every entry is the same number as yours: write np.full((3, 2), ...).",
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
        f"Yours is the conjugate of the tape's everywhere: {CONJUGATE}",
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


@pytest.mark.parametrize("name", SLIPS)
def test_slips(name: str) -> None:
    """One slip that explains all is named; otherwise there is silence."""
    mine, tape, expected = SLIPS[name]

    assert expected == slip(np.asarray(mine), np.asarray(tape), AGREE, {7, 2})


def test_rounding() -> None:
    """A slip is recognised up to the tolerance."""
    rough = 7 * TAPE * (1 + 1e-7 * np.arange(6.0).reshape(3, 2))

    assert slip(rough, TAPE, AGREE).startswith("Yours is 7 times")
    assert "" == slip(rough, TAPE, near(1e-9, 0.0))


@pytest.mark.parametrize(("rtol", "atol"), [(0.0, 0.1), (0.1, 0.0)])
def test_near(rtol: float, atol: float) -> None:
    """The tolerances mean what they do in `numpy.isclose`, but that nan agrees with nan."""
    agree: Any = near(rtol, atol)

    a, b = np.array([0.0, 10.05, np.nan, np.inf]), np.array([0.05, 10.0, np.nan, np.inf])
    assert [atol > 0, True, True, True] == agree(a, b).tolist()
