"""Cases of differences, numerical slopes and integrals, and interpolation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tapemagic import constant
from tests.rules.harness import between, case, complexes, normal, positive, refused, special

CUBE = (3, 4, 3)
PLACES = np.array([0.0, 0.5, 0.7, 1.5])


def growing(n: int, seed: int = 0) -> Any:
    """Numbers in ascending order, unevenly apart."""
    return np.cumsum(positive(n, seed=seed))


DIFF = [
    *(
        case(np.diff, partial(np.diff, n=n, axis=axis), normal(*shape), label=f"{shape} {n} {axis}")
        for shape, n, axis in (
            ((5,), 1, -1), ((5,), 2, 0), ((5,), 3, -1), ((5,), 0, -1), ((2,), 4, -1), ((1,), 1, -1),
            ((0,), 1, -1), ((3, 4), 1, 0), ((3, 4), 2, 1), (CUBE, 1, 1), (CUBE, 2, -2),
        )
    ),
    case(np.diff, None, complexes(4), label="complex"),
    case(np.diff, lambda a, p: np.diff(a, prepend=p), normal(3), normal(), label="prepend"),
    case(np.diff, lambda a, p: np.diff(a, append=p), normal(3), normal(2), label="append"),
    case(np.diff, lambda a, p, q: np.diff(a, 2, 0, p, q), normal(3, 2), normal(), normal(1, 2), label="both ends"),
    case(np.diff, lambda a: np.diff(a, prepend=0, append=[1.0, 2.0]), normal(3), label="plain ends"),
    case(np.diff, lambda p: np.diff(np.array([1.0, 2.0]), prepend=p), normal(1), label="end alone"),
    case(np.diff, lambda a: np.diff(a, n=0, prepend=1.0) * a, normal(3), label="none"),
    *(case(np.unwrap, None, 4 * normal(*shape)) for shape in ((7,), (3, 4), (1,), (0,))),
    case(np.unwrap, partial(np.unwrap, axis=0), 4 * normal(3, 4), label="columns"),
    case(np.unwrap, lambda p: np.unwrap(p, 2.5), 4 * normal(7), label="discont"),
    case(
        np.unwrap,
        lambda p, period: np.unwrap(p, axis=1, period=period) * period,
        4 * normal(3, 4),
        positive(),
        label="period",
    ),
    case(
        np.unwrap,
        lambda p, period: np.unwrap(p, period=period) * np.arange(7.0),
        4 * normal(7),
        between(1.0, 3.0, 6),
        label="periods",
    ),
    case(
        np.unwrap,
        lambda p, period: np.unwrap(p, axis=0, period=period) * np.arange(4.0),
        4 * normal(5, 4),
        between(1.0, 3.0, 4, 4),
        label="periods by column",
    ),
    case(np.ediff1d, None, normal(4)),
    case(np.ediff1d, None, normal(2, 3), label="2-d"),
    case(np.ediff1d, None, normal(1), label="one"),
    case(np.ediff1d, None, normal(4), normal(2), normal(), label="ends"),
    case(np.ediff1d, lambda a: np.ediff1d(a, to_end=[7.0, 8.0]), normal(4), label="plain end"),
    case(np.ediff1d, lambda a: np.ediff1d(a, to_begin=7), normal(4), label="plain begin"),
]  # fmt: skip

GRADIENT = [
    *(
        case(np.gradient, partial(np.gradient, edge_order=order), normal(*shape), label=f"{shape} {order}")
        for shape in ((3,), (6,), (3, 4), CUBE)
        for order in (1, 2)
    ),
    case(np.gradient, None, normal(2), label="two"),
    case(np.gradient, None, complexes(4), label="complex"),
    case(np.gradient, lambda f: np.gradient(f, 0.5), normal(3, 4), label="spacing for all"),
    case(np.gradient, lambda f: np.gradient(f, 0.5, axis=0), normal(3, 4), label="axis"),
    case(np.gradient, lambda f: np.gradient(f, 0.5, 2, axis=(1, -3)), normal(*CUBE), label="axes in order"),
    case(np.gradient, lambda f: np.gradient(f, PLACES), normal(4), label="places"),
    case(np.gradient, lambda f: np.gradient(f, [0.0, 1.0, 4.0]), normal(3), label="a list of places"),
    case(np.gradient, lambda f: np.gradient(f, PLACES, axis=1, edge_order=2), normal(3, 4), label="places edge"),
    case(np.gradient, lambda f: np.gradient(f, 0.3, PLACES), normal(3, 4), label="spacing and places"),
    case(np.gradient, None, normal(4), positive(), label="tracked spacing"),
    case(np.gradient, None, normal(5), growing(5), label="tracked places"),
    case(
        np.gradient,
        lambda f, x: np.gradient(f, x, axis=0, edge_order=2),
        normal(4, 2),
        growing(4),
        label="tracked places edge",
    ),
    case(np.gradient, lambda x: np.gradient(np.array([1.0, 4.0, 2.0]), x), growing(3), label="places alone"),
    case(np.gradient, lambda x: np.gradient(x**2, x), growing(5), label="of itself"),
    *(
        case(np.gradient, partial(np.gradient, axis=axis), normal(3, 4), label=f"{axis}")
        for axis in ([0, 1], [-1], np.int64(1))
    ),
    *(
        case(
            np.gradient,
            partial(np.gradient, edge_order=order),
            normal(5),
            np.arange(5.0),
            label=f"tracked even places {order}",
        )
        for order in (1, 2)
    ),
    case(np.gradient, lambda f: np.gradient(f, np.arange(5), edge_order=2), normal(5), label="even places"),
    case(np.gradient, lambda f: np.gradient(f, np.array([1, 3, 4, 9], np.uint8)), normal(4), label="whole places"),
    case(np.gradient, lambda h: np.gradient(np.array([3, 1, 4, 1], np.uint8), h), positive(), label="of whole numbers"),
]

TRAPEZOID = [
    *(
        case(np.trapezoid, partial(np.trapezoid, axis=axis), normal(*shape), label=f"{shape} {axis}")
        for shape, axis in (((4,), -1), ((2,), 0), ((1,), -1), ((0,), -1), ((3, 4), 0), ((3, 4), 1), (CUBE, 1))
    ),
    case(np.trapezoid, None, complexes(4), label="complex"),
    case(np.trapezoid, lambda y, h: np.trapezoid(y, dx=h), normal(4), positive(), label="dx"),
    case(np.trapezoid, lambda y, h: np.trapezoid(y, dx=h, axis=0), normal(3, 2), positive(), label="dx axis"),
    case(np.trapezoid, lambda y: np.trapezoid(y, None, 0.5, 0), normal(3, 2), label="plain dx"),
    *(
        case(
            np.trapezoid,
            lambda y, h, axis=axis: np.trapezoid(y, dx=h, axis=axis),
            normal(*shape),
            positive(*widths),
            label=f"dx {shape} {widths} {axis}",
        )
        for shape, widths, axis in (
            ((3,), (2,), -1), ((2,), (3,), -1), ((3, 2), (2,), 0), ((4, 2), (3, 1), 0), ((4, 2), (3, 1), -2),
            ((3, 4), (2, 3, 3), -1), (CUBE, (3, 1), 1), ((1,), (0,), -1),
        )
    ),
    case(np.trapezoid, lambda y: np.trapezoid(y, dx=[0.5, 2.0]), normal(3), label="a list of dx"),
    case(np.trapezoid, lambda y, h: np.trapezoid(y, [0.0, 1.0, 3.0], h) * h, normal(3), positive(), label="dx unused"),
    case(np.trapezoid, None, normal(4), growing(4), label="x"),
    case(np.trapezoid, lambda y, x: np.trapezoid(y, x, axis=0), normal(3, 2), growing(3), label="x axis"),
    case(np.trapezoid, lambda y, x: np.trapezoid(y, x, axis=1), normal(*CUBE), growing(4), label="x middle axis"),
    case(np.trapezoid, None, normal(3, 4), growing(4), label="x shared"),
    case(np.trapezoid, None, normal(3, 4), normal(3, 4, seed=1), label="x 2-d"),
    case(np.trapezoid, lambda y, x: np.trapezoid(y, x, axis=0), normal(3, 4), normal(3, 1, seed=1), label="x column"),
    case(np.trapezoid, None, normal(4), normal(3, 4, seed=1), label="y shared"),
    case(np.trapezoid, lambda y: np.trapezoid(y, PLACES), normal(4), label="plain x"),
    case(np.trapezoid, lambda y: np.trapezoid(y, [0.0, 1.0, 3.0]), normal(3), label="a list of x"),
    case(np.trapezoid, lambda x: np.trapezoid(np.array([1.0, 3.0, 2.0]), x), growing(3), label="x alone"),
    case(np.trapezoid, None, normal(1), normal(1), label="one x"),
    case(np.trapezoid, None, normal(0), normal(0), label="no x"),
    case(np.trapezoid, lambda x: np.trapezoid(x**2, x), growing(4), label="of itself"),
]  # fmt: skip

KNOTS = np.array([-1.0, 0.2, 0.5, 2.0])
INSIDE = np.array([-0.7, 1.1, 0.3, 0.35, -0.1])
OUTSIDE = np.array([-1.6, 0.4, 3.0, 1.0])

INTERP = [
    case(np.interp, None, INSIDE, KNOTS, normal(4), label="inside"),
    case(np.interp, None, OUTSIDE, KNOTS, normal(4), label="beyond"),
    case(np.interp, None, np.float64(0.3), KNOTS, normal(4), label="0-d"),
    case(np.interp, None, np.float64(4.0), KNOTS, normal(4), label="0-d beyond"),
    case(np.interp, None, between(-0.9, 1.9, 2, 3), KNOTS, normal(4), label="2-d"),
    case(np.interp, None, normal(0), KNOTS, normal(4), label="empty"),
    case(np.interp, None, INSIDE, np.array([7.0]), normal(1), label="one knot"),
    case(np.interp, None, INSIDE, KNOTS, complexes(4), label="complex"),
    case(np.interp, None, OUTSIDE, KNOTS, normal(4), normal(), normal(seed=1), label="both ends"),
    case(
        np.interp, lambda x, a, b, end: np.interp(x, a, b, left=end), OUTSIDE, KNOTS, normal(4), normal(), label="left"
    ),
    case(
        np.interp,
        lambda x, a, b, end: np.interp(x, a, b, right=end),
        OUTSIDE,
        KNOTS,
        normal(4),
        normal(),
        label="right",
    ),
    case(np.interp, lambda x: np.interp(x, KNOTS, [1.0, 2.0, 0.0, 5.0], 7.0), OUTSIDE, label="x alone"),
    case(np.interp, lambda fp: np.interp([0.3, 0.9], KNOTS, fp), normal(4), label="fp alone"),
    case(np.interp, lambda fp: np.interp(0.3, [0.0, 1.0], fp), normal(2), label="number and list"),
    case(np.interp, lambda xp: np.interp(INSIDE, xp, PLACES), KNOTS, label="xp alone"),
]

ANGLES = 9 * normal(5)
ROUND = 5 * normal(4, seed=3)

INTERP += [
    case(np.interp, lambda x, xp, fp: np.interp(x, xp, fp, period=4.1), ANGLES, ROUND, normal(4), label="period"),
    case(
        np.interp,
        lambda x, xp, fp, period: np.interp(x, xp, fp, period=period),
        ANGLES,
        ROUND,
        normal(4),
        np.float64(-4.1),
        label="period",
    ),
    case(np.interp, lambda fp: np.interp(-7.3, [1.0, 2, 3], fp, 8.0, 9.0, 3.5), complexes(3), label="period, fp alone"),
    case(
        np.interp,
        lambda x: np.interp(x, [190, -190, 350, -350], [5, 10, 3, 4], period=360),
        40 * ANGLES,
        label="period, x alone",
    ),
]

CASES = [*DIFF, *GRADIENT, *TRAPEZOID, *INTERP]

single = partial(np.asarray, dtype=np.float32)
LINE = np.array([0.0, 1.0, 3.0])
HEIGHTS = np.array([0.0, 2.0, 8.0])

SPECIAL = [
    special(np.diff, None, [single([1, 2, 4])], [[-1, 0, 1]], label="float32"),
    special(np.diff, lambda x: np.diff(x, n=2), [[1.0, 2.0]], [[0, 0]], label="too many"),
    special(np.ediff1d, None, [single([1, 2, 4])], [[-1, 0, 1]], label="float32"),
    special(np.gradient, None, [single([1, 2, 4])], [[-1.5, 0, 1.5]], label="float32"),
    special(
        np.gradient,
        lambda f: np.gradient(f, np.array([0.0, 1.0, 2.0])),
        [single([1, 2, 4])],
        [[-1.5, 0, 1.5]],
        label="float32 places",
    ),
    *(
        special(
            np.gradient,
            lambda f, order=order: np.gradient(f, edge_order=order)[np.array([1, -1])],
            [[3.0, odd, 2.0, 5.0, 4.0]],
            [np.add(last, [-0.5, 0, 0.5, 0, 0])],
            label=f"beside {odd} {order}",
        )
        for odd in (np.nan, np.inf)
        for order, last in ((1, [0, 0, 0, -1, 1]), (2, [0, 0, 0.5, -2, 1.5]))
    ),
    special(
        np.gradient,
        lambda f: np.gradient(f, constant([0.0, 1.0, 2.0]))[1],
        [[3.0, np.nan, 2.0]],
        [[-0.5, 0, 0.5]],
        label="beside nan with places",
    ),
    special(np.trapezoid, None, [single([1, 2, 4])], [[0.5, 1, 0.5]], label="float32"),
    special(np.trapezoid, None, [[1.0, 1.0], [2.0, 2.0]], [[0, 0], [-1, 1]], label="no width"),
    # at a knot the slope on the right, at the last one that on the left
    special(np.interp, lambda x: np.interp(x, LINE, HEIGHTS), [LINE], [[2, 3, 3]], label="at knots"),
    special(np.interp, lambda x: np.interp(x, LINE, HEIGHTS), [[-1.0, 4.0]], [[0, 0]], label="beyond"),
    special(np.interp, lambda x: np.interp(x, LINE, HEIGHTS), [single([0.5])], [[2]], label="float32"),
    special(np.interp, lambda f: np.interp([1.0, 9.0], LINE, f), [HEIGHTS], [[0, 1, 1]], label="knot heights"),
]

REFUSED = [
    refused(
        np.interp,
        lambda x: np.interp(x, LINE, HEIGHTS, period=0),
        [[1.0]],
        ValueError,
        "period must be a non-zero value",
    ),
    refused(
        np.interp, lambda x: np.interp(x, LINE, HEIGHTS[:2], period=1), [[1.0]], ValueError, "not of the same length"
    ),
    refused(np.gradient, None, [[1.0]], ValueError, "too small"),
    refused(np.gradient, lambda f: np.gradient(f, 1.0, 2.0), [[1.0, 2.0]], TypeError, "invalid number of arguments"),
    refused(np.gradient, lambda f: np.gradient(f, edge_order=3), [[1.0, 2.0]], ValueError, "edge_order"),
    refused(np.diff, lambda a: np.diff(a, n=-1), [[1.0, 2.0]], ValueError, "non-negative"),
    refused(np.diff, None, [1.0], ValueError, "at least one dimension"),
]
