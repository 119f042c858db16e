"""NumPy's functions among Keras's operations: elementwise functions, and functions that join, count and decompose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.operations.selection import cast as engine_cast
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.tf import math as tf_math
from tapemagic.tf.core.adapter import adapter, axes, named_adapter
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.keras.keras_dtypes import alike, converted, floats, pair
from tapemagic.tf.ops import gathering

Function = Callable[..., Any]

_ACTIVATIONS = nn.activations

OF_FLOATS: dict[str, Function] = {
    "celu": _ACTIVATIONS.celu, "deg2rad": np.deg2rad, "erfc": tf_math.erfc,
    "erfinv": tf_math.erfinv, "fabs": np.abs, "glu": _ACTIVATIONS.glu,
    "hard_shrink": _ACTIVATIONS.hard_shrink, "hard_silu": _ACTIVATIONS.hard_silu,
    "hard_tanh": _ACTIVATIONS.hard_tanh, "i0": np.i0, "rad2deg": np.rad2deg, "sinc": np.sinc,
    "soft_shrink": _ACTIVATIONS.soft_shrink, "sparse_plus": _ACTIVATIONS.sparse_plus,
    "sparse_sigmoid": _ACTIVATIONS.sparse_sigmoid, "sparsemax": _ACTIVATIONS.sparsemax,
    "squareplus": _ACTIVATIONS.squareplus, "tanh_shrink": _ACTIVATIONS.tanh_shrink,
    "threshold": _ACTIVATIONS.threshold, "trunc": np.trunc,
}  # fmt: skip
"""Functions of a single tensor, whose integers become floating-point; other arguments are passed on."""

OF_ANY: dict[str, Function] = {
    "angle": np.angle, "bitwise_invert": np.invert, "bitwise_not": np.invert,
    "conjugate": np.conj, "copy": np.copy, "diagflat": np.diagflat, "diagonal": np.diagonal,
    "diff": np.diff, "fliplr": np.fliplr, "flipud": np.flipud, "isneginf": np.isneginf,
    "isposinf": np.isposinf, "isreal": np.isreal, "rot90": np.rot90, "signbit": np.signbit,
}  # fmt: skip
"""Functions of a single tensor that keep its dtype."""

OF_PAIRS: dict[str, Function] = {
    "bitwise_and": np.bitwise_and, "bitwise_left_shift": np.left_shift, "bitwise_or": np.bitwise_or,
    "bitwise_right_shift": np.right_shift, "bitwise_xor": np.bitwise_xor,
    "divide_no_nan": tf_math.divide_no_nan, "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod,
    "gcd": np.gcd, "kron": np.kron, "lcm": np.lcm, "left_shift": np.left_shift,
    "right_shift": np.right_shift, "vdot": np.vdot,
}  # fmt: skip
"""Functions of two tensors in one dtype."""

OF_FLOAT_PAIRS: dict[str, Function] = {
    "cdist": lambda x, y: np.linalg.norm(x[..., :, None, :] - y[..., None, :, :], axis=-1),
    "heaviside": np.heaviside, "hypot": np.hypot, "logaddexp": np.logaddexp,
    "logaddexp2": np.logaddexp2, "nextafter": tf_math.nextafter,
}  # fmt: skip
"""Functions of two tensors, whose integers become floating-point."""

OVER_AXES: dict[str, Function] = {
    "nanmax": np.nanmax, "nanmin": np.nanmin, "nanprod": np.nanprod, "nansum": np.nansum,
    "ptp": np.ptp,
}  # fmt: skip
"""Functions of all elements, or along axes."""

OF_FLOATS_OVER_AXES: dict[str, Function] = {
    "median": np.median, "nanmean": np.nanmean, "nanmedian": np.nanmedian, "nanstd": np.nanstd,
    "nanvar": np.nanvar,
}  # fmt: skip
"""Functions of all elements, or along axes, whose result is floating-point."""


@adapter
def allclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: Any = False
) -> Any:
    """Return True if all elements of two tensors are nearly equal."""
    return tensor(np.all(np.isclose(*pair(x1, x2), rtol, atol, equal_nan)))


@adapter
def isclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: Any = False
) -> Any:
    """Return where elements of two tensors are nearly equal."""
    return np.isclose(*pair(x1, x2), rtol, atol, equal_nan)


@adapter
def append(x1: Any, x2: Any, axis: Any = None) -> Any:
    """Join two tensors along an axis, by default all of their elements."""
    first, second = alike((x1, x2))
    return np.append(first, second, axis)


@adapter
def array(x: Any, dtype: Any = None) -> Any:
    """Convert a value to a tensor, of another dtype if wanted."""
    x = converted(x)
    return x if dtype is None else engine_cast(x, numpy_dtype(dtype))


@adapter
def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Split a tensor into parts that need not be equally long."""
    return np.array_split(converted(x), indices_or_sections, axis)


def _split(name: str, compute: Function) -> Function:
    def split(x: Any, indices_or_sections: Any) -> Any:
        return compute(converted(x), indices_or_sections)

    return named_adapter(name, split, f"Split a tensor as np.{name} does.")


def _join(name: str, compute: Function) -> Function:
    def join(xs: Any) -> Any:
        return compute(alike(xs))

    return named_adapter(name, join, f"Join tensors as np.{name} does.")


dsplit, hsplit, vsplit = (
    _split(name, getattr(np, name)) for name in ("dsplit", "hsplit", "vsplit")
)
dstack, hstack, vstack = (_join(name, getattr(np, name)) for name in ("dstack", "hstack", "vstack"))


@adapter
def average(x: Any, axis: Any = None, weights: Any = None) -> Any:
    """Return the weighted mean of all elements, or along an axis."""
    return np.average(floats(x), axes(axis), None if weights is None else floats(weights))


@adapter
def bincount(x: Any, weights: Any = None, minlength: int = 0, sparse: bool = False) -> Any:
    """Count how often each integer occurs, or add up the weights of each."""
    numbers = np.asarray(unwrap(tensor(x)))
    if sparse or numbers.ndim != 1:
        raise ValueError("bincount takes integers in one axis, and returns a dense tensor")
    if weights is None:
        return engine_cast(np.bincount(numbers, minlength=minlength), "int32")
    return np.bincount(numbers, converted(weights), minlength)


@adapter
def corrcoef(x: Any) -> Any:
    """Return the correlations of the rows of a matrix."""
    x = floats(x)
    return engine_cast(np.corrcoef(x), x.dtype)


@adapter
def correlate(x1: Any, x2: Any, mode: str = "valid") -> Any:
    """Return the cross-correlation of two sequences."""
    compute: Function = np.correlate
    return compute(*pair(x1, x2), mode)


@adapter
def count_nonzero(x: Any, axis: Any = None) -> Any:
    """Count the elements that aren't 0."""
    return engine_cast(np.count_nonzero(converted(x), axes(axis)), "int32")


@adapter
def cross(
    x1: Any, x2: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """Return the cross product of vectors."""
    return np.cross(*pair(x1, x2), axisa, axisb, axisc, axis)


def _cumulative(name: str, compute: Function) -> Function:
    def cumulative(x: Any, axis: Any = None, dtype: Any = None) -> Any:
        x = converted(x)
        return engine_cast(compute(x, axis=axis), x.dtype if dtype is None else numpy_dtype(dtype))

    return named_adapter(
        name, cumulative, f"Return the results of `{name}` for all elements up to each."
    )


cumprod, cumsum, nancumprod, nancumsum = (
    _cumulative(name, getattr(np, name))
    for name in ("cumprod", "cumsum", "nancumprod", "nancumsum")
)


@adapter
def digitize(x: Any, bins: Any) -> Any:
    """Return the number of the interval between `bins` that contains each element."""
    return engine_cast(np.digitize(converted(x), np.asarray(unwrap(tensor(bins)))), "int32")


@adapter
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """Return `num` numbers with equal ratios."""
    points = np.geomspace(start, stop, num, endpoint, axis=axis)
    return engine_cast(points, numpy_dtype(dtype or nn.config.floatx()))


@adapter
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Return powers of `base` with exponents at equal distances."""
    points = np.logspace(start, stop, num, endpoint, base, axis=axis)
    return engine_cast(points, numpy_dtype(dtype or nn.config.floatx()))


@adapter
def meshgrid(*x: Any, indexing: str = "xy") -> Any:
    """Return the coordinates of all points of a grid."""
    compute: Function = np.meshgrid
    return list(compute(*map(converted, x), indexing=indexing))


@adapter
def nonzero(x: Any) -> Any:
    """Return the indices of the elements that aren't 0, for each axis."""
    return tuple(engine_cast(places, "int32") for places in np.nonzero(converted(x)))


def _quantile(name: str, compute: Function) -> Function:
    def quantile(
        x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
    ) -> Any:
        return compute(
            floats(x), np.asarray(unwrap(tensor(q))), axes(axis), method=method, keepdims=keepdims
        )

    return named_adapter(name, quantile, f"Return the {name}s `q` of all elements, or along axes.")


quantile, nanquantile = (_quantile(name, getattr(np, name)) for name in ("quantile", "nanquantile"))
percentile, nanpercentile = (
    _quantile(name, getattr(np, name)) for name in ("percentile", "nanpercentile")
)


@adapter
def searchsorted(sorted_sequence: Any, values: Any, side: str = "left") -> Any:
    """Return the indices at which values keep a sequence sorted."""
    compute: Function = np.searchsorted
    places = compute(
        np.asarray(unwrap(tensor(sorted_sequence))), np.asarray(unwrap(tensor(values))), side
    )
    return engine_cast(places, "int32")


def _of_segments(name: str, compute: Function) -> Function:
    def of_segments(
        data: Any, segment_ids: Any, num_segments: int | None = None, sorted: bool = False
    ) -> Any:
        return _segments(compute, data, segment_ids, num_segments)

    return named_adapter(name, of_segments, f"Return the {name[8:]} of the rows of each segment.")


segment_max, segment_min, segment_prod, segment_sum = (
    _of_segments(name, getattr(gathering, f"unsorted_{name}"))
    for name in ("segment_max", "segment_min", "segment_prod", "segment_sum")
)


def _segments(compute: Function, data: Any, ids: Any, count: int | None) -> Any:
    numbers = np.asarray(unwrap(tensor(ids)))
    return compute(data, numbers, int(numbers.max()) + 1 if count is None else count)


@adapter
def scatter(indices: Any, values: Any, shape: Any) -> Any:
    """Return zeros of a shape, to which values are added at indices."""
    return gathering.scatter_nd(indices, values, shape)


@adapter
def scatter_update(inputs: Any, indices: Any, updates: Any, reduction: str | None = None) -> Any:
    """Return a tensor with other values at indices, or with values that `reduction` combines."""
    kinds = {
        None: gathering.tensor_scatter_nd_update,
        "add": gathering.tensor_scatter_nd_add,
        "max": gathering.tensor_scatter_nd_max,
        "min": gathering.tensor_scatter_nd_min,
    }
    if reduction not in kinds:
        raise ValueError(
            f"reduction of scatter_update must be one of {list(kinds)}, not {reduction!r}"
        )
    return kinds[reduction](inputs, indices, updates)


@adapter
def slice(inputs: Any, start_indices: Any, shape: Any) -> Any:
    """Return a part of a tensor, from indices and of a shape."""
    pairs = zip(axes(start_indices), axes(shape), strict=True)
    return converted(inputs)[tuple(np.s_[first : first + length] for first, length in pairs)]


@adapter
def slice_update(inputs: Any, start_indices: Any, updates: Any) -> Any:
    """Return a tensor with another part from indices."""
    updates, inputs = converted(updates), converted(inputs)
    pairs = zip(axes(start_indices), updates.shape, strict=True)
    part = tuple(np.s_[first : first + length] for first, length in pairs)
    places = np.arange(inputs.size).reshape(inputs.shape)[part]
    rows = np.reshape(updates, (-1,))
    flat = gathering.tensor_scatter_nd_update(
        np.reshape(inputs, (-1,)), places.reshape((-1, 1)), rows
    )
    return np.reshape(flat, inputs.shape)


@adapter
def slogdet(x: Any) -> Any:
    """Return the sign and the logarithm of the absolute value of determinants."""
    return tuple(np.linalg.slogdet(floats(x)))


@adapter
def logdet(x: Any) -> Any:
    """Return the logarithm of the determinant of positive definite matrices."""
    return np.linalg.slogdet(floats(x))[1]


@adapter
def solve(a: Any, b: Any) -> Any:
    """Solve ``a @ x = b``."""
    a, b = floats(a), floats(b)
    return (
        np.linalg.solve(a, b[..., None])[..., 0] if b.ndim == a.ndim - 1 else np.linalg.solve(a, b)
    )


@adapter
def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Return the singular value decomposition: u, s and v transposed."""
    compute: Function = np.linalg.svd
    result = compute(floats(x), full_matrices, compute_uv)
    return tuple(result) if compute_uv else result


@adapter
def qr(x: Any, mode: str = "reduced") -> Any:
    """Return the decomposition into a matrix with orthogonal columns and a triangular matrix."""
    compute: Function = np.linalg.qr
    return tuple(compute(floats(x), mode))


@adapter
def eigh(x: Any) -> Any:
    """Return the eigenvalues and eigenvectors of symmetric matrices."""
    return tuple(np.linalg.eigh(floats(x)))


@adapter
def pinv(x: Any) -> Any:
    """Return the pseudo-inverse of matrices."""
    return np.linalg.pinv(floats(x))


@adapter
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """Return a matrix with ones at and below a diagonal."""
    return tensor(np.tri(N, M, k, numpy_dtype(dtype or nn.config.floatx())))


@adapter
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Return the integral of the broken line through points."""
    return np.trapezoid(floats(y), None if x is None else floats(x), dx, axis)


@adapter
def unravel_index(indices: Any, shape: Any) -> Any:
    """Return the indices along each axis of places that are numbered in row-major order."""
    places = np.unravel_index(np.asarray(unwrap(tensor(indices))), axes(shape))
    return tuple(engine_cast(place, "int32") for place in places)


@adapter
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the powers of each element, a row for each."""
    x = converted(x)
    return engine_cast(np.vander(x, N, increasing), x.dtype)


@adapter
def normalize(x: Any, axis: Any = -1, order: Any = 2, epsilon: Any = None) -> Any:
    """Divide a tensor by its norm along an axis, which is at least `epsilon`."""
    x = floats(x)
    least = nn.config.epsilon() if epsilon is None else epsilon
    if order == 2:
        # Under the root, as in Keras: at 0 the gradient is finite.
        square = np.sum(x * x, axis=axes(axis), keepdims=True)
        return x * (1 / np.sqrt(np.maximum(square, least**2)))
    size = np.linalg.norm(x, order, axes(axis), keepdims=True)
    return x / np.maximum(size, least)


@adapter
def saturate_cast(x: Any, dtype: Any) -> Any:
    """Convert to another dtype, and limit elements to its range."""
    from tapemagic.tf.ops.creation import saturate_cast as convert

    return convert(converted(x), dtype)


@adapter
def multi_hot(inputs: Any, num_classes: int, axis: int = -1, dtype: Any = None) -> Any:
    """Return ones at the places of all classes of each example."""
    numbers = np.asarray(unwrap(tensor(inputs)))
    rows = (numbers[..., None] == np.arange(num_classes)).any(axis=-2 if numbers.ndim else -1)
    return tensor(rows.astype(numpy_dtype(dtype or nn.config.floatx())))


OWN = (
    "allclose", "append", "array", "array_split", "average", "bincount", "corrcoef",
    "correlate", "count_nonzero", "cross", "cumprod", "cumsum", "digitize", "dsplit", "dstack",
    "eigh", "geomspace", "hsplit", "hstack", "isclose", "logdet", "logspace", "meshgrid",
    "multi_hot", "nancumprod", "nancumsum", "nanpercentile", "nanquantile", "nonzero",
    "normalize", "percentile", "pinv", "qr", "quantile", "saturate_cast", "scatter",
    "scatter_update", "searchsorted", "segment_max", "segment_min", "segment_prod",
    "segment_sum", "slice", "slice_update", "slogdet", "solve", "svd", "trapezoid", "tri",
    "unravel_index", "vander", "vsplit", "vstack",
)  # fmt: skip
"""The functions of this module with signatures of their own."""
