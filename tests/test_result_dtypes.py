"""Results have the dtypes that NumPy gives them, where inputs are of single precision or of different dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import Tensor, constant
from tapemagic.engine.nest import leaves

ROW = np.array([1.0, 2.0, 4.0])
GRID = np.array([[1.0, 2.0], [3.0, 5.0]])
SINGLE, SINGLE_GRID = ROW.astype("f4"), GRID.astype("f4")
COMPLEX, COMPLEX_GRID = (ROW + 1j).astype("c8"), GRID + 1j * GRID.T

CALLS: dict[str, tuple[Callable[..., Any], Any]] = {
    "cov to single": (lambda x: np.cov(x, dtype="f4"), GRID),
    "cov of one to single": (lambda x: np.cov(x, dtype="f4"), ROW),
    "cov to single complex": (lambda x: np.cov(x, dtype="c8"), GRID),
    "cov of two to single": (lambda x: np.cov(x, GRID, dtype="f4"), GRID),
    "cov of weighted to single": (lambda x: np.cov(x, aweights=[1, 2], dtype="f4"), GRID),
    "corrcoef to single": (lambda x: np.corrcoef(x, dtype="f4"), GRID),
    "corrcoef to single complex": (lambda x: np.corrcoef(x, dtype="c8"), COMPLEX_GRID),
    "append a number": (lambda x: np.append(x, 2.0), SINGLE),
    "append a whole number": (lambda x: np.append(x, 2), SINGLE),
    "append a single number": (lambda x: np.append(x, np.float32(2)), SINGLE),
    "append a number to complex": (lambda x: np.append(x, 2.0), COMPLEX),
    "append to a number": (lambda x: np.append(2.0, x), SINGLE),
    "intersect1d with double": (lambda x: np.intersect1d(x, ROW), SINGLE),
    "intersect1d with single": (lambda x: np.intersect1d(x, SINGLE), SINGLE),
    "intersect1d of double": (lambda x: np.intersect1d(ROW, x), SINGLE),
    "intersect1d with a number": (lambda x: np.intersect1d(x, 1.0), SINGLE),
    "intersect1d with a complex number": (lambda x: np.intersect1d(x, 1 + 0j), SINGLE),
    "average": (lambda x: np.average(x, returned=True), SINGLE),
    "average of complex": (lambda x: np.average(x, returned=True), COMPLEX),
    "average of whole numbers": (lambda x: np.average(x, returned=True), np.array([1, 2])),
    "average by whole weights": (lambda x: np.average(x, weights=[1, 2, 3], returned=True), ROW),
    "average by single weights": (lambda x: np.average(x, weights=SINGLE, returned=True), ROW),
    "average by tensors": (lambda x: np.average(ROW, weights=x, returned=True), SINGLE),
    "average of complex by whole weights": (lambda x: np.average(x, weights=[1, 2, 3], returned=True), COMPLEX),
    "setdiff1d of double": (lambda x: np.setdiff1d(ROW, x[:1]), SINGLE),
    "piecewise of numbers": (lambda x: np.piecewise(x, [x > 1], [2.0, 3.0]), SINGLE),
    "lstsq to double": (lambda x: np.linalg.lstsq(x, GRID), SINGLE_GRID),
    "lstsq of double": (lambda x: np.linalg.lstsq(GRID, x), SINGLE_GRID),
    "lstsq of single": (lambda x: np.linalg.lstsq(x, x), SINGLE_GRID),
    "lstsq to complex": (lambda x: np.linalg.lstsq(x, COMPLEX[:2]), SINGLE_GRID),
    "lstsq of single, tall": (lambda x: np.linalg.lstsq(x, ROW), SINGLE[:, None]),
}  # fmt: skip


@pytest.mark.parametrize(("call", "x"), CALLS.values(), ids=CALLS.keys())
def test_dtypes(call: Callable[..., Any], x: Any) -> None:
    """Each part of a result has NumPy's dtype and value, and is a tensor where it is made of real numbers."""
    expected, actual = leaves(call(x)), leaves(call(constant(x)))

    assert [part.dtype for part in expected] == [part.dtype for part in actual]
    for a, b in zip(expected, actual, strict=True):
        assert isinstance(b, Tensor) or b.dtype.kind not in "fc"
        np.testing.assert_allclose(np.asarray(b), a, rtol=1e-6)
