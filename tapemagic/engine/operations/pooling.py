"""Maximum and average pooling with TensorFlow's layout: channels last."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import only_where
from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.operations.windows import (
    Lengths,
    Window,
    each,
    images,
    overlaps,
    places,
    sliding,
    spatial,
)
from tapemagic.engine.tracing import one_call
from tapemagic.errors import OptionError, UnsupportedArgumentError


def max_pool2d(x: Any, size: Any = 2, strides: Any = None, padding: Any = "VALID") -> Any:
    """The maximum at each place of a window, for each channel, like ``tf.nn.max_pool2d``.

    Parameters
    ----------
    x : array_like or Tensor, shape (..., height, width, channels)
        Real numbers, with at least one axis for a batch.
    size : int or sequence of int, optional
        The height and width of the window: one number, a number for each, or TensorFlow's (1, h, w, 1).
    strides : int or sequence of int, optional
        How far the window moves. Default: its size.
    padding : {'VALID', 'SAME'} or sequence of (int, int), optional
        See `conv2d`, except that elements outside of x are ignored.

    Returns
    -------
    array or Tensor, shape (..., height out, width out, channels)
        With the dtype of x. If a window contains its maximum several times, the first one (row by row from the top,
        from left to right) gets all of the gradient, as in TensorFlow.

    Raises
    ------
    ShapeError
        If x has the wrong number of axes, or the window is larger than the padded images.
    OptionError
        If size, strides or padding are invalid, or a window could contain only padding.
    UnsupportedArgumentError
        If x contains something other than real numbers.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.max_pool2d(np.arange(16.0).reshape(1, 4, 4, 1))[0, ..., 0]
    array([[ 5.,  7.],
           [13., 15.]])
    """
    return _max_pool(x, size, strides, padding, 2, "max_pool2d")


def max_pool1d(x: Any, size: Any = 2, strides: Any = None, padding: Any = "VALID") -> Any:
    """The maximum at each place of a window, for each channel, like ``tf.nn.max_pool1d``.

    Parameters
    ----------
    x : array_like or Tensor, shape (..., length, channels)
        Real numbers, with at least one axis for a batch.
    size, strides, padding : optional
        See `max_pool2d`, which raises the same errors; for one axis.

    Returns
    -------
    array or Tensor, shape (..., length out, channels)

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.max_pool1d(np.array([1.0, 3.0, 2.0, 0.0]).reshape(1, 4, 1), 3, 1).ravel()
    array([3., 3.])
    """
    return _max_pool(x, size, strides, padding, 1, "max_pool1d")


def avg_pool2d(x: Any, size: Any = 2, strides: Any = None, padding: Any = "VALID") -> Any:
    """The average at each place of a window, for each channel, like ``tf.nn.avg_pool2d``.

    Parameters
    ----------
    x : array_like or Tensor, shape (..., height, width, channels)
        Real or complex numbers, with at least one axis for a batch.
    size, strides, padding : optional
        See `max_pool2d`, which raises the same errors. If a window is partly outside of x, the average is that of the
        elements inside.

    Returns
    -------
    array or Tensor, shape (..., height out, width out, channels)
        With the dtype of x.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.avg_pool2d(np.arange(9.0).reshape(1, 3, 3, 1), padding="SAME")[0, ..., 0]
    array([[2. , 3.5],
           [6.5, 8. ]])
    """
    return _avg_pool(x, size, strides, padding, 2, "avg_pool2d")


def avg_pool1d(x: Any, size: Any = 2, strides: Any = None, padding: Any = "VALID") -> Any:
    """The average at each place of a window, for each channel, like ``tf.nn.avg_pool1d``.

    Parameters
    ----------
    x : array_like or Tensor, shape (..., length, channels)
        Real or complex numbers, with at least one axis for a batch.
    size, strides, padding : optional
        See `avg_pool2d`, for one axis.

    Returns
    -------
    array or Tensor, shape (..., length out, channels)

    Raises
    ------
    ShapeError, OptionError, UnsupportedArgumentError
        See `max_pool2d`.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.avg_pool1d(np.array([1.0, 3.0, 2.0, 0.0]).reshape(1, 4, 1)).ravel()
    array([2., 1.])
    """
    return _avg_pool(x, size, strides, padding, 1, "avg_pool1d")


def max_pool3d(x: Any, size: Any = 2, strides: Any = None, padding: Any = "VALID") -> Any:
    """The maximum of each window of volumes, like ``tf.nn.max_pool3d``; see `max_pool2d`."""
    return _max_pool(x, size, strides, padding, 3, "max_pool3d")


def avg_pool3d(x: Any, size: Any = 2, strides: Any = None, padding: Any = "VALID") -> Any:
    """The average of each window of volumes, like ``tf.nn.avg_pool3d``; see `avg_pool2d`."""
    return _avg_pool(x, size, strides, padding, 3, "avg_pool3d")


def _max_pool(x: Any, size: Any, strides: Any, padding: Any, ndim: int, name: str) -> Any:
    """Check the arguments of a max pooling with `ndim` spatial axes, and return the result."""
    x = images(x, ndim, name)
    if x.dtype.kind == "c":
        raise UnsupportedArgumentError(
            f"{name} takes real numbers, not {x.dtype}, which have no order: take the maximum of np.abs(x)"
        )
    return maximum(x, window=_window(x, size, strides, padding, ndim, name))


def _avg_pool(x: Any, size: Any, strides: Any, padding: Any, ndim: int, name: str) -> Any:
    """Check the arguments of an average pooling with `ndim` spatial axes, and return the result."""
    x = images(x, ndim, name)
    return average(x, window=_window(x, size, strides, padding, ndim, name))


def _window(x: Any, size: Any, strides: Any, padding: Any, ndim: int, name: str) -> Window:
    """Return the window of a pooling, which contains at least one element of x at each place."""
    lengths = x.shape[-ndim - 1 : -1]
    sizes = each(size, ndim, "size")
    window = sliding(sizes, sizes if strides is None else strides, padding, 1, lengths, name)
    if any(max(slide.before, slide.after) >= slide.size for slide in window):
        raise OptionError(
            f"{name} of size {sizes} cannot have the padding {padding!r}: a window could contain only padding, "
            "so pad less than the size"
        )
    return window


@primitive
def maximum(x: Any, window: Window) -> Any:
    """Compute the maximum at each place of a window, or nan if it contains nan.

    From x of shape (..., spatial axes, channels) to (..., places, channels).
    """
    # Padding never wins, because -inf is smaller than any number.
    y = np.full(_pooled(x, window), -np.inf, x.dtype)
    for above, below in overlaps(window, spatial(x, window)):
        np.maximum(y[above], x[below], out=y[above])
    return y


@one_call
def first_maxima(x: Any, y: Any, window: Window) -> Any:
    """Return the number of the element of each window that is its first maximum y, in row-major order."""
    size = math.prod(slide.size for slide in window)
    # The smallest integers that can count the window: uint8 for windows up to 255 elements.
    before = np.zeros(y.shape, np.min_scalar_type(size))
    sought = np.ones(y.shape, np.bool_)
    for above, below in overlaps(window, spatial(x, window)):
        # `sought` stays true until the first element that isn't below the maximum; nan ends the search as well.
        sought[above] &= x[below] < y[above]
        before += sought
    return before


@primitive
def spread_chosen(g: Any, chosen: Any, window: Window, lengths: Lengths) -> Any:
    """Move each element of g to the chosen element of its window, with 0 elsewhere: the gradient of `maximum`.

    From g of shape (..., places, channels) to (..., spatial axes, channels), where the spatial axes have `lengths`.
    """
    dx = np.zeros((*g.shape[: -len(lengths) - 1], *lengths, g.shape[-1]), g.dtype)
    for number, (above, below) in enumerate(overlaps(window, lengths)):
        dx[below] += only_where(g[above], chosen[above] == number)
    return dx


@primitive
def take_chosen(x: Any, chosen: Any, window: Window) -> Any:
    """Return the chosen element of each window, in the shapes of `maximum`."""
    y = np.zeros(_pooled(x, window), x.dtype)
    for number, (above, below) in enumerate(overlaps(window, spatial(x, window))):
        y[above] += only_where(x[below], chosen[above] == number)
    return y


@primitive
def average(x: Any, window: Window) -> Any:
    """Compute the average of the elements of x at each place of a window, in the shapes of `maximum`."""
    lengths = spatial(x, window)
    y = np.zeros(_pooled(x, window), x.dtype)
    for above, below in overlaps(window, lengths):
        y[above] += x[below]
    y /= _counts(window, lengths, x.real.dtype)
    return y


@primitive
def spread_average(g: Any, window: Window, lengths: Lengths) -> Any:
    """Divide each element of g evenly among the elements of its window: the gradient of `average`.

    From g of shape (..., places, channels) to (..., spatial axes, channels), where the spatial axes have `lengths`.
    """
    share = g / _counts(window, lengths, g.real.dtype)
    dx = np.zeros((*g.shape[: -len(lengths) - 1], *lengths, g.shape[-1]), share.dtype)
    for above, below in overlaps(window, lengths):
        dx[below] += share[above]
    return dx


def _counts(window: Window, lengths: Lengths, dtype: Any) -> Any:
    """Return the number of elements at each place of a window, with an axis for channels."""
    counts = np.zeros((*places(window, lengths), 1), int)
    for above, _ in overlaps(window, lengths):
        counts[above] += 1
    return counts.astype(np.result_type(dtype, np.float32))  # float16 has no numbers above 65,504


def _pooled(x: Any, window: Window) -> Lengths:
    """Return the shape of the result of pooling x."""
    batch = x.shape[: -len(window) - 1]
    return (*batch, *places(window, spatial(x, window)), x.shape[-1])
