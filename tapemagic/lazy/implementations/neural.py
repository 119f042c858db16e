"""Functions of this package along axes, and those of images, for each example."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from tapemagic.engine.operations import convolving, exponentials, losses, pooling, sparse_losses
from tapemagic.engine.rules import norm_rules as norms
from tapemagic.lazy.array import call
from tapemagic.lazy.implementations.along import ALONG, argument, on_axis, on_last
from tapemagic.lazy.implementations.blocks import (
    Labels,
    axes_of,
    blockwise,
    require_one_chunk,
    right,
)
from tapemagic.lazy.implementations.joining import as_dask
from tapemagic.lazy.implementations.reductions import is_cut, reduce_in_tree
from tapemagic.lazy.implementations.table import (
    computes_by_element,
    implements,
    implements_in_steps,
)

on_last(2, norms.spectral)


def _less_largest(x: Any, axes: tuple[int, ...]) -> Any:
    """Subtract the largest element along axes of several chunks."""
    exponentials.softmax(np.zeros(1, x.dtype))  # refuses complex numbers
    return call(_below, (x, np.max(x, axis=axes, keepdims=True)), {})


@computes_by_element
def _below(x: Any, top: Any) -> Any:
    if x.dtype.kind in "biu":
        x, top = x.astype(np.float64), top.astype(np.float64)
    with np.errstate(all="ignore"):
        # inf - inf is nan: the largest element minus itself must be 0.
        return np.where(x == top, x.dtype.type(0), x - top)


def _log_total(y: Any, axes: tuple[int, ...]) -> Any:
    """Return log(sum(exp(y))) along axes, which keep length 1."""
    return call(_log, (np.sum(np.exp(y), axis=axes, keepdims=True),), {})


@computes_by_element
def _log(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.log(x)


for _function in (exponentials.softmax, exponentials.log_softmax):
    on_axis(_function)


# In steps, so that the maximum, the sum and the result may each read the data again instead of keeping all chunks.
@implements_in_steps(exponentials.softmax)
def softmax(x: Any, axis: Any = -1) -> Any:
    """Implement ``tapemagic.softmax`` along axes of several chunks, from the maximum and a sum."""
    axes = axes_of(axis, x.ndim)
    if not is_cut(x, axes) or not x.size:
        return NotImplemented
    y = np.exp(_less_largest(x, axes))
    return y / np.sum(y, axis=axes, keepdims=True)


@implements_in_steps(exponentials.log_softmax)
def log_softmax(x: Any, axis: Any = -1) -> Any:
    """Implement ``tapemagic.log_softmax`` along axes of several chunks, from the maximum and a sum."""
    axes = axes_of(axis, x.ndim)
    if not is_cut(x, axes) or not x.size:
        return NotImplemented
    y = _less_largest(x, axes)
    return y - _log_total(y, axes)


@implements(exponentials.logsumexp)
def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Implement ``tapemagic.logsumexp``, in a tree over the chunks."""
    axes = axes_of(axis, x.ndim)
    if not is_cut(x, axes) or not x.size:
        core = tuple(k - x.ndim for k in axes)
        return blockwise(
            exponentials.logsumexp,
            (x, axis, keepdims),
            {},
            lambda arrays: [right(y.ndim, core) for y in arrays],
        )
    fold = exponentials.logsumexp
    dtype = fold(np.ones(1, x.dtype)).dtype
    meta = np.empty((0,) * (x.ndim if keepdims else x.ndim - len(axes)), dtype)
    return da.reduction(x, fold, fold, axis=axes, keepdims=keepdims, dtype=dtype, meta=meta)


on_axis(losses.softmax_cross_entropy, aligned=True)


@implements_in_steps(losses.softmax_cross_entropy)
def softmax_cross_entropy(labels: Any, logits: Any, axis: int = -1) -> Any:
    """Implement ``tapemagic.softmax_cross_entropy`` along an axis of several chunks, from sums."""
    if np.shape(labels) != np.shape(logits) or not np.size(logits):
        return NotImplemented
    labels, logits = np.broadcast_arrays(labels, logits)
    axes = axes_of(axis, logits.ndim)
    if not (is_cut(logits, axes) or is_cut(labels, axes)):
        return NotImplemented
    dummy = np.zeros(1, labels.dtype), np.zeros(1, logits.dtype)
    losses.softmax_cross_entropy(dummy[0], dummy[1])  # raises the error for complex numbers
    y = _less_largest(logits, axes)
    return np.sum(call(_share, (labels, y, _log_total(y, axes)), {}), axis=axes)


@computes_by_element
def _share(labels: Any, y: Any, log_total: Any) -> Any:
    with np.errstate(all="ignore"):
        labels = labels.astype(y.dtype) if labels.dtype.kind in "biu" else labels
        # A class of probability 0 contributes nothing, even if its logit is -inf: 0 * inf would be nan.
        return labels * log_total - np.where(labels == 0, 0, labels * y)


def _sparse(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """Label the logits, the last argument, which have one more axis than the others: the classes."""
    logits = args[-1]
    return [
        (*range(-x.ndim, -1), None) if x is logits else tuple(range(-1 - x.ndim, -1))
        for x in arrays
    ]


ALONG[sparse_losses.sparse_softmax_cross_entropy] = _sparse
ALONG[sparse_losses.sparse_cross_entropy_slopes] = _sparse


def _batch(arrays: list[Any], args: Any, kwargs: Any, function: Any, shared: int) -> list[Labels]:
    window = argument(function, "window", args, kwargs, None)
    core = len(window) + 1
    return [
        (*range(core - x.ndim, 0), *(None,) * core) if k < shared else (None,) * x.ndim
        for k, x in enumerate(arrays)
    ]


def _on_batches(shared: int, *functions: Any) -> None:
    def register(function: Any) -> None:
        ALONG[function] = lambda arrays, args, kwargs: _batch(
            arrays, args, kwargs, function, shared
        )

    for function in functions:
        register(function)


_on_batches(
    1,
    convolving.convolution,
    convolving.transposed_convolution,
    pooling.maximum,
    pooling.average,
    pooling.spread_average,
)
_on_batches(2, pooling.first_maxima, pooling.spread_chosen, pooling.take_chosen)


@implements(convolving.kernel_gradient)
def kernel_gradient(x: Any, g: Any, window: Any, groups: int) -> Any:
    """Sum the kernel gradients of all batches."""
    core = len(window) + 1
    lead = x.ndim - core
    x, g = as_dask(x), as_dask(g)
    for array in (x, g):
        require_one_chunk(
            "the gradient of a convolution in its kernel", array, (*range(lead), *(None,) * core)
        )
    sizes = (*(slide.size for slide in window), x.shape[-1] // groups, g.shape[-1])
    if not lead:
        return blockwise(
            convolving.kernel_gradient,
            (x, g, window, groups),
            {},
            lambda arrays: [(None,) * core] * 2,
        )
    batch = tuple(range(lead))
    new = {100 + k: n for k, n in enumerate(sizes)}
    dtype = np.result_type(x.dtype, g.dtype)
    parts = da.blockwise(
        _KernelGradient(window, groups), (*batch, *new), x, (*batch, *range(10, 10 + core)), g,
        (*batch, *range(20, 20 + core)), new_axes=new, adjust_chunks=dict.fromkeys(batch, 1), concatenate=True,
        dtype=dtype, meta=np.empty((0,) * (lead + len(sizes)), dtype),
    )  # fmt: skip
    return reduce_in_tree(np.add, parts, batch, False, dtype)


class _KernelGradient:
    """Kernel gradient of one chunk of examples."""

    __slots__ = ("groups", "window")

    def __init__(self, window: Any, groups: int) -> None:
        self.window = window
        self.groups = groups

    def __call__(self, x: Any, g: Any) -> Any:
        """Return the gradient with a leading axis of length 1 for each batch axis."""
        lead = x.ndim - len(self.window) - 1
        return convolving.kernel_gradient(x, g, self.window, self.groups)[(None,) * lead]

    def __reduce__(self) -> Any:
        return _KernelGradient, (self.window, self.groups)
