"""Polynomials by their coefficients, the highest power first; their values, roots and fits.

An ``np.poly1d`` made of a tensor holds it: whatever it computes from its coefficients stays on the tape. To NumPy's
own functions it is something to make an array of, unless they are given a tensor, too. NumPy's results have no zeros
in front. Ours keep those which are the value of a coefficient that depends on a tensor, since another
value of it would be seen: of a tensor given to ``np.polymul`` or ``np.poly1d``, and in a remainder of ``np.polydiv``.
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
    """The coefficients of an ``np.poly1d``; anything else as at least a one-dimensional array of them."""
    return p.coeffs if isinstance(p, np.poly1d) else np.atleast_1d(as_operand(p))


def like(value: Any, *inputs: Any) -> Any:
    """Coefficients as an ``np.poly1d``, if one of the `inputs` is one."""
    return np.poly1d(value) if any(isinstance(x, np.poly1d) for x in inputs) else value


# -- powers and values ----------------------------------------------------------------------------


def _vander(g, y, _x, N=None, increasing=False):  # noqa: N803 (NumPy's name)
    """n times the power below."""
    if not increasing:
        g, y = np.flip(g, -1), np.flip(y, -1)
    return np.sum(g[..., 1:] * (np.arange(1, y.shape[-1]) * y[..., :-1]), axis=-1)


def polyval_(p: Any, x: Any) -> Any:
    """``np.polyval`` for one polynomial."""
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
    for coefficient in p:
        y = y * x + coefficient
    return y


# -- sums, products, quotients --------------------------------------------------------------------


def _of_one_length(a: Any, b: Any) -> tuple[Any, Any]:
    """Two lists of coefficients, zeros put in front of the shorter one."""
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


def trimmed(whole: Any) -> Any:
    """Coefficients without zeros in front."""
    rest = np.trim_zeros(whole, "f")
    return rest if len(rest) else whole[-1:]


def factor(p: Any) -> Any:
    """The coefficients of a polynomial to multiply with: of a tensor all of them, else without zeros in front."""
    whole = coefficients(p)
    return whole if isinstance(whole, Traced) else trimmed(whole)


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
    found = np.stack(quotient) if quotient else constant(np.zeros(1, rest.dtype))
    rest = rest[-max(n - 1, 1) :]
    return like(found, u, v), like(rest, u, v)


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
    """The coefficients of a square matrix's characteristic polynomial."""
    return np.poly(a)


def _characteristic(g, y, a):
    """The adjugate of zI - A, power by power, as D. K. Faddeev and U. Leverrier build it up from I.

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
    """A root moves as a coefficient's power there does, against the slope."""
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
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    powers = powers / scale
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    found, residuals, rank, singular = np.linalg.lstsq(powers, values, rcond)
    found = (found.T / scale).T
    if full:
        return found, residuals, rank, singular, rcond
    if rank != order:
        text = "Polyfit may be poorly conditioned"
        warnings.warn(text, np.exceptions.RankWarning, stacklevel=3)
    if not cov:
        return found
    spread = np.linalg.inv(powers.T @ powers) / np.outer(scale, scale)
    if cov == "unscaled":
        return found, spread if y.ndim == 1 else spread[:, :, None]
    if len(x) <= order:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    spread = spread if y.ndim == 1 else spread[:, :, None]
    return found, spread * (residuals / (len(x) - order))


def _check_points(x: Any, y: Any, order: int, w: Any) -> None:
    """Raise NumPy's errors for points that cannot be fitted."""
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
