"""Cases of polynomials: their values, sums, products, roots and fits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.rules.harness import between, case, normal, positive, refused, special

P, Q, X = normal(4), normal(3, seed=1), normal(5, seed=2)
A, NUMBER = normal(2, 3), normal()
COMPLEX = normal(3) + 1j * normal(3, seed=1)
MATRIX = normal(4, 4, seed=3)
PLACES = between(-1, 1, 8, seed=4)
HEIGHTS = normal(8, seed=5)
ROWS = normal(8, 2, seed=6)
WEIGHTS = positive(8, seed=7)
REAL_ROOTS = np.array([1.0, -0.5, -2.2, 0.3])


def by(f: Any) -> Any:
    """A call with the first polynomial as an ``np.poly1d``, and its coefficients."""
    return lambda p, *rest: as_coefficients(f(np.poly1d(p), *rest))


def as_coefficients(found: Any) -> Any:
    """The coefficients of a polynomial, or of each of several."""
    if isinstance(found, tuple):
        return tuple(map(as_coefficients, found))
    return found.coeffs if isinstance(found, np.poly1d) else found


def fit(deg: int, **options: Any) -> Any:
    """A fit of a degree, with its real outputs alone."""

    def call(x: Any, y: Any, *weights: Any) -> Any:
        w = {"w": weights[0]} if weights else {}
        found = np.polyfit(x, y, deg, **options, **w)
        return found[:2] if options.get("full") else found

    return call


PAIRS = (
    (P, Q),
    (Q, P),
    (Q, Q + 1),
    (P, NUMBER),
    (NUMBER, Q),
    (COMPLEX, P),
    (P, COMPLEX),
    (normal(1), normal(1, seed=1)),
)

VALUES = [
    *(case(np.vander, None, x) for x in (X, normal(1), normal(0), COMPLEX)),
    *(
        case(np.vander, partial(np.vander, N=n, increasing=up), X, label=f"{n} {up}")
        for n in (0, 1, 2, 7)
        for up in (False, True)
    ),
    case(np.vander, lambda x: np.vander(x, 3), np.array([0.0, 1.0, -2.0]), label="at 0"),
    *(case(np.polyval, None, P, x) for x in (NUMBER, X, A, normal(0), COMPLEX)),
    case(np.polyval, None, COMPLEX, A, label="complex coefficients"),
    case(np.polyval, None, normal(1), A, label="constant"),
    case(np.polyval, None, normal(0), A, label="nothing"),
    case(np.polyval, None, normal(3, 5), X, label="several"),
    case(np.polyval, lambda p: np.polyval(p, 2), P, label="at a number"),
    case(np.polyval, lambda p: np.polyval(p, [1.0, 2.0]), P, label="at a list"),
    case(np.polyval, lambda x: np.polyval([1, 2.0, 3], x), X, label="of a list"),
    case(np.polyval, lambda x: np.polyval([x[0], 2.0, x[1]], x), X, label="of a list of tensors"),
    case(np.polyval, lambda p, x: np.polyval(np.poly1d(p), x), P, X, label="of a poly1d"),
    case(np.polyval, lambda x: np.polyval(np.poly1d([1.0, 2.0]), x), X, label="of a plain poly1d"),
    case(np.polyval, lambda p, q: np.polyval(p, np.poly1d(q)).coeffs, P, Q, label="in a poly1d"),
    case(np.polyval, lambda p: np.polyval(p, np.poly1d([2.0, 1.0])).coeffs, P, label="in a plain poly1d"),
    case(np.polyval, lambda p, x: np.poly1d(p)(x), P, X, label="call"),
    case(np.polyval, lambda p, q: np.poly1d(p)(np.poly1d(q)).coeffs, P, Q, label="composition"),
]

ARITHMETIC = [
    *(case(f, None, *pair) for f in (np.polyadd, np.polysub, np.polymul) for pair in PAIRS),
    *(case(f, lambda p, f=f: f(p, [1.0, 2.0]), P) for f in (np.polyadd, np.polysub, np.polymul)),
    *(case(f, lambda p, f=f: f([1, 2], p), P) for f in (np.polyadd, np.polysub, np.polymul)),
    *(case(f, by(f), P, Q, label="poly1d") for f in (np.polyadd, np.polysub, np.polymul)),
    *(case(np.polydiv, lambda u, v: np.polydiv(u, v + 2), *pair) for pair in PAIRS if len(np.shape(pair[0]))),
    case(np.polydiv, lambda u: np.polydiv(u, [2, 1.0]), P, label="by a list"),
    case(np.polydiv, lambda v: np.polydiv([1, 2, 3, 4.0], v + 2), Q, label="of a list"),
    case(np.polydiv, by(np.polydiv), P, Q + 2, label="poly1d"),
    case(np.polyval, lambda p: np.poly1d(np.poly1d(p))(3.0), P, label="poly1d of a poly1d"),
    case(np.polymul, lambda p, q: (np.poly1d(p) * q - np.poly1d(q) ** 2 * 3 + 1).coeffs, P, Q, label="operators"),
    *(case(np.polyder, partial(np.polyder, m=m), P) for m in (0, 1, 2, 6)),
    case(np.polyder, np.polyder, COMPLEX, label="complex"),
    case(np.polyder, lambda p: np.poly1d(p).deriv(2).coeffs, P, label="poly1d"),
    *(case(np.polyint, partial(np.polyint, m=m), P) for m in (0, 1, 3)),
    case(np.polyint, np.polyint, COMPLEX, label="complex"),
    case(np.polyint, lambda p, k: np.polyint(p, 2, k), P, normal(2), label="k"),
    case(np.polyint, lambda p, k: np.polyint(p, 2, k), P, NUMBER, label="one k"),
    case(np.polyint, lambda p, k: np.polyint(p, 2, [1.0, k]), P, NUMBER, label="list of k"),
    case(np.polyint, lambda p, k: np.poly1d(p).integ(k=k).coeffs, P, NUMBER, label="poly1d"),
]

ROOTS = [
    *(case(np.poly, None, x) for x in (X, normal(1), COMPLEX)),
    case(np.poly, lambda z: np.poly(np.concatenate([z, np.conj(z)])), COMPLEX, label="in conjugate pairs"),
    *(case(np.poly, None, m) for m in (MATRIX, normal(1, 1), MATRIX + 1j * MATRIX.T)),
    case(np.poly, lambda a: np.poly(a @ a.T), normal(3, 3), label="symmetric"),
    case(np.roots, None, np.poly(REAL_ROOTS), label="real"),
    case(np.roots, lambda p: np.sort(np.roots(p)), np.poly(REAL_ROOTS) * 3, label="sorted"),
    case(np.roots, lambda p: np.abs(np.sort(np.roots(p))), np.array([2.0, 1.0, 4.0, 1.5])),
    case(np.roots, lambda p: np.sort_complex(np.roots(p)), COMPLEX, label="complex"),
    case(np.roots, lambda p: np.roots(np.append(p, 0.0)) * REAL_ROOTS[:3], np.array([2.0, -3, 1])),
    case(np.roots, lambda p: np.roots(np.append([0.0], p)), np.array([2.0, -3, 1]), label="0 first"),
    case(np.roots, lambda p: np.poly1d(p).r, np.array([2.0, -7, 1]), label="poly1d"),
    case(np.poly, lambda z: np.poly1d(z, True).coeffs, X, label="poly1d"),
    case(np.roots, lambda p: np.roots(p) * np.ones(0), normal(1), label="constant"),
]

FITS = [
    case(np.polyfit, fit(2), PLACES, HEIGHTS),
    case(np.polyfit, fit(0), PLACES, HEIGHTS, label="constant"),
    case(np.polyfit, fit(1), PLACES, ROWS, label="several"),
    case(np.polyfit, fit(2), PLACES, HEIGHTS, WEIGHTS, label="w"),
    case(np.polyfit, fit(1), PLACES, ROWS, WEIGHTS, label="w of several"),
    case(np.polyfit, fit(2, full=True), PLACES, HEIGHTS, label="full"),
    case(np.polyfit, fit(2, cov=True), PLACES, HEIGHTS, WEIGHTS, label="cov"),
    case(np.polyfit, fit(1, cov=True), PLACES, ROWS, label="cov of several"),
    case(np.polyfit, fit(1, cov="unscaled"), PLACES, ROWS, label="unscaled cov of several"),
    case(np.polyfit, fit(1, cov="unscaled"), PLACES, HEIGHTS, label="unscaled cov"),
    case(np.polyfit, fit(1, rcond=1e-9), PLACES, HEIGHTS, label="rcond"),
    case(np.polyfit, lambda y: np.polyfit(PLACES, y, 2), HEIGHTS, label="y alone"),
    case(np.polyfit, lambda x: np.polyfit(x, HEIGHTS, 2), PLACES, label="x alone"),
    case(np.polyfit, lambda w: np.polyfit(PLACES, HEIGHTS, 2, w=w), WEIGHTS, label="w alone"),
    case(np.polyfit, lambda x: np.polyfit([1, 2, 3], x, 1), normal(3), label="list"),
]

CASES = [*VALUES, *ARITHMETIC, *ROOTS, *FITS]

SPECIAL = [
    # zeros in front are coefficients, if they are a tensor's
    special(np.polymul, None, [[0.0, 1.0], [2.0, 3.0]], [[5, 5], [1, 1]], label="0 first"),
    *(
        special(np.polyval, call, [[0.0, 0.0, 2.0]], [[9 * k, 3 * k, k]], label=label)
        for label, k, call in (
            ("polyval, 0 first", 1, lambda p: np.polyval(p, 3.0)),
            ("poly1d, 0 first", 1, lambda p: np.poly1d(p)(3.0)),
            ("polymul, 0 first", 4, lambda p: np.polyval(np.polymul(p, [1.0, 1.0]), 3.0)),
            ("polymul, 0 first in both", 4, lambda p: np.polyval(np.polymul([0.0, 1, 1], p), 3.0)),
            ("product, 0 first", 4, lambda p: (np.poly1d([1, 1]) * np.poly1d(p))(3.0)),
            ("square, 0 first", 4, lambda p: (np.poly1d(p) ** 2)(3.0)),
            ("sum, 0 first", 2, lambda p: (np.poly1d(p) - 1 + np.poly1d(p))(3.0)),
        )
    ),
    special(np.polyval, lambda p: np.poly1d(p)(2), [np.zeros(3)], [[4, 2, 1]], label="zeros"),
    special(
        np.polydiv,
        lambda u: np.polyval(np.polydiv(u, [1.0, 2.0, 1.0])[1], 2.0),
        [[1.0, 3.0, 3.0, 1.0]],
        [[8, -5, 2, 1]],
        label="no remainder",
    ),
    special(np.polymul, None, [[0.0], [2.0, 3.0]], [[5], [0, 0]], label="nothing"),
    special(np.roots, None, [[1.0, -3.0, 2.0]], [[-3, -1, 0]], label="two"),
    special(np.roots, None, [[0.0, 0.0]], [[0, 0]], label="nothing"),
    special(np.roots, None, [[1.0, -3.0, 0.0]], [[-9 / 3, -1, 0]], label="0 last"),
    special(np.poly, None, [np.zeros(0)], [None], label="nothing"),
]

REFUSED = [
    refused(np.poly, None, [normal(2, 3)], ValueError, "square 2d array"),
    refused(np.polyder, lambda p: np.polyder(p, -1), [P], ValueError, "must be positive"),
    refused(np.polyint, lambda p: np.polyint(p, -1), [P], ValueError, "must be positive"),
    refused(np.polyint, lambda p: np.polyint(p, 3, [1, 2]), [P], ValueError, "length 1 or >m"),
    refused(np.polyval, None, [NUMBER, X], TypeError, "iterated"),
    refused(np.polymul, None, [A, P], ValueError, "too deep"),
    refused(np.polyfit, fit(-1), [PLACES, HEIGHTS], ValueError, "deg >= 0"),
    refused(np.polyfit, fit(1), [A, HEIGHTS], TypeError, "1D vector for x"),
    refused(np.polyfit, fit(1), [normal(0), HEIGHTS], TypeError, "non-empty vector for x"),
    refused(np.polyfit, fit(1), [PLACES, NUMBER], TypeError, "1D or 2D array for y"),
    refused(np.polyfit, fit(1), [PLACES, X], TypeError, "same length"),
    refused(np.polyfit, fit(1), [PLACES, HEIGHTS, ROWS], TypeError, "1-d array for weights"),
    refused(np.polyfit, fit(1), [PLACES, HEIGHTS, X], TypeError, "w and y to have the same"),
    refused(np.polyfit, fit(1, cov=True), [X[:2], Q[:2]], ValueError, "must exceed order"),
]
