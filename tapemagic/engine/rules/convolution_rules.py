"""Rules of convolutions and pooling.

A batch of cotangents needs no loop. A gradient with respect to images is computed for a larger batch of images; for a
gradient with respect to a kernel, the leading axes are treated as additional channels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.engine.operations.convolving import (
    convolution,
    kernel_gradient,
    transposed_convolution,
)
from tapemagic.engine.operations.pooling import (
    average,
    first_maxima,
    maximum,
    spread_average,
    spread_chosen,
    take_chosen,
)
from tapemagic.engine.operations.windows import spatial
from tapemagic.engine.registry import chooses, even_zeros, vjp
from tapemagic.engine.rules.axes import leading_shape
from tapemagic.engine.tensor.tensor import unwrap

Shape = tuple[int, ...]


def _merged(a: Any, lead: Shape, axis: int = -1, groups: int = 1) -> Any:
    """Merge the leading axes of an array into its channels, group by group."""
    if not lead:
        return a
    shape = a.shape[len(lead) :]
    at, count = len(shape) + axis, math.prod(lead)
    separate = (count, *shape[:at], groups, shape[axis] // groups, *shape[at + 1 :])
    together = (*shape[:at], count * shape[axis], *shape[at + 1 :])
    return np.moveaxis(a.reshape(separate), 0, at + 1).reshape(together)


def _unmerged(a: Any, lead: Shape, shape: Shape, axis: int = -1, groups: int = 1) -> Any:
    """Move leading axes back out of the channels, the inverse of `_merged`; the array gets the given shape."""
    if not lead:
        return a
    at = len(shape) + axis
    separate = (*shape[:at], groups, math.prod(lead), shape[axis] // groups, *shape[at + 1 :])
    return np.moveaxis(a.reshape(separate), at + 1, 0).reshape(lead + shape)


def _groups(x: Any, kernel: Any) -> int:
    """Return the number of channel groups to which a kernel is applied."""
    return x.shape[-1] // kernel.shape[-2]  # type: ignore[no-any-return]


def _convolution_x(g, _y, _x, kernel, window):
    """The transposed convolution of the cotangent. Only the shape of x is read."""
    return transposed_convolution(
        g, kernel, window=window, lengths=spatial(_x, window), groups=_groups(_x, kernel)
    )


def _convolution_kernel(g, _y, x, _kernel, window):
    """The sums of products of the cotangent and the elements below the kernel."""
    lead, groups = leading_shape(g, _y), _groups(x, _kernel)
    g = _merged(g, lead, groups=groups)
    dk = kernel_gradient(x, g, window=window, groups=groups)
    return _unmerged(dk, lead, _kernel.shape, groups=groups)


vjp(convolution, _convolution_x, _convolution_kernel, name="conv")


def _transposed_g(v, _dx, _g, kernel, window, lengths, groups):
    """The convolution of the cotangent."""
    return convolution(v, kernel, window=window)


def _transposed_kernel(v, _dx, g, _kernel, window, lengths, groups):
    """The gradient in the kernel, with the cotangent instead of x."""
    lead = leading_shape(v, _dx)
    dk = kernel_gradient(_merged(v, lead, groups=groups), g, window=window, groups=groups)
    return _unmerged(dk, lead, _kernel.shape, axis=-2)


vjp(transposed_convolution, _transposed_g, _transposed_kernel, name="conv_transpose")


def _kernel_gradient_x(v, _dk, _x, g, window, groups):
    """The transposed convolution of g, with the cotangent instead of the kernel."""
    lead = leading_shape(v, _dk)
    kernel = _merged(v, lead, axis=-2)
    dx = transposed_convolution(
        g, kernel, window=window, lengths=spatial(_x, window), groups=groups
    )
    return _unmerged(dx, lead, _x.shape, groups=groups)


def _kernel_gradient_g(v, _dk, x, _g, window, groups):
    """The convolution of x with the cotangent instead of the kernel."""
    lead = leading_shape(v, _dk)
    y = convolution(x, _merged(v, lead, groups=groups), window=window)
    return _unmerged(y, lead, _g.shape, groups=groups)


vjp(kernel_gradient, _kernel_gradient_x, _kernel_gradient_g, name="conv_kernel")

even_zeros(convolution, transposed_convolution, kernel_gradient)


# -- pooling --------------------------------------------------------------------------------------


def _maximum(g, y, x, window):
    """Pass the cotangent to the first maximum in each window."""
    # Which elements are the maxima is constant almost everywhere, so it is computed outside of any
    # tape.
    chosen = first_maxima(unwrap(x), unwrap(y), window)
    return spread_chosen(g, chosen=chosen, window=window, lengths=spatial(x, window))


vjp(maximum, _maximum, name="max_pool")
chooses(maximum)
vjp(
    spread_chosen,
    lambda v, _dx, _g, chosen, window, lengths: take_chosen(v, chosen=chosen, window=window),
    name="max_unpool",
)
vjp(
    take_chosen,
    lambda g, _y, _x, chosen, window: spread_chosen(
        g, chosen=chosen, window=window, lengths=spatial(_x, window)
    ),
    name="take_chosen",
)
vjp(
    average,
    lambda g, _y, _x, window: spread_average(g, window=window, lengths=spatial(_x, window)),
    name="avg_pool",
)
vjp(
    spread_average,
    lambda v, _dx, _g, window, lengths: average(v, window=window),
    name="avg_unpool",
)
