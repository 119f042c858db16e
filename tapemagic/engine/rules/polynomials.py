"""Polynomials by their coefficients, highest power first: values, roots and fits.

An ``np.poly1d`` of a tensor holds the tensor, so everything it computes from its coefficients stays on the tape.
Other NumPy functions convert it to an array, unless they also receive a tensor. NumPy removes leading zeros from its
results. Here, leading zeros stay if they are values of coefficients that depend on a tensor, because other values of
the tensor would give other coefficients: for tensors passed to ``np.polymul`` or ``np.poly1d``, and in a remainder of
``np.polydiv``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tapemagic.engine.laziness import require_computed
from tapemagic.engine.registry import composite, operation, vjp
from tapemagic.engine.rules.axes import leading_shape
from tapemagic.engine.rules.shaping import cast
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.tensor import Traced, as_operand, unwrap


def coefficients(p: Any) -> Any:
    """Return the coefficients of an ``np.poly1d``; convert other objects to an array with at least one axis."""
    return p.coeffs if isinstance(p, np.poly1d) else np.atleast_1d(as_operand(p))


def like(value: Any, *inputs: Any) -> Any:
    """Convert coefficients to an ``np.poly1d`` if an input is an ``np.poly1d``."""
    return np.poly1d(value) if any(isinstance(x, np.poly1d) for x in inputs) else value


# -- powers and values ----------------------------------------------------------------------------


def _vander(g, y, _x, N=None, increasing=False):  # noqa: N803 (NumPy's name)
    """n times the power below."""
    if not increasing:
        g, y = np.flip(g, -1), np.flip(y, -1)
    return np.sum(g[..., 1:] * (np.arange(1, y.shape[-1]) * y[..., :-1]), axis=-1)


def polyval_(p: Any, x: Any) -> Any:
    """``np.polyval`` of a single polynomial."""
    return np.polyval(p, x)


def _polyval_p(g, _y, _p, x):
    """The powers of x."""
    powers = np.vander(np.ravel(x), _p.shape[0])
    return g.reshape((*leading_shape(g, _y), powers.shape[0])) @ powers


vjp(np.vander, _vander)
vjp(polyval_, _polyval_p, lambda g, _y, p, x: g * np.polyval(np.polyder(p), x), name="polyval")


@composite(np.polyval)
def _polyval(p: Any, x: Any) -> Any:
    p = p.coeffs if isinstance(p, np.poly1d) else as_operand(p)
    if np.ndim(p) == 1 and not isinstance(x, np.poly1d):
        return apply(operation(polyval_), (p, as_operand(x)), {})
    if isinstance(x, np.poly1d):
        y, p = (np.poly1d(p[0]), p[1:]) if len(p) else (0, p)
    else:
        y = np.zeros_like(unwrap(as_operand(x)))
    # Horner's rule with polynomials, for np.polyval(p, np.poly1d(...)).
    for coefficient in p:
        y = y * x + coefficient
    return y


# -- sums, products, quotients --------------------------------------------------------------------


def _of_one_length(a: Any, b: Any) -> tuple[Any, Any]:
    """Pad the shorter of two lists of coefficients with leading zeros."""
    length = max(len(a), len(b))
    a, b = (
        np.concatenate((np.zeros(length - len(x), x.dtype), x)) if len(x) < length else x
        for x in (a, b)
    )
    return a, b


@composite(np.polyadd)
def _polyadd(a1: Any, a2: Any) -> Any:
    a, b = _of_one_length(coefficients(a1), coefficients(a2))
    return like(a + b, a1, a2)


@composite(np.polysub)
def _polysub(a1: Any, a2: Any) -> Any:
    a, b = _of_one_length(coefficients(a1), coefficients(a2))
    return like(a - b, a1, a2)


def trimmed(all_coefficients: Any) -> Any:
    """Return coefficients without leading zeros."""
    rest = np.trim_zeros(all_coefficients, "f")
    return rest if len(rest) else all_coefficients[-1:]


def factor(p: Any) -> Any:
    """Return the coefficients for a product, without leading zeros unless they are a tensor."""
    all_coefficients = coefficients(p)
    return all_coefficients if isinstance(all_coefficients, Traced) else trimmed(all_coefficients)


@composite(np.polymul)
def _polymul(a1: Any, a2: Any) -> Any:
    return like(np.convolve(factor(a1), factor(a2)), a1, a2)


@composite(np.polydiv)
def _polydiv(u: Any, v: Any) -> Any:
    divisor, rest = coefficients(v) + 0.0, coefficients(u) + 0.0
    if isinstance(v, np.poly1d):
        divisor = trimmed(divisor)
    rest = cast(rest, np.result_type(rest, divisor))
    scale = 1.0 / divisor[0]
    n = len(divisor)
    quotient = []
    for k in range(len(rest) - n + 1):
        quotient.append(scale * rest[k])
        below = rest[k : k + n] - quotient[k] * divisor
        rest = np.concatenate((rest[:k], below, rest[k + n :]))
    stacked = np.stack(quotient) if quotient else constant(np.zeros(1, rest.dtype))
    rest = rest[-max(n - 1, 1) :]
    return like(stacked, u, v), like(rest, u, v)


# -- derivatives and integrals --------------------------------------------------------------------


@composite(np.polyder)
def _polyder(p: Any, m: Any = 1) -> Any:
    if int(m) < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    y = p.coeffs if isinstance(p, np.poly1d) else as_operand(p)
    for _ in range(int(m)):
        y = y[:-1] * np.arange(len(y) - 1, 0, -1)
    return like(y, p)


@composite(np.polyint)
def _polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m) if k is None else np.atleast_1d(as_operand(k))
    if len(constants) == 1 < m:
        constants = constants[0] * np.ones(m)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    y = p.coeffs if isinstance(p, np.poly1d) else as_operand(p)
    for i in range(m):
        y = np.concatenate((y / np.arange(len(y), 0, -1), constants[i : i + 1]))
    return like(y, p)


# -- roots ----------------------------------------------------------------------------------------


def characteristic(a: Any) -> Any:
    """Return the coefficients of the characteristic polynomial of a square matrix."""
    return np.poly(a)


def _characteristic(g, y, a):
    """The adjugate of zI - A, power by power, by the algorithm of D. K. Faddeev and U. Leverrier.

    F. R. Gantmacher, The Theory of Matrices (1959), volume 1, chapter IV, section 5.
    """
    one = np.eye(a.shape[0])
    part, total = one, -g[..., 1, None, None] * one
    for k in range(1, a.shape[0]):
        part = a @ part + y[k] * one
        total = total - g[..., k + 1, None, None] * part.T
    return total


def roots_(p: Any) -> Any:
    """``np.roots`` of an array."""
    return np.roots(p)


def _roots(g, y, p):
    """The power of the root for each coefficient, divided by minus the slope at the root (implicit differentiation)."""
    return -(g / np.polyval(np.polyder(p), y)) @ np.vander(y, p.shape[0])


vjp(characteristic, _characteristic, name="poly")
vjp(roots_, _roots, name="roots")


@composite(np.roots)
def _roots_of(p: Any) -> Any:
    return apply(operation(roots_), (coefficients(p),), {})


@composite(np.poly)
def _poly(seq_of_zeros: Any) -> Any:
    zeros = np.atleast_1d(as_operand(seq_of_zeros))
    require_computed(
        unwrap(zeros), "np.poly, which gives real or complex numbers according to the zeros,"
    )
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] != 0:
        return apply(operation(characteristic), (zeros,), {})
    if zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if not len(zeros):
        return 1.0
    zeros = cast(zeros, np.mintypecode(zeros.dtype.char))
    one = np.ones(1, zeros.dtype)
    y = one
    for i in range(len(zeros)):
        y = np.convolve(y, np.concatenate((one, -zeros[i : i + 1])))
    plain = unwrap(zeros)
    # Like NumPy: zeros that are complex conjugates of each other give real coefficients.
    paired = np.array_equal(np.sort(plain), np.sort(np.conj(plain)))
    return np.real(y) if paired and y.dtype.kind == "c" else y


# -- fits -----------------------------------------------------------------------------------------


@composite(np.polyfit)
def _polyfit(
    x: Any,
    y: Any,
    deg: Any,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    x, y, w = (None if part is None else as_operand(part) + 0.0 for part in (x, y, w))
    order = int(deg) + 1
    _check_points(x, y, order, w)
    powers = np.vander(x, order)
    values = y
    if w is not None:
        powers = powers * w[:, None]
        values = values * (w[:, None] if y.ndim == 2 else w)
    # NumPy scales the columns to improve the condition number; without it, other singular values
    # would be cut.
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    powers = powers / scale
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    fitted, residuals, rank, singular = np.linalg.lstsq(powers, values, rcond)
    fitted = (fitted.T / scale).T
    if full:
        return fitted, residuals, rank, singular, rcond
    if rank != order:
        text = "Polyfit may be poorly conditioned"
        warnings.warn(text, np.exceptions.RankWarning, stacklevel=3)
    if not cov:
        return fitted
    spread = np.linalg.inv(powers.T @ powers) / np.outer(scale, scale)
    if cov == "unscaled":
        return fitted, spread if y.ndim == 1 else spread[:, :, None]
    if len(x) <= order:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    spread = spread if y.ndim == 1 else spread[:, :, None]
    return fitted, spread * (residuals / (len(x) - order))


def _check_points(x: Any, y: Any, order: int, w: Any) -> None:
    """Raise NumPy's errors for points that can't be fitted."""
    if order < 1:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or not x.size:
        kind = "non-empty" if x.ndim == 1 else "1D"
        raise TypeError(f"expected {kind} vector for x")
    if y.ndim not in {1, 2}:
        raise TypeError("expected 1D or 2D array for y")
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    if w is not None and w.shape != x.shape:
        raise TypeError(
            "expected a 1-d array for weights"
            if w.ndim != 1
            else "expected w and y to have the same length"
        )
