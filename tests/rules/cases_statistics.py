"""Cases of quantiles, covariances, histograms and sets."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tapemagic.errors import ImmutableError, UnsupportedArgumentError
from tests.rules.harness import between, case, normal, positive, refused, special

NAN, INF = np.nan, np.inf
A, CUBE, X = normal(3, 4), normal(2, 3, 4), normal(5, seed=3)
OTHER = normal(2, 4, seed=5)
PLANE = normal(3, 4) + 1j * normal(3, 4, seed=1)

QUANTILES = {np.quantile: 1, np.percentile: 100, np.nanquantile: 1, np.nanpercentile: 100}
DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
JUMPING = (*DISCRETE, "averaged_inverted_cdf", "midpoint")
SMOOTH = ("interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased")
PARTS = (np.float64(0.37), np.array([0.22, 0.61]), np.array([[0.22], [0.61]]))
single = partial(np.asarray, dtype=np.float32)


def text(options: dict[str, Any]) -> str:
    """Keyword arguments as a label."""
    return ", ".join(f"{key}={value}" for key, value in options.items())


def with_gaps(call: Any, gaps: Any) -> Any:
    """A call on values some of which are NaN."""
    return lambda a, *rest: call(np.where(gaps, NAN, a), *rest)


def over_quantiles() -> list[Any]:
    """Quantiles in each form: one, a row, a table of them; of all values, along an axis, along several."""
    cases = []
    for function, scale in QUANTILES.items():
        for q in PARTS:
            for axis in (None, 0, -1, (1,), (0, -1)):
                for keepdims in (False, True):
                    options = {"axis": axis, "keepdims": keepdims}
                    call = partial(function, **options)
                    label = f"{q.shape}, {text(options)}"
                    cases.append(case(function, call, A, q * scale, label=label))
        for method in (*SMOOTH, *JUMPING):
            call = partial(function, method=method, axis=1)
            cases += [case(function, call, A, q * scale, label=f"{q.shape}, {method}") for q in PARTS[:2]]
        cases += [
            case(function, partial(function, axis=(2, 0)), CUBE, PARTS[1] * scale, label="turned"),
            case(function, partial(function, axis=()), A, PARTS[1] * scale, label="no axis"),
            case(function, lambda a, f=function: f(a, 0.37), X, label="number"),
            case(function, lambda a, f=function: f(a, [0.2, 1]), X, label="list"),
            case(function, None, normal(), PARTS[1] * scale, label="0-d"),
            case(function, None, normal(1), PARTS[1] * scale, label="one value"),
            case(function, lambda q, f=function: f([3.0, 1.0, 7.0], q), PARTS[1], label="q alone"),
            case(function, lambda q, f=function: f(4, q), PARTS[1], label="q alone, of a number"),
            case(
                function,
                lambda a, q, f=function: f(a, q, 1, None, False, "hazen", True),
                A,
                PARTS[1] * scale,
                label="by position",
            ),
            case(function, partial(function, axis=0), normal(2, 0, 3), PARTS[1] * scale, label="no rows")
            if scale == 1 and function is np.quantile
            else case(function, None, A.T, PARTS[0] * scale, label="other layout"),
            *(
                case(
                    function,
                    lambda a, q, w, f=function, axis=axis: f(a, q, axis, weights=w, method="inverted_cdf"),
                    A,
                    PARTS[1] * scale,
                    weights,
                    label=f"weights, {axis}",
                )
                for axis, weights in ((None, positive(3, 4)), (1, positive(3, 4)))
            ),
        ]
    for function in (np.quantile, np.percentile):
        call = partial(function, axis=1, weights=[1, 2, 0, 1], method="inverted_cdf")
        cases.append(case(function, call, A, PARTS[1] * QUANTILES[function], label="weights"))
    gaps = np.array([[False, True, False, False], [False] * 4, [True, False, True, False]])
    for function in (np.nanquantile, np.nanpercentile):
        for method in (*SMOOTH, *JUMPING):
            call = with_gaps(partial(function, axis=1, method=method), gaps)
            cases.append(case(function, call, A, PARTS[1] * QUANTILES[function], label="gaps"))
    return cases


COVARIANCES = [
    *(case(np.cov, None, x) for x in (X, A, normal(1, 4), PLANE)),
    case(np.cov, np.cov, A, OTHER, label="two"),
    case(np.cov, np.cov, X, X * X, label="two rows"),
    case(np.cov, np.cov, PLANE, A, label="complex and real"),
    case(np.cov, lambda m, y: np.cov(m, y, False), A, normal(3, 2), label="columns"),
    case(np.cov, lambda m, y: np.cov(m, y, rowvar=False), normal(3), normal(3, 2), label="a row"),
    case(np.cov, lambda m: np.cov(m, rowvar=False), A, label="columns of one"),
    case(np.cov, lambda m: np.cov(m, [1.0, 2.0, 0.0, 5.0]), A, label="with a list"),
    case(np.cov, lambda y: np.cov([1.0, 2.0, 0.0, 5.0], y), A, label="of a list"),
    case(np.cov, partial(np.cov, bias=True), A, label="bias"),
    case(np.cov, partial(np.cov, ddof=2), A, label="ddof"),
    case(np.cov, partial(np.cov, fweights=[1, 3, 0, 2]), A, label="fweights"),
    case(np.cov, lambda m, w: np.cov(m, aweights=w), A, positive(4), label="aweights"),
    case(np.cov, lambda m, w: np.cov(m, aweights=w, ddof=0), PLANE, positive(4), label="aweights"),
    case(
        np.cov, lambda m, w: np.cov(m, fweights=[1, 3, 0, 2], aweights=w, ddof=3), A, positive(4), label="both weights"
    ),
    case(np.cov, lambda w: np.cov(A, aweights=w), positive(4), label="aweights alone"),
    case(np.cov, partial(np.cov, dtype=np.complex128), A, label="dtype"),
    case(np.cov, lambda m: np.cov(m, dtype=np.float64, aweights=[1, 2, 1, 2.0]), A, label="dtype"),
    *(case(np.corrcoef, None, x) for x in (A, normal(2, 5), PLANE)),
    case(np.corrcoef, np.corrcoef, A, OTHER, label="two"),
    case(np.corrcoef, partial(np.corrcoef, rowvar=False), normal(5, 3), label="columns"),
    case(np.corrcoef, lambda x: np.corrcoef(x, dtype=np.complex128), A, label="dtype"),
    case(np.corrcoef, lambda x: np.corrcoef(x) * x, X, label="one variable"),
]

EDGES = np.array([-2.5, -0.3, 0.4, 2.6])
VALUES = np.array([-1.93, -0.61, 0.05, 0.13, 0.87, 2.1])
WEIGHTS = positive(6, seed=2)
PLACES = between(-2, 2, 6, 2, seed=7)
DENSE = {"density": True}
BINS = ("auto", "fd", "doane", "scott", "rice", "sturges", "stone", "sqrt")

HISTOGRAMS = [
    *(case(np.histogram_bin_edges, partial(np.histogram_bin_edges, bins=b), VALUES) for b in BINS),
    case(np.histogram_bin_edges, None, VALUES.reshape(2, 3), label="2-d"),
    case(np.histogram_bin_edges, None, VALUES, EDGES),
    case(
        np.histogram_bin_edges,
        lambda a, end: np.histogram_bin_edges(a, 3, (-1.0, end)),
        VALUES,
        positive(),
        label="range",
    ),
    case(np.histogram_bin_edges, None, np.array([2.0]), label="one value"),
    case(np.histogram_bin_edges, partial(np.histogram_bin_edges, weights=WEIGHTS), VALUES),
    case(np.histogram, partial(np.histogram, bins=4, density=True), VALUES, label="density"),
    case(np.histogram, lambda a, b: np.histogram(a, b, density=True), VALUES, EDGES, label="edges"),
    *(
        case(
            np.histogram,
            lambda a, w, options=options: np.histogram(a, weights=w, **options),
            VALUES,
            WEIGHTS,
            label=text(options),
        )
        for options in (
            {},
            DENSE,
            {"bins": 3, "range": (-1, 1)},
            {"bins": EDGES[1:], **DENSE},
            {"bins": [-1.9, 0.0, 0.0, 2.2]},
        )
    ),
    case(
        np.histogram,
        lambda a, b, w: np.histogram(a, b, weights=w, density=True),
        VALUES.reshape(2, 3),
        EDGES,
        WEIGHTS.reshape(2, 3),
        label="2-d",
    ),
    case(np.histogram, lambda w: np.histogram(VALUES, 3, weights=w), WEIGHTS, label="weights"),
    case(np.histogram, lambda a: np.histogram(a, 3, weights=WEIGHTS, density=True), VALUES, label="plain weights"),
    case(np.histogram, lambda w: np.histogram(VALUES, [-2, 0, 3], weights=w), WEIGHTS + 1j * VALUES, label="complex"),
    *(
        case(
            np.histogram2d,
            lambda x, y, w, options=options: np.histogram2d(x, y, weights=w, **options),
            VALUES,
            PLACES[:, 0],
            WEIGHTS,
            label=text(options),
        )
        for options in (
            {},
            DENSE,
            {"bins": 3, "range": ((-1, 1), None)},
            {"bins": (2, 3), **DENSE},
            {"bins": (2, EDGES), **DENSE},
            {"bins": EDGES},
            {"bins": np.array([-2.0, 0.0, 2.0]), **DENSE},
        )
    ),
    case(np.histogram2d, lambda x, y: np.histogram2d(x, y, 2), VALUES, PLACES[:, 1], label="plain"),
    case(
        np.histogram2d, lambda e: np.histogram2d(VALUES, PLACES[:, 1], [2, e], density=True), EDGES, label="edges alone"
    ),
    *(
        case(
            np.histogramdd,
            lambda s, w, options=options: np.histogramdd(s, weights=w, **options),
            PLACES,
            WEIGHTS,
            label=text(options),
        )
        for options in ({"bins": 2}, {"bins": (2, 3), **DENSE}, {"bins": [EDGES, 3], "range": [None, (-1, 2)], **DENSE})
    ),
    case(np.histogramdd, lambda x: np.histogramdd([x, x * x], 2), VALUES, label="list"),
    case(np.histogramdd, lambda x: np.histogramdd(x, 3, density=True), VALUES, label="1-d"),
    case(
        np.histogramdd,
        lambda x, w: np.histogramdd(x, 2, weights=w, density=True),
        between(-2, 2, 9, 3),
        positive(9),
        label="3-d",
    ),
    case(np.histogramdd, lambda w: np.histogramdd(PLACES, 2, weights=w), WEIGHTS, label="weights"),
]

TWICE = np.array([2, 0, 1, 2, 0])


def of_unique(**options: Any) -> Any:
    """The values of ``np.unique``, computed with what it says of their places."""

    def call(x: Any) -> Any:
        values, *rest = np.unique(x, **options)
        return [values, *(values[..., part % values.shape[-1]] for part in rest)]

    return call


def of_named(function: Any) -> Any:
    """The values of a named tuple, computed with what else is in it."""

    def call(x: Any) -> Any:
        found = function(x)
        return [found.values[part % len(found.values)] for part in found[1:]]

    return call


SETS = [
    *(case(np.unique, None, x) for x in (normal(), X, A, CUBE, normal(0))),
    case(np.unique, lambda x: np.unique(x[TWICE]), normal(3), label="equal ones"),
    case(np.unique, of_unique(return_index=True), X, label="index"),
    case(np.unique, of_unique(return_inverse=True), X, label="inverse"),
    case(np.unique, of_unique(return_counts=True), X, label="counts"),
    case(np.unique, lambda x: np.unique(x, equal_nan=False), X, label="equal_nan"),
    *(case(np.unique, lambda x, k=axis: np.unique(x[TWICE % 2], axis=k), A) for axis in (0, -1)),
    case(np.unique, of_unique(return_index=True, return_counts=True, axis=1), A, label="columns"),
    case(np.unique_values, lambda x: np.sort(np.unique_values(x)), A),
    *(case(function, of_named(function), A) for function in (np.unique_counts, np.unique_inverse, np.unique_all)),
    case(np.union1d, None, A, X),
    case(np.union1d, lambda a: np.union1d(a, [1.0, 2.0]), A, label="with a list"),
    case(np.union1d, lambda b: np.union1d([1.0, 2.0], b), A, label="of a list"),
    case(np.setdiff1d, lambda a: np.setdiff1d(a, A), X, label="values"),
    case(np.setdiff1d, lambda a, b: np.setdiff1d(a, b, True), A, X, label="assume_unique"),
    case(np.setxor1d, None, A, X),
    case(np.setxor1d, lambda a, b: np.setxor1d(a, b, assume_unique=True), X, X + 1),
    case(np.setxor1d, np.setxor1d, normal(0), normal(0), label="empty"),
    case(np.intersect1d, None, A, X, label="nothing"),
]

CASES = [*over_quantiles(), *COVARIANCES, *HISTOGRAMS, *SETS]

SPECIAL = [
    special(np.quantile, lambda x: np.quantile(x, 0.25), [[1.0, 2.0, 4.0]], [[0.5, 0.5, 0]]),
    special(np.quantile, lambda x: np.quantile(x, 0.5), [[2.0, 1.0, 2.0]], [[1, 0, 0]], label="tie"),
    special(np.quantile, lambda x: np.quantile(x, 1), [[1.0, 3.0, 2.0]], [[0, 1, 0]], label="last"),
    special(np.quantile, lambda x: np.quantile(x, 0), [[4.0, 3.0, 2.0]], [[0, 0, 1]], label="first"),
    special(np.quantile, None, [[1.0, 3.0], 0.0], [[1, 0], 2], label="the first one's q"),
    special(np.quantile, None, [[1.0, 3.0], 1.0], [[0, 1], 0], label="the last one's q"),
    special(np.quantile, lambda x: np.quantile(x, 0.3), [[1.0, NAN, 3.0]], [[NAN] * 3], label="nan"),
    special(
        np.quantile, lambda x: np.quantile(x, 0.3, method="lower"), [[1.0, NAN, 3.0]], [[NAN] * 3], label="nan, lower"
    ),
    special(
        np.percentile,
        lambda x: np.percentile(x, [25, 50], axis=1),
        [[[1.0, NAN], [3.0, 4.0]]],
        [[[NAN, NAN], [1.25, 0.75]]],
        label="nan in a row",
    ),
    special(np.quantile, lambda x: np.quantile(x, 0.25), [single([1, 2])], [[0.75, 0.25]]),
    special(
        np.quantile,
        lambda x: np.quantile(x, 0.5, method="averaged_inverted_cdf"),
        [[1.0, 4.0, 2.0, 3.0]],
        [[0, 0, 0.5, 0.5]],
        label="averaged",
    ),
    special(
        np.quantile,
        lambda x: np.quantile(x, 0.5, method="midpoint"),
        [[1.0, 2.0, 3.0]],
        [[0, 1, 0]],
        label="midpoint of one",
    ),
    special(
        np.quantile, lambda x: np.quantile(x, 0.01, method="hazen"), [[4.0, 1.0]], [[0, 1]], label="beyond the first"
    ),
    special(np.quantile, lambda q: np.quantile([4.0, 1.0], q, method="hazen"), [0.99], [0], label="beyond the last"),
    special(
        np.nanquantile, lambda x: np.nanquantile(x, [0.5, 0.5]), [[NAN, NAN]], [[0, 0]], label="all nan", warns=True
    ),
    special(np.nanquantile, None, [[NAN, 1.0, 5.0], 0.25], [[0, 0.75, 0.25], 4], label="nan"),
    special(np.percentile, None, [[1.0, 5.0], 25.0], [[0.75, 0.25], 0.04]),
    special(np.nanpercentile, None, [[NAN, 1.0, 5.0], 25.0], [[0, 0.75, 0.25], 0.04], label="nan"),
    special(np.nanquantile, None, [np.zeros(0), 0.5], [np.zeros(0), 0], label="empty", warns=True),
    special(np.cov, None, [[1.0, 3.0]], [[-2, 2]]),
    special(np.cov, None, [[2.0, 2.0]], [[0, 0]], label="equal"),
    special(np.cov, None, [[2.0]], [[NAN]], label="no freedom", warns=True),
    special(np.cov, None, [single([1, 3])], [[-2, 2]], label="float32"),
    special(np.cov, None, [np.zeros((0, 3))], [None], label="no variables"),
    special(
        np.histogram,
        lambda w: np.histogram([0.0, 1.0, 2.0, 7.0, NAN], 2, (0, 2), weights=w)[0] * [1.0, 2.0],
        [np.ones(5)],
        [[1, 2, 2, 0, 0]],
        label="at edges and beyond",
    ),
    special(
        np.histogramdd,
        lambda w: np.histogramdd([[0.0, 1.0, 2.0, 7.0]], [2], [(0, 2)], weights=w)[0] * [1.0, 2.0],
        [np.ones(4)],
        [[1, 2, 2, 0]],
        label="at edges and beyond",
    ),
    special(np.histogram, lambda a: np.histogram(a)[0], [[1.0, 2.0]], [None], label="counts"),
    special(np.histogram_bin_edges, None, [np.zeros(0)], [None], label="empty"),
    special(np.unique, None, [[3.0, 1.0, 3.0]], [[1, 1, 0]], label="first of equals"),
    special(np.unique, None, [[NAN, 1.0, NAN]], [[1, 1, 0]], label="nan"),
    special(np.unique_values, None, [[3.0, 1.0, 3.0]], [[1, 1, 0]], label="first of equals"),
    special(np.intersect1d, None, [[3.0, 1.0, 3.0], [5.0, 3.0]], [[1, 0, 0], None]),
    special(
        np.intersect1d,
        lambda a, b: np.intersect1d(a, b, return_indices=True)[0],
        [[3.0, 1.0, 3.0], [5.0, 3.0]],
        [[1, 0, 0], None],
        label="indices",
    ),
    special(
        np.intersect1d,
        lambda b: np.intersect1d([1.0, 3.0], b, assume_unique=True),
        [[5.0, 3.0]],
        [[0, 1]],
        label="second alone",
    ),
    special(np.union1d, None, [[3.0, 1.0], [3.0, 2.0]], [[1, 1], [0, 1]], label="in both"),
    special(np.setdiff1d, None, [[3.0, 1.0, 1.0], [3.0]], [[0, 1, 0], None], label="in both"),
    special(np.setxor1d, None, [[3.0, 1.0], [3.0, 2.0]], [[0, 1], [0, 1]], label="in both"),
]

REFUSED = [
    *(
        refused(
            function,
            lambda x, f=function, a=axis: f(x, [[0.5], [0.1]], axis=a),
            [normal(2, 3, 4)],
            UnsupportedArgumentError,
            "wrong order: write",
        )
        for function in (np.nanquantile, np.nanpercentile)
        for axis in ((0, 1), ())
    ),
    *(
        refused(function, lambda x, f=function: f(x, 0.5, overwrite_input=True), [X], ImmutableError, "overwrite_input")
        for function in QUANTILES
    ),
    *(
        refused(function, lambda x, f=function: f(x, 0.5, None, np.zeros(())), [X], ImmutableError, "out=")
        for function in QUANTILES
    ),
    refused(np.quantile, lambda x: np.quantile(x, 2.0), [X], ValueError, "range"),
    refused(np.percentile, lambda x: np.percentile(x, -2.0), [X], ValueError, r"\[0, 100\]"),
    refused(np.quantile, lambda x: np.quantile(x, 0.5, method="best"), [X], ValueError, "best"),
    refused(np.quantile, lambda x: np.quantile(x, 0.5), [PLANE], TypeError, "real"),
    refused(np.quantile, lambda x: np.quantile(x, 0.5, weights=X), [X], ValueError, "inverted_cdf"),
    refused(np.cov, None, [CUBE], ValueError, "m has more than 2 dimensions"),
    refused(np.cov, lambda x: np.cov(A, x), [CUBE], ValueError, "y has more than 2 dimensions"),
    refused(np.cov, lambda x: np.cov(x, ddof=0.5), [A], ValueError, "integer"),
    refused(np.cov, lambda x: np.cov(x, fweights=[0.5] * 4), [A], TypeError, "integer"),
    refused(np.cov, lambda x: np.cov(x, aweights=[-1.0] * 4), [A], ValueError, "negative"),
    refused(np.cov, lambda x: np.cov(x, aweights=[1.0] * 3), [A], RuntimeError, "incompatible"),
    refused(np.histogram, lambda x: np.histogram(x, 0), [X], ValueError, "positive"),
    refused(np.histogram, lambda x: np.histogram(x, weights=A), [X], ValueError, "same shape"),
    refused(np.histogram, None, [[NAN, 1.0]], ValueError, "finite"),
    refused(np.histogram2d, lambda x: np.histogram2d(x, A), [X], ValueError, "same length"),
]
