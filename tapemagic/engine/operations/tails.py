"""Slopes that keep their digits where a function is almost flat: 1 - y where y rounds to 1, and infinite values.

Far from 0, the sigmoid rounds to 1, but its slopes are small numbers that floats represent well: the slope at 40 is
4.2e-18. The usual formulas of `y` lose these digits, and formulas of `x` need another exponential.
Here, the usual formula comes first, and only the entries that lost digits are computed from `x`. This takes one more
pass over the array, which looks for the smallest entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.recording import Absent

LN2 = math.log(2)

ALMOST_FLAT = {2: 2.0**-5, 4: 2.0**-12, 8: 2.0**-20}
"""The limit above which differences of two numbers close to 1 keep enough digits, by the size of a float in bytes.

The relative error is at most 4e-4 in single precision and 3e-10 in double precision. With a larger limit, more entries
of ordinary data would take the slow way.
"""


def _repaired(z: Any, x: Any, exact: Callable[..., Any], *values: Any) -> Any:
    """Return `z`, a new array, with ``exact(x, *values)`` instead of the entries that lost digits."""
    # Complex numbers stay as they are, and a tape keeps no `x` if it knew that no digits are lost.
    if z.dtype.kind != "f" or not z.size or x.__class__ is Absent:
        return z
    limit = ALMOST_FLAT.get(z.itemsize, ALMOST_FLAT[8])
    if z.__class__ is not np.ndarray:
        return exact(z.dtype.type(x), *values) if z < limit else z
    # For small arrays, argmin takes a third of the time of min. It returns the position of a nan, if there is one.
    if z.item(z.argmin()) >= limit:
        return z
    lost = z < limit
    z[lost] = exact(x[lost].astype(z.dtype, copy=False), *(value[lost] for value in values))
    return z


def sigmoid_suffices(y: Any) -> bool:
    """Return True if 1 - y keeps its digits in an array y."""
    return bool(y.size and y.max() < 1 - ALMOST_FLAT.get(y.itemsize, ALMOST_FLAT[8]))


def exp2_suffices(y: Any) -> bool:
    """Return True if no element of an array y is infinite."""
    return y.dtype.kind == "c" or bool(y.size and y.max() < np.inf)


@primitive
def one_minus_sigmoid(y: Any, x: Any) -> Any:
    """1 - y for ``y = sigmoid(x)``, precise also where `y` rounds to 1.

    `y` and `x` are arrays of floats of the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.engine.operations.logistic import sigmoid
    >>> x = np.array([0.0, 40.0])
    >>> y = sigmoid(x)
    >>> 1 - y, one_minus_sigmoid(y, x)
    (array([0.5, 0. ]), array([5.00000000e-01, 4.24835426e-18]))
    """
    return _repaired(1 - y, x, _sigmoid_far, y)


def _sigmoid_far(x: Any, y: Any) -> Any:
    return np.exp(-x) * y


@primitive
def exp2_slope(y: Any, x: Any) -> Any:
    """log(2) * y for ``y = exp2(x)``, finite also where only `y` overflows.

    `y` and `x` are arrays of floats or complex numbers of the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> exp2_slope(np.array([8.0, np.inf]), np.array([3.0, 1024.2]))
    array([5.54517744e+000, 1.43135388e+308])
    """
    z = y * LN2
    if z.dtype.kind != "f" or not z.size or x.__class__ is Absent:
        return z
    if z.__class__ is not np.ndarray:
        return _exp2_slope_far(z.dtype.type(x)) if z == np.inf else z
    if z.item(z.argmax()) < np.inf:
        return z
    lost = z == np.inf
    z[lost] = _exp2_slope_far(x[lost].astype(z.dtype, copy=False))
    return z


def _exp2_slope_far(x: Any) -> Any:
    # NumPy has warned about this overflow when it computed exp2(x).
    with np.errstate(over="ignore"):
        return np.exp2(x - 1) * (2 * LN2)


@primitive
def sigmoid_error(y: Any, x: Any, labels: Any) -> Any:
    """y - labels for ``y = sigmoid(x)``, precise also where `y` rounds to 1 and the label is 1.

    `y` and `x` are arrays of floats, and `labels` an array of the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.engine.operations.logistic import sigmoid
    >>> x = np.array([0.0, 40.0])
    >>> sigmoid_error(sigmoid(x), x, np.array([1.0, 1.0]))
    array([-5.00000000e-01, -4.24835426e-18])
    """
    z = y - labels
    limit = 1 - ALMOST_FLAT.get(y.itemsize, ALMOST_FLAT[8])
    if z.__class__ is not np.ndarray:
        return (1 - labels) - _sigmoid_far(x, y) if y > limit else z
    if not y.size or y.item(y.argmax()) <= limit:
        return z
    near_one = y > limit
    z[near_one] = (1 - labels[near_one]) - _sigmoid_far(x[near_one], y[near_one])
    return z


USUAL: dict[Any, Callable[..., Any]] = {
    one_minus_sigmoid: lambda y: 1 - y,
    exp2_slope: lambda y: y * LN2,
    sigmoid_error: lambda y, labels: y - labels,
}
"""The usual formulas, which don't read `x`."""
