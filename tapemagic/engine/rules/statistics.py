"""Quantiles, covariances, histograms, and sets of distinct values."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tapemagic.engine.events import record_exit
from tapemagic.engine.operations.scatter import dense, scatter_add
from tapemagic.engine.registry import Function, chooses, composite, operation, vjp
from tapemagic.engine.rules.axes import leading_shape, negative_axes
from tapemagic.engine.rules.indexing import along_axis_gradient
from tapemagic.engine.rules.reductions import refuse_overwriting
from tapemagic.engine.rules.shaping import as_array, cast, refuse_out, tensor_of
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply, constant_result
from tapemagic.engine.tensor.precision import precise_sum
from tapemagic.engine.tensor.tensor import Traced, as_operand, unwrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import UnsupportedArgumentError

# -- quantiles ------------------------------------------------------------------------------------

CONTINUOUS: dict[str, tuple[float, float]] = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (1 / 2, 1 / 2),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""Methods in which a quantile moves continuously from one value to the next, with their alpha and beta.

Source: R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996), eq.
3.
"""


def flattened(a: Any, axes: tuple[int, ...]) -> Any:
    """Join the negative `axes` of `a` to a new last axis, so that each row has the values for a quantile."""
    rest = tuple(axis for axis in range(-a.ndim, 0) if axis not in axes)
    length = math.prod(a.shape[axis] for axis in axes)
    return np.transpose(a, (*rest, *axes)).reshape((*(a.shape[axis] for axis in rest), length))


def unflattened(rows: Any, a: Any, axes: tuple[int, ...]) -> Any:
    """Restore the axes that `flattened` joined; `rows` may have additional leading axes."""
    order = (*(axis for axis in range(-a.ndim, 0) if axis not in axes), *axes)
    lead = rows.shape[: rows.ndim - 1 - a.ndim + len(axes)]
    separate = rows.reshape((*lead, *(a.shape[axis] for axis in order)))
    return np.moveaxis(separate, tuple(range(-a.ndim, 0)), order)


def by_row(g: Any, y: Any, rows: Any, count: int) -> Any:
    """Move the axis of the `count` quantiles of each row to the end of the gradient."""
    lead = leading_shape(g, y)
    return np.moveaxis(g.reshape((*lead, count, *rows.shape[:-1])), len(lead), -1)


def position_of(n: Any, q: Any, method: str) -> Any:
    """Return the position of a quantile among `n` sorted values, counted from 0."""
    if method == "midpoint":
        return (np.floor((n - 1) * q) + np.ceil((n - 1) * q)) / 2
    alpha, beta = CONTINUOUS.get(method, (0, 1))
    return (n - 1) * q if alpha == beta == 1 else n * q + (alpha + q * (1 - alpha - beta)) - 1


def adjacent_values(rows: Any, y: Any, q: Any, method: str, gaps: bool) -> tuple[Any, Any, Any]:
    """Return the indices of the two values of a row around a quantile, and the weight of the second value.

    If the result is nan, both are the index of a nan. Methods that select a single value return it twice.
    """
    length = rows.shape[-1]
    missing = np.isnan(rows)
    if method not in {*CONTINUOUS, "midpoint", "averaged_inverted_cdf"}:
        # A selected value is found in its row by comparison: it is one of the values, so the
        # comparison is exact.
        hits = (
            (rows == each[..., None]) | missing & np.isnan(each)[..., None]
            for each in np.moveaxis(unwrap(y), -1, 0)
        )
        chosen = np.stack([np.argmax(hit, axis=-1) for hit in hits], axis=-1)
        return chosen, chosen, 0.5
    n = np.sum(~missing, axis=-1, keepdims=True, dtype=q.dtype) if gaps else length
    at = position_of(n, q, method)
    low = np.floor(unwrap(at))
    share = (1 + (unwrap(at) > low)) / 2 if method == "averaged_inverted_cdf" else at - low
    order = np.argsort(rows, axis=-1, kind="stable")
    first, second = (
        np.where(np.isnan(y), length - 1, np.clip(each, 0, n - 1)).astype(int)
        for each in (low, low + 1)
    )
    return np.take_along_axis(order, first, -1), np.take_along_axis(order, second, -1), share


def _quantiles(function: Function, gaps: bool, scale: int) -> None:
    """Give the rules to ``np.quantile`` or a similar function; with `gaps`, nan is ignored."""

    def compute(a: Any, q: Any, weights: Any, **options: Any) -> Any:
        return function(a, q, weights=weights, **options)

    def prepared(g, y, a, q, axis, method):
        """Return the rows, their gradient, the quantiles as fractions, and the two values around each quantile."""
        rows = flattened(a, negative_axes(axis, a.ndim))
        q = np.reshape(q, -1) / scale
        g, y = by_row(g, y, rows, q.size), by_row(y, y, rows, q.size)
        if gaps:
            g = np.where(np.isnan(y), 0, g)
        return rows, g, q, adjacent_values(rows, y, q, method, gaps)

    def in_values(g, y, a, q, _weights, axis, method, keepdims):
        """The weight of each value around the quantile; nan for all values of a row with nan, unless it is ignored."""
        if not a.size:
            return np.zeros((*leading_shape(g, y), *a.shape), g.dtype)
        rows, g, _, (first, second, share) = prepared(g, y, a, q, axis, method)
        dx = dense(along_axis_gradient(g * (1 - share), first, rows, first))
        dx = dx + dense(along_axis_gradient(g * share, second, rows, second))
        if not gaps:
            dx = np.where(np.any(np.isnan(rows), axis=-1, keepdims=True), np.nan, dx)
        return unflattened(dx, a, negative_axes(axis, a.ndim))

    def in_fraction(g, y, a, q, _weights, axis, method, keepdims):
        """The distance of the values around the quantile, or 0 for methods that select a value."""
        shape = leading_shape(g, y) + np.shape(q)
        if method not in CONTINUOUS or not a.size:
            return np.zeros(shape, g.dtype)
        rows, g, _, (first, second, _) = prepared(g, y, a, q, axis, method)
        n = np.sum(~np.isnan(rows), axis=-1, keepdims=True) if gaps else rows.shape[-1]
        step = np.take_along_axis(rows, second, -1) - np.take_along_axis(rows, first, -1)
        slope = (n + 1 - sum(CONTINUOUS[method])) / scale * step
        return precise_sum(g * slope, tuple(range(-rows.ndim, -1))).reshape(shape)

    def in_weights(g, _y, _a, _q, _weights, axis, method, keepdims):
        """Zeros, because weights only select among the values."""
        return np.zeros((*leading_shape(g, _y), *_weights.shape), g.dtype)

    vjp(compute, in_values, in_fraction, in_weights, name=function.__name__)
    chooses(compute, inputs=[0])

    @composite(function)
    def quantile(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        refuse_out(out)
        refuse_overwriting(overwrite_input)
        has_several_axes = isinstance(axis, (tuple, list)) and len(axis) not in {1, np.ndim(a)}
        if gaps and np.ndim(q) > 1 and has_several_axes:
            raise UnsupportedArgumentError(
                f"np.{function.__name__} with axis={axis!r} and q of shape {np.shape(q)}: NumPy puts the axes of the "
                f"result into a wrong order: write np.{function.__name__}(a, np.ravel(q), axis={axis!r}), and give "
                "its first axis the shape of q"
            )
        inputs = as_array(a), as_operand(q), as_operand(weights)
        options = {"axis": axis, "method": method, "keepdims": keepdims}
        return apply(operation(compute), inputs, options)


_quantiles(np.quantile, gaps=False, scale=1)
_quantiles(np.percentile, gaps=False, scale=100)
_quantiles(np.nanquantile, gaps=True, scale=1)
_quantiles(np.nanpercentile, gaps=True, scale=100)


# -- covariances ----------------------------------------------------------------------------------


@composite(np.cov)
def _cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = variables(as_operand(m), as_operand(y), rowvar, dtype)
    if not x.shape[0]:
        return constant(np.zeros((0, 0)))
    ddof = ddof if ddof is not None else 0 if bias else 1
    weights, freedom = _weighing(fweights, as_operand(aweights), x.shape[1], ddof)
    if unwrap(freedom) <= 0:
        active_tracer = tracer()
        if active_tracer is not None:
            active_tracer.mark_exit("a warning of np.cov")
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
        freedom = 0.0
    mean = np.average(x, axis=1, weights=weights, keepdims=True)
    off = x - cast(mean, x.dtype)
    weighed = off if weights is None else off * weights
    products = off @ (np.conj(weighed) if x.dtype.kind == "c" else weighed).T
    return np.squeeze(cast(products * np.true_divide(1, freedom), products.dtype))


def variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """Return the observations as a matrix with a row for each variable."""
    parts = [part for part in (m, y) if part is not None]
    for name, part in zip("my", parts, strict=False):
        if np.ndim(part) > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    dtype = dtype or np.result_type(*parts, np.float64)
    rows = [cast(np.atleast_2d(part), dtype) for part in parts]
    if not rowvar:
        rows[0] = rows[0].T if np.ndim(m) != 1 else rows[0]
        rows[1:] = [part.T if part.shape[0] != 1 else part for part in rows[1:]]
    return np.concatenate(rows) if len(rows) > 1 else rows[0]


def _weighing(fweights: Any, aweights: Any, count: int, ddof: Any) -> tuple[Any, Any]:
    """Return the weights of the observations, or None, and the degrees of freedom."""
    if fweights is None and aweights is None:
        return None, count - ddof
    plain = {"fweights": unwrap(fweights), "aweights": unwrap(aweights)}
    # Called for its error messages only.
    np.cov(np.zeros((1, count)), ddof=0, **plain)  # NumPy checks the weights
    repeats = 1.0 if fweights is None else np.asarray(plain["fweights"], float)
    if aweights is None:
        return repeats, np.sum(repeats) - ddof
    aweights = cast(aweights, float)
    weights = repeats * aweights
    total = np.sum(weights)
    return weights, total - ddof * np.sum(weights * aweights) / total if ddof else total


@composite(np.corrcoef)
def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = np.cov(x, y, rowvar, dtype=dtype)
    if not np.ndim(c):
        return c / c
    deviation = np.sqrt(np.real(np.diagonal(c)))
    c = c / deviation[:, None] / deviation
    if c.dtype.kind != "c":
        return np.clip(c, -1, 1)
    return np.clip(np.real(c), -1, 1) + 1j * np.clip(np.imag(c), -1, 1)


# -- histograms -----------------------------------------------------------------------------------


def grid(bins: Any, interval: Any, a: Any, count: int, dtype: Any = None) -> Any:
    """Return the edges of `count` bins: given edges, or equally spaced in the given interval or the values' range."""
    if np.ndim(unwrap(bins)):
        return tensor_of(bins)
    if interval is None and not np.size(a):
        interval = 0, 1
    first, last = (np.min(a), np.max(a)) if interval is None else interval
    if unwrap(first) == unwrap(last):
        # Like NumPy, which widens an empty interval by 0.5 on both sides.
        first, last = first - 0.5, last + 0.5
    return tensor_of(np.linspace(first, last, count + 1, dtype=dtype))


def entries(bins: Any) -> int:
    """Return the length of a sequence, or 0 for any other object."""
    try:
        return len(bins)
    except TypeError:
        return 0


def binned(weights: Any, columns: list[Any], edges: list[Any]) -> Any:
    """Sum the weights in each cell of a grid; the last bin of each axis includes both of its ends."""
    places, inside = [], np.array(True)
    for column, edge in zip(unwrap(columns), unwrap(edges), strict=True):
        bin_numbers = np.searchsorted(edge, column, side="right") - 1
        bin_numbers[column == edge[-1]] = len(edge) - 2
        inside = inside & (bin_numbers >= 0) & (bin_numbers < len(edge) - 1)
        places.append(bin_numbers)
    index = tuple(bin_numbers[inside] for bin_numbers in places)
    return scatter_add(np.ravel(weights)[inside], index, tuple(len(edge) - 1 for edge in edges))


@composite(np.histogram_bin_edges)
def _histogram_bin_edges(
    a: Any,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 (NumPy's name)
    weights: Any = None,
) -> Any:
    plain = np.histogram_bin_edges(*unwrap((a, bins, range, weights)))
    return grid(bins, range, as_operand(a), len(plain) - 1, plain.dtype)


@composite(np.histogram)
def _histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 (NumPy's name)
    density: Any = None,
    weights: Any = None,
) -> Any:
    plain = np.histogram(*unwrap((a, bins, range, None, weights)))
    edges = grid(bins, range, as_operand(a), len(plain[0]), plain[1].dtype)
    counts, weights = plain[0], as_operand(weights)
    if isinstance(a, Traced):
        record_exit(a, "np.histogram")
    if isinstance(weights, Traced):
        counts = cast(binned(weights, [np.ravel(unwrap(a))], [edges]), counts.dtype)
    if density:
        counts = counts / cast(np.diff(edges), float) / counts.sum()
    return constant_result(counts), edges


@composite(np.histogramdd)
def _histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 (NumPy's name)
    density: Any = None,
    weights: Any = None,
) -> Any:
    plain, _ = np.histogramdd(*unwrap((sample, bins, range, None, weights)))
    sample = sample.T if np.ndim(unwrap(sample)) == 2 and hasattr(sample, "shape") else sample
    columns = list(np.atleast_2d(as_operand(sample)))
    bins = bins if entries(bins) else [bins] * len(columns)
    intervals = [None] * len(columns) if range is None else range
    edges = list(map(grid, bins, intervals, columns, plain.shape))
    counts, weights = constant(plain), as_operand(weights)
    if isinstance(weights, Traced):
        counts = cast(binned(weights, columns, edges), float)
    if density:
        total = np.sum(counts)
        for axis, edge in enumerate(edges):
            steps = np.diff(edge)
            counts = counts / steps.reshape((-1, *(1,) * (len(edges) - 1 - axis)))
        counts = counts / total
    return counts, edges


@composite(np.histogram2d)
def _histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 (NumPy's name)
    density: Any = None,
    weights: Any = None,
) -> Any:
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    bins = [bins, bins] if entries(bins) > 2 else bins
    counts, edges = _histogramdd([x, y], bins, range, density, weights)
    return counts, *edges


# -- sets of distinct values: each value is the first of those that are equal ---------------------------


@composite(np.unique)
def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    **options: Any,
) -> Any:
    ar = as_operand(ar)
    options |= {"return_inverse": return_inverse, "return_counts": return_counts, "axis": axis}
    _, index, *rest = np.unique(unwrap(ar), return_index=True, **options)
    values = np.take(ar, index, axis)
    results = (values, *([index] if return_index else []), *rest)
    return results if len(results) > 1 else values


def _unique_kind(function: Function, *parts: str) -> None:
    """Define `function` by `np.unique`, with the values and more `parts` of its result in a named tuple."""
    form = type(function(np.zeros(1)))

    @composite(function)
    def unique(x: Any) -> Any:
        options: dict[str, Any] = {f"return_{part}": True for part in parts}
        results = np.unique(x, equal_nan=False, **options)
        return form(*results) if parts else results


_unique_kind(np.unique_all, "index", "inverse", "counts")
_unique_kind(np.unique_counts, "counts")
_unique_kind(np.unique_inverse, "inverse")
_unique_kind(np.unique_values)


@composite(np.union1d)
def _union1d(ar1: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate((as_operand(ar1), as_operand(ar2)), axis=None))


@composite(np.intersect1d)
def _intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    ar1, ar2 = as_array(ar1), as_array(ar2)
    _, *indices = np.intersect1d(unwrap(ar1), unwrap(ar2), assume_unique, True)
    values = np.take(ar1, indices[0]) if isinstance(ar1, Traced) else np.take(ar2, indices[1])
    values = cast(values, np.result_type(ar1.dtype, ar2.dtype))
    return (values, *indices) if return_indices else values


@composite(np.setdiff1d)
def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    values = np.ravel(as_operand(ar1)) if assume_unique else np.unique(as_operand(ar1))
    return constant_result(values[np.isin(unwrap(values), unwrap(ar2), invert=True)])


@composite(np.setxor1d)
def _setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    parts = [as_operand(ar1), as_operand(ar2)]
    parts = parts if assume_unique else list(map(np.unique, parts))
    both = np.sort(np.concatenate(parts, axis=None))
    if not both.size:
        return both
    differs = np.concatenate(([True], unwrap(both)[1:] != unwrap(both)[:-1], [True]))
    return both[differs[1:] & differs[:-1]]
