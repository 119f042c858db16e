"""Cases of sums, means, extremes, products and running totals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tapemagic.errors import ImmutableError, ShapeError, UnsupportedArgumentError
from tests.rules.harness import case, derivative, normal, plain, positive, refused, special

NAN, INF = np.nan, np.inf
CUBE = (2, 3, 2)
MASK = np.array([[True, False, True], [False, True, True]])
FORMS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((), {"axis": ()}),
    ((3,), {}),
    ((3,), {"axis": 0, "keepdims": True}),
    ((2, 3), {}),
    ((2, 3), {"keepdims": True}),
    ((2, 3), {"axis": 1}),
    ((2, 3), {"axis": np.array(0)}),
    (CUBE, {"axis": 1}),
    (CUBE, {"axis": -3, "keepdims": True}),
    (CUBE, {"axis": (-1, 0)}),
    (CUBE, {"axis": (0, 1), "keepdims": True}),
    (CUBE, {"axis": (0, 1, 2)}),
)
"""Shapes, with the forms that `axis` and `keepdims` can take."""

WHERE: tuple[dict[str, Any], ...] = (
    {"where": MASK},
    {"where": MASK, "axis": 1},
    {"where": MASK[:1], "axis": 1, "keepdims": True},
    {"where": True},
)
SUMS = (np.sum, np.nansum, np.prod, np.nanprod)
EXTREMES = (np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin)
MEANS = (np.mean, np.nanmean)
SPREADS = (np.var, np.std, np.nanvar, np.nanstd)
ORDERED = (np.ptp, np.median, np.nanmedian)
RUNNING = (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)


def complexes(*shape: int, seed: int = 0) -> Any:
    """Complex numbers."""
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 100)


def apart(*shape: int, seed: int = 0) -> Any:
    """Numbers of which no two are close to each other."""
    order = np.random.default_rng(seed).permutation(int(np.prod(shape)))
    return (order.reshape(shape) / 2 - 1) * np.float64(1)


def gapped(x: Any) -> Any:
    """The same with a number that is missing."""
    x = np.array(x)
    x.flat[1] = NAN
    return x


def with_gaps(function: Callable[..., Any], gaps: Any, **options: Any) -> Callable[..., Any]:
    """The function of what is there, with NaN put where `gaps` are true."""
    return lambda x: function(np.where(gaps, NAN, x), **options)


def text(options: dict[str, Any]) -> str:
    """Options for the name of a test."""
    return " ".join(f"{name}={value}" for name, value in options.items()).replace("\n", "")


def over_forms() -> list[Any]:
    """Each reduction with each form of axis, on numbers of which none is like another."""
    cases = []
    for function in (*SUMS, *MEANS, *EXTREMES, *SPREADS, *ORDERED):
        for shape, options in FORMS:
            flat = shape == () or text(options) == "axis=()"
            if function in SPREADS and flat:
                continue  # no spread, and no smooth one: see SPECIAL
            call = partial(function, **options)
            cases.append(case(function, call, apart(*shape, seed=2), label=f"{shape} {text(options)}"))
    return cases


def over_where() -> list[Any]:
    """Reductions of the elements that are chosen, and with a start."""
    cases = []
    for function in (*SUMS, *MEANS, *SPREADS):
        cases += [case(function, partial(function, **options), normal(2, 3), label=text(options)) for options in WHERE]
    for function in EXTREMES:
        start = -9.0 if "max" in function.__name__ else 9.0
        cases += [
            case(function, partial(function, initial=start, **options), apart(2, 3), label=text(options))
            for options in (*WHERE, {"axis": 1})
        ]
    for function in SUMS:
        cases.append(case(function, partial(function, initial=2.5), normal(3), label="initial"))
        cases.append(case(function, partial(function, initial=2.5, where=MASK), normal(2, 3), label="initial where"))
    return cases


def over_gaps() -> list[Any]:
    """Reductions that leave NaN out, where there is one."""
    cases = []
    gaps = np.array([[False, True, False], [False, False, False]])
    for function in (np.nansum, np.nanmean, np.nanprod, np.nanmax, np.nanmin, np.nanmedian):
        for axis in (None, 0, 1):
            call = with_gaps(function, gaps, axis=axis)
            cases.append(case(function, call, apart(2, 3), label=f"gap {axis}"))
    for function in (np.nanvar, np.nanstd):
        for axis in (None, 1, -1):
            call = with_gaps(function, gaps, axis=axis)
            cases.append(case(function, call, apart(2, 3), label=f"gap {axis}"))
    for function in (np.nancumsum, np.nancumprod):
        for axis in (None, 0, 1):
            call = with_gaps(function, gaps, axis=axis)
            cases.append(case(function, call, normal(2, 3), label=f"gap {axis}"))
    return cases


def over_spreads() -> list[Any]:
    """Variances with fewer degrees of freedom, and of complex numbers."""
    cases = []
    choices: tuple[dict[str, Any], ...] = (
        {"ddof": 1},
        {"mean": 0.3},
        {"correction": 1.5},
        {"ddof": 1, "axis": 1, "where": MASK},
        {"axis": 0, "ddof": 0.5},
    )
    for function in SPREADS:
        cases += [
            case(function, partial(function, **options), normal(2, 3), label=text(options)) for options in choices
        ]
        cases.append(case(function, function, complexes(3), label="complex"))
        cases.append(case(function, partial(function, axis=0), complexes(3, 2), label="complex axis"))
        for mean, given in (
            (normal(seed=4), {}),
            (normal(2, 1, seed=4), {"axis": 1, "ddof": 1}),
            (normal(2, 1, seed=4), {"axis": 1, "keepdims": True}),
            (normal(1, 3, seed=4), {"axis": 0, "where": MASK}),
        ):
            call = with_mean(function, **given)
            cases.append(case(function, call, normal(2, 3), mean, label=f"mean, {text(given)}"))
        cases += [
            case(
                function,
                lambda x, f=function: f(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)),
                normal(2, 3),
                label="its own mean",
            ),
            case(function, with_mean(function), complexes(2, 3), normal(), label="complex, mean"),
            case(function, lambda x, f=function: f(x, 1, None, None, 1, True), normal(2, 3)),
        ]
    return cases


def with_mean(function: Any, **options: Any) -> Any:
    """A variance of the first array with the second one as the mean."""
    return lambda x, mean: function(x, mean=mean, **options)


def over_running() -> list[Any]:
    """Running sums and products along each axis, and of all elements."""
    cases = []
    for function in RUNNING:
        for shape, axes in (((), (None,)), ((5,), (None, 0, -1)), ((2, 3), (None, 0, 1)), (CUBE, (1, -1))):
            for axis in axes:
                call = partial(function, axis=axis)
                cases.append(case(function, call, normal(*shape), label=f"{shape} {axis}"))
        cases.append(case(function, partial(function, axis=0), normal(1, 3), label="one"))
        cases.append(case(function, function, normal(9), label="long"))
        cases.append(case(function, function, np.array([2.0, 0.0, 3.0, 0.0, 1.5]), label="zeros"))
        cases.append(case(function, function, complexes(4), label="complex"))
        cases.append(case(function, function, normal(0), label="empty"))
    return cases


def over_products() -> list[Any]:
    """Products with one, two and three zeros, along one axis and along several."""
    cases = []
    for function in (np.prod, np.nanprod):
        for zeros in (1, 2, 3):
            x = positive(4)
            x[:zeros] = 0
            cases.append(case(function, function, x, label=f"{zeros} zeros"))
        x = normal(*CUBE)
        x[0, 1, 1] = x[1, 1, 0] = 0
        cases += [
            case(function, partial(function, axis=axis), x, label=f"zeros {axis}") for axis in (None, 0, (0, 2), (2, 1))
        ]
        cases.append(case(function, partial(function, axis=0), complexes(3, 2), label="complex"))
    return cases


def over_cumulative() -> list[Any]:
    """Running totals by their newer names, with what they begin with and without."""
    if not hasattr(np, "cumulative_sum"):  # from NumPy 2.1 on
        return []
    return [
        case(function, partial(function, **options), x, label=f"{x.shape}, {text(options)}")
        for function in (np.cumulative_sum, np.cumulative_prod)
        for initial in ({}, {"include_initial": True})
        for x, options in (
            (normal(), initial),
            (normal(5), initial),
            (normal(0), initial),
            (complexes(4), initial),
            (normal(2, 3), {"axis": 0, **initial}),
            (normal(2, 3), {"axis": -1, "dtype": np.complex128, **initial}),
            (normal(*CUBE), {"axis": 1, **initial}),
        )
    ]


MANY = np.full(70_000, 0.5, np.float16)
SHARE = np.full(MANY.shape, np.float16(1 / MANY.size))

CASES = [
    *over_cumulative(),
    *over_forms(),
    *over_where(),
    *over_gaps(),
    *over_spreads(),
    *over_running(),
    *over_products(),
    *(case(function, partial(function, axis=0), normal(0, 2), label="empty") for function in (*SUMS, np.cumsum)),
    *(case(function, partial(function, axis=1), normal(0, 2), label="no rows") for function in (*SUMS, *MEANS, np.max)),
    *(
        case(function, partial(function, axis=1), normal(0, 2), label="no rows")
        for function in (*ORDERED, np.std, np.var)
    ),
    *(case(function, partial(function, axis=0), complexes(3, 2), label="complex") for function in (*SUMS, *MEANS)),
    case(np.sum, np.add.reduce, normal(2, 3), label="add.reduce"),
    case(np.sum, lambda x: np.add.reduce(x, axis=(0, 1)), normal(2, 3), label="add.reduce axes"),
    case(np.prod, lambda x: np.multiply.reduce(x, axis=-1), normal(2, 3), label="multiply.reduce"),
    case(np.max, np.maximum.reduce, apart(2, 3), label="maximum.reduce"),
    case(np.min, np.minimum.reduce, apart(2, 3), label="minimum.reduce"),
    case(np.cumsum, lambda x: np.add.accumulate(x, axis=1), normal(2, 3), label="add.accumulate"),
    case(np.cumprod, np.multiply.accumulate, normal(2, 3), label="multiply.accumulate"),
    case(np.sum, lambda x: np.sum(x, 1, np.float64, None, True), normal(2, 3), label="by position"),
    case(np.sum, lambda x: x.sum(axis=0).sum(), normal(2, 3), label="method"),
    case(np.mean, lambda x: np.sin(np.mean(x, axis=0)) * x, normal(2, 3), label="used again"),
    case(np.max, lambda x: np.max(x * x, axis=0), apart(3, 2) + 1.1, label="of squares"),
    case(np.median, None, apart(4), label="even"),
    case(np.median, lambda x: np.median(x, axis=1), apart(3, 4), label="even rows"),
    case(np.var, lambda m: np.var([1.0, 2.0], mean=m), normal(), label="mean alone"),
    case(np.std, lambda m: np.std([1.0, 2.0], mean=m), normal(), label="mean alone"),
    case(np.average, None, normal(3), label="no weights"),
    case(np.average, lambda a: np.average(a, axis=1, keepdims=True), normal(2, 3), label="no weights axis"),
    case(np.average, lambda a: np.average(a, axis=0, returned=True), normal(2, 3), label="no weights returned"),
    case(np.average, partial(np.average, axis=np.array(0)), normal(2, 3), label="axis as array"),
    *(
        case(np.average, lambda a: np.average(a, 0, [1, 2], True), x, label="whole weights returned")
        for x in (normal(2), complexes(2))
    ),
    case(np.average, lambda a: np.average(a, returned=True), complexes(3), label="complex returned"),
    case(np.average, lambda a, w: np.average(a, weights=w), normal(3), positive(3)),
    case(np.average, lambda a, w: np.average(a, weights=w), normal(2, 3), positive(2, 3), label="2-d"),
    case(np.average, lambda a, w: np.average(a, 0, w), normal(2, 3), positive(2, 3), label="axis"),
    case(np.average, lambda a, w: np.average(a, 1, w), normal(2, 3), positive(3), label="1-d weights"),
    case(np.average, lambda a, w: np.average(a, -2, w, keepdims=True), normal(2, 3), positive(2), label="keepdims"),
    case(np.average, lambda a, w: np.average(a, (0, 2), w), normal(*CUBE), positive(2, 2), label="axes"),
    case(np.average, lambda a, w: np.average(a, (1, 0), w), normal(*CUBE), positive(3, 2), label="turned axes"),
    case(np.average, lambda a, w: np.average(a, 1, w, True), normal(2, 3), positive(3), label="returned"),
    case(np.average, lambda a, w: np.average(a, None, w, True), normal(3), positive(3), label="returned all"),
    case(np.average, lambda a: np.average(a, weights=[1.0, 2.0, 3.0]), normal(3), label="a list of weights"),
    case(np.average, lambda w: np.average(np.array([1.0, 5.0, 2.0]), weights=w), positive(3), label="weights alone"),
    case(np.average, lambda a, w: np.average(a, weights=w), complexes(3), complexes(3, seed=5), label="complex"),
]

single = partial(np.asarray, dtype=np.float32)

SPECIAL = [
    # ties share evenly, along each axis by itself
    special(np.max, None, [[1.0, 3.0, 3.0]], [[0, 0.5, 0.5]], label="tie"),
    special(np.amax, None, [[1.0, 3.0, 3.0]], [[0, 0.5, 0.5]], label="tie"),
    special(np.min, None, [[1.0, 1.0, 1.0, 3.0]], [[1 / 3, 1 / 3, 1 / 3, 0]], label="tie"),
    special(np.amin, None, [[1.0, 1.0, 3.0]], [[0.5, 0.5, 0]], label="tie"),
    special(np.nanmax, None, [[3.0, NAN, 3.0]], [[0.5, 0, 0.5]], label="tie"),
    special(np.nanmin, None, [[1.0, NAN, 1.0]], [[0.5, 0, 0.5]], label="tie"),
    special(np.max, lambda x: np.max(x, axis=1), [[[2.0, 2.0], [1.0, 4.0]]], [[[0.5, 0.5], [0, 1]]], label="tie axis"),
    special(np.max, derivative(lambda x: np.max(x) ** 2), [[1.0, 3.0, 3.0]], [[0, 1, 1]], label="tie twice"),
    special(np.max, lambda x: np.max(x, initial=5.0), [[1.0, 3.0]], [[0, 0]], label="initial wins"),
    special(np.max, None, [single([1, 3, 3])], [[0, 0.5, 0.5]], label="float32"),
    special(np.max, None, [[1.0, NAN, 3.0]], [[0, 1, 0]], label="nan wins"),
    special(np.max, None, [[INF, INF]], [[0.5, 0.5]], label="infinite"),
    special(np.ptp, None, [[1.0, 3.0, 3.0]], [[-1, 0.5, 0.5]], label="tie"),
    special(np.ptp, None, [[2.0, 2.0]], [[0, 0]], label="equal"),
    special(np.ptp, None, [4.0], [0], label="0-d"),
    special(np.nanmax, None, [[NAN, NAN]], [[0, 0]], label="all nan", warns=True),
    special(np.nanmin, None, [[NAN, NAN]], [[0, 0]], label="all nan", warns=True),
    # the median of ties is the middle of the stable order
    special(np.median, None, [[2.0, 1.0, 2.0, 2.0, 5.0]], [[0, 0, 1, 0, 0]], label="tie"),
    special(np.median, None, [[3.0, 1.0, 3.0, 7.0]], [[0.5, 0, 0.5, 0]], label="even"),
    special(
        np.median,
        lambda x: np.median(x, axis=1),
        [[[1.0, NAN, 2.0], [3.0, 1.0, 2.0]]],
        [[[NAN] * 3, [0, 0, 1]]],
        label="nan",
    ),
    special(np.median, None, [single([3, 1, 2])], [[0, 0, 1]], label="float32"),
    special(np.median, None, [np.zeros(0)], [np.zeros(0)], label="empty", warns=True),
    special(np.nanmedian, None, [[NAN, 1.0, 5.0, NAN, 2.0]], [[0, 0, 0, 0, 1]], label="nan"),
    special(np.nanmedian, None, [[NAN, NAN]], [[0, 0]], label="all nan", warns=True),
    # the spread of equal values, also where the mean is rounded
    special(np.std, None, [[1.0, 1.0]], [[0, 0]], label="equal"),
    special(np.std, None, [[0.1, 0.1, 0.1]], [[0, 0, 0]], label="equal, rounded"),
    special(np.std, None, [2.0], [0], label="0-d"),
    special(np.std, lambda x: np.std(x, axis=0), [[[1.0, 0.0], [1.0, 2.0]]], [[[0, -0.5], [0, 0.5]]], label="axis"),
    special(np.std, derivative(np.std), [[1.0, 1.0]], [[NAN, NAN]], label="equal twice"),
    special(np.std, None, [single([0, 2])], [[-0.5, 0.5]], label="float32"),
    special(
        np.std, lambda x: np.std(x, where=[True, False, True]), [[1.0, 7.0, 1.0]], [[0, 0, 0]], label="equal where"
    ),
    *(
        special(f, None, [[x, -3 * x]], [[0.5, -0.5]], label=f"{x:g}", warns=x > 1)
        for f in (np.std, np.nanstd)
        for x in (1e160, 1e-200)
    ),
    special(
        np.std,
        lambda x: np.std(x, axis=0),
        [[[1e-200, 1.0, 0.0], [3e-200, 2.0, 0.0]]],
        [[[-0.5, -0.5, 0], [0.5, 0.5, 0]]],
        label="columns of several sizes",
    ),
    special(np.nanstd, None, [[1.0, NAN, 1.0]], [[0, 0, 0]], label="equal"),
    special(np.nanstd, None, [[NAN, NAN]], [[NAN, NAN]], label="all nan", warns=True),
    special(np.nanvar, None, [[NAN, NAN]], [[NAN, NAN]], label="all nan", warns=True),
    special(np.var, None, [[1.0, 1.0]], [[0, 0]], label="equal"),
    special(np.var, None, [2.0], [0], label="0-d"),
    special(np.var, None, [np.zeros(0)], [np.zeros(0)], label="empty", warns=True),
    special(np.std, None, [np.zeros(0)], [np.zeros(0)], label="empty", warns=True),
    special(np.var, lambda x: np.var(x, ddof=1), [[3.0]], [[NAN]], label="no freedom", warns=True),
    # sums
    # more elements than the largest number of float16
    *(
        special(f, call, [MANY], [SHARE], label=f"many {k}")
        for f in (np.mean, np.nanmean, np.average)
        for k, call in enumerate((f, lambda x, f=f: f(x[:, None] * 1, axis=0)[0]))
    ),
    special(np.var, lambda x: np.var(x - 1), [MANY], [MANY * 0], label="many"),
    special(np.sum, None, [3.0], [1], label="0-d"),
    special(np.sum, None, [np.zeros(0)], [np.zeros(0)], label="empty"),
    special(np.sum, None, [single([[1, 2], [3, 4]])], [np.ones((2, 2))], label="float32"),
    special(np.sum, lambda x: np.sum(x, dtype=np.float32), [[1.0, 2.0]], [[1, 1]], label="dtype"),
    special(np.sum, lambda x: np.sum(x, axis=0) / 0.0, [[1.0, 2.0]], [[INF, INF]], label="infinite", warns=True),
    special(np.mean, None, [3.0], [1], label="0-d"),
    special(np.mean, None, [np.zeros(0)], [np.zeros(0)], label="empty", warns=True),
    special(np.mean, None, [single([1, 2, 3, 4])], [np.full(4, 0.25)], label="float32"),
    special(np.nansum, None, [[1.0, NAN]], [[1, 0]], label="nan"),
    special(np.nansum, None, [[NAN, NAN]], [[0, 0]], label="all nan"),
    special(np.nanmean, None, [[1.0, NAN, 2.0]], [[0.5, 0, 0.5]], label="nan"),
    special(np.nanmean, None, [[NAN, NAN]], [[0, 0]], label="all nan", warns=True),
    special(np.average, lambda x: np.average(x, weights=[0.0, 2.0]), [[1.0, 4.0]], [[0, 1]], label="no weight"),
    # products with zeros
    special(np.prod, None, [[0.0, 2.0, 3.0]], [[6, 0, 0]], label="zero"),
    special(np.prod, None, [[0.0, 0.0, 3.0]], [[0, 0, 0]], label="zeros"),
    special(np.prod, derivative(np.prod), [[0.0, 2.0, 3.0]], [[5, 3, 2]], label="zero twice"),
    special(np.prod, derivative(np.prod), [[0.0, 0.0, 3.0]], [[3, 3, 0]], label="zeros twice"),
    special(np.prod, None, [[1e-200, 1e-200]], [[1e-200, 1e-200]], label="underflow"),
    special(np.prod, None, [np.zeros(0)], [np.zeros(0)], label="empty"),
    special(np.prod, None, [5.0], [1], label="0-d"),
    special(np.prod, None, [single([0, 2, 3])], [[6, 0, 0]], label="float32"),
    special(np.nanprod, None, [[NAN, 0.0, 3.0]], [[0, 3, 0]], label="nan"),
    special(np.cumprod, None, [[2.0, 0.0, 3.0]], [[1, 8, 0]], label="zero"),
    special(np.cumprod, derivative(np.cumprod), [[2.0, 0.0, 3.0]], [[4, 6, 2]], label="zero twice"),
    special(np.cumprod, None, [single([2, 0, 3])], [[1, 8, 0]], label="float32"),
    special(np.cumprod, None, [np.zeros((2, 0))], [np.zeros((2, 0))], label="empty"),
    special(np.cumsum, None, [single([1, 2, 3])], [[3, 2, 1]], label="float32"),
    special(np.cumsum, None, [2.0], [1], label="0-d"),
    special(np.nancumsum, None, [[1.0, NAN, 3.0]], [[3, 0, 1]], label="nan"),
    special(np.nancumprod, None, [[2.0, NAN, 3.0]], [[5, 0, 2]], label="nan"),
]

PLAIN = [
    *(
        plain(function, call, apart(2, 3), label=label)
        for function in (np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.all, np.any, np.count_nonzero)
        for label, call in (("all", function), ("axis", partial(function, axis=1)))
    ),
    plain(np.nanargmax, np.nanargmax, gapped(apart(3)), label="nan"),
    plain(np.all, np.logical_and.reduce, apart(2, 3), label="logical_and.reduce"),
    plain(np.any, lambda x: (x > 0).any(axis=0), apart(2, 3), label="method"),
    plain(np.argmax, lambda x: x.argmax(), apart(2, 3), label="method"),
]

REFUSED = [
    refused(np.sum, lambda x: np.sum(x, out=np.zeros(())), [[1.0, 2.0]], ImmutableError, "out"),
    *(
        refused(
            function, lambda x, f=function: f(x, overwrite_input=True), [[1.0, 2.0]], ImmutableError, "overwrite_input"
        )
        for function in (np.median, np.nanmedian)
    ),
    *(
        refused(function, lambda x, f=function: f(x, None, np.zeros(())), [[1.0, 2.0]], ImmutableError, "out=")
        for function in (np.median, np.nanmedian)
    ),
    *(
        refused(function, lambda x, f=function: f(x, None, None, np.zeros(2)), [[1.0, 2.0]], ImmutableError, "out=")
        for function in (*SPREADS, np.nancumsum, np.nancumprod)
    ),
    refused(
        np.sum, lambda x: np.sum(x, initial=x[0]), [[1.0]], UnsupportedArgumentError, "has no derivative in 'initial'"
    ),
    refused(np.average, lambda x: np.average(x, weights=[1.0, 2.0]), [normal(2, 3)], ShapeError, "weights"),
    refused(np.average, lambda x: np.average(x, 1, [1.0, 2.0]), [normal(2, 3)], ShapeError, "one weight for each"),
    refused(np.max, None, [np.zeros(0)], ValueError, "zero-size"),
    refused(np.sum, lambda x: np.sum(x, axis=2), [normal(2, 3)], ValueError, "axis 2 is out of bounds"),
]
