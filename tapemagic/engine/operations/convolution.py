"""Convolutions of signals and images, with TensorFlow's names and layout (channels last)."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.operations.convolving import convolution, transposed_convolution
from tapemagic.engine.operations.windows import (
    AXES,
    images,
    integers_in,
    numbers,
    places,
    sliding,
)
from tapemagic.errors import ShapeError


def conv2d(
    x: Any, kernel: Any, strides: Any = 1, padding: Any = "VALID", dilations: Any = 1
) -> Any:
    """The convolution (cross-correlation: the kernel isn't flipped) of images with a kernel, like ``tf.nn.conv2d``.

    Parameters
    ----------
    x : array_like or Tensor, shape (..., height, width, channels in)
        Real or complex numbers, with at least one axis for a batch.
    kernel : array_like or Tensor, shape (height, width, channels in, channels out)
        If it has fewer input channels than x, by an integer factor, it is applied to groups of channels: each
        group gets its part of the output channels.
    strides : int or sequence of int, optional
        How far the kernel moves: one number, one number per spatial axis, or TensorFlow's (1, h, w, 1).
    padding : {'VALID', 'SAME'} or sequence of (int, int), optional
        Where the kernel is applied. 'VALID': only inside x. 'SAME': at ceil(length / stride) places, with zeros
        around x, with an odd zero after it. A sequence: the numbers of zeros before and after each spatial axis.
    dilations : int or sequence of int, optional
        The distance between the elements to which the kernel is applied.

    Returns
    -------
    array or Tensor, shape (..., height out, width out, channels out)

    Raises
    ------
    ShapeError
        If x or the kernel has a wrong number of axes, if their channels don't match, or if the kernel is larger
        than the padded images.
    OptionError
        If strides, padding or dilations are invalid.
    UnsupportedArgumentError
        If x or the kernel contains something other than real or complex numbers.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x = np.arange(9.0).reshape(1, 3, 3, 1)
    >>> tm.conv2d(x, np.ones((2, 2, 1, 1)))[0, ..., 0]
    array([[ 8., 12.],
           [20., 24.]])
    >>> tm.conv2d(x, np.ones((2, 2, 1, 1)), strides=2, padding="SAME")[0, ..., 0]
    array([[ 8.,  7.],
           [13.,  8.]])
    """
    return _forward(x, kernel, strides, padding, dilations, 2, "conv2d")


def conv1d(x: Any, kernel: Any, stride: Any = 1, padding: Any = "VALID", dilation: Any = 1) -> Any:
    """The convolution (cross-correlation: the kernel isn't flipped) of signals with a kernel, like ``tf.nn.conv1d``.

    Parameters
    ----------
    x : array_like or Tensor, shape (..., length, channels in)
        Real or complex numbers, with at least one axis for a batch.
    kernel : array_like or Tensor, shape (length, channels in, channels out)
        See `conv2d`, which raises the same errors.
    stride, padding, dilation : optional
        See `conv2d`, for one axis.

    Returns
    -------
    array or Tensor, shape (..., length out, channels out)

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x = np.array([1.0, 2.0, 4.0, 8.0]).reshape(1, 4, 1)
    >>> tm.conv1d(x, np.array([-1.0, 1.0]).reshape(2, 1, 1)).ravel()
    array([1., 2., 4.])
    """
    return _forward(x, kernel, stride, padding, dilation, 1, "conv1d")


def conv3d(
    x: Any, kernel: Any, strides: Any = 1, padding: Any = "VALID", dilations: Any = 1
) -> Any:
    """The convolution of volumes with a kernel, like ``tf.nn.conv3d``; see `conv2d`."""
    return _forward(x, kernel, strides, padding, dilations, 3, "conv3d")


def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    dilations: Any = 1,
) -> Any:
    """The transposed convolution of volumes, like ``tf.nn.conv3d_transpose``; see `conv2d_transpose`."""
    return _backward(x, kernel, output_shape, strides, padding, dilations, 3, "conv3d_transpose")


def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = 1,
    padding: Any = "SAME",
    dilations: Any = 1,
) -> Any:
    """The transposed convolution of images, like ``tf.nn.conv2d_transpose``: the gradient of `conv2d` in the images.

    Parameters
    ----------
    x : array_like or Tensor, shape (..., height, width, channels in)
        Real or complex numbers, with at least one axis for a batch.
    kernel : array_like or Tensor, shape (height, width, channels out, channels in)
        The kernel of the `conv2d` that maps the shape of the result to the shape of x.
    output_shape : sequence of int
        The shape of the result, or its height and width.
    strides, padding, dilations : optional
        The arguments of that `conv2d`.

    Returns
    -------
    array or Tensor, shape (..., height out, width out, channels out)

    Raises
    ------
    ShapeError
        If `conv2d` doesn't map `output_shape` to the shape of x.
    OptionError, UnsupportedArgumentError
        See `conv2d`.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]]).reshape(1, 2, 2, 1)
    >>> tm.conv2d_transpose(x, np.ones((2, 2, 1, 1)), (1, 4, 4, 1), strides=2)[0, ..., 0]
    array([[1., 1., 2., 2.],
           [1., 1., 2., 2.],
           [3., 3., 4., 4.],
           [3., 3., 4., 4.]])
    """
    return _backward(x, kernel, output_shape, strides, padding, dilations, 2, "conv2d_transpose")


def conv1d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = 1,
    padding: Any = "SAME",
    dilations: Any = 1,
) -> Any:
    """The transposed convolution of signals, like ``tf.nn.conv1d_transpose``: the gradient of `conv1d` in the signals.

    Parameters
    ----------
    x : array_like or Tensor, shape (..., length, channels in)
        Real or complex numbers, with at least one axis for a batch.
    kernel : array_like or Tensor, shape (length, channels out, channels in)
        The kernel of the `conv1d` that maps the shape of the result to the shape of x.
    output_shape, strides, padding, dilations : optional
        See `conv2d_transpose`, which raises the same errors; for one axis.

    Returns
    -------
    array or Tensor, shape (..., length out, channels out)

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x = np.array([1.0, 2.0]).reshape(1, 2, 1)
    >>> tm.conv1d_transpose(x, np.array([1.0, 10.0]).reshape(2, 1, 1), (1, 4, 1), strides=2).ravel()
    array([ 1., 10.,  2., 20.])
    """
    return _backward(x, kernel, output_shape, strides, padding, dilations, 1, "conv1d_transpose")


def _forward(
    x: Any, kernel: Any, strides: Any, padding: Any, dilations: Any, ndim: int, name: str
) -> Any:
    """Check the arguments of a convolution with `ndim` spatial axes, and return the result."""
    x, kernel = images(x, ndim, name), _kernel(kernel, ndim, name)
    channels, width = kernel.shape[-2:]
    # TensorFlow has no argument for groups: their number follows from the kernel's input channels.
    groups, rest = divmod(x.shape[-1], channels)
    if rest or not groups or width % groups:
        raise ShapeError(
            f"{name} cannot apply a kernel of shape {kernel.shape} to {x.shape[-1]} channels of x: its "
            f"second-to-last axis must be {x.shape[-1]}, or that divided by n, with a last axis that is a multiple of n"
        )
    lengths = x.shape[-ndim - 1 : -1]
    window = sliding(kernel.shape[:ndim], strides, padding, dilations, lengths, name)
    return convolution(x, kernel, window=window)


def _backward(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    dilations: Any,
    ndim: int,
    name: str,
) -> Any:
    """Check the arguments of a transposed convolution with `ndim` spatial axes, and return the result."""
    x, kernel = images(x, ndim, name), _kernel(kernel, ndim, name)
    channels, width = kernel.shape[-2:]
    batch, places_of_x = x.shape[: -ndim - 1], x.shape[-ndim - 1 : -1]
    shape = integers_in(output_shape)
    # tf.nn requires the whole shape. Here the spatial axes are enough.
    if len(shape) == ndim:
        shape = (*batch, *shape, channels)
    groups, rest = divmod(shape[-1], channels) if shape else (0, 0)
    lengths = shape[-ndim - 1 : -1]
    if shape != (*batch, *lengths, groups * channels) or rest or groups < 1 or width % groups:
        raise ShapeError(
            f"{name} cannot lead from x of shape {x.shape} to {output_shape!r}, with a kernel of shape "
            f"{kernel.shape}: output_shape must be {(*batch, *AXES[ndim].split(', '), channels)}"
        )
    window = sliding(kernel.shape[:ndim], strides, padding, dilations, lengths, name)
    if width != x.shape[-1] or places(window, lengths) != places_of_x:
        raise ShapeError(
            f"{name} cannot lead from x of shape {x.shape} to {output_shape!r}: a convolution from there has shape "
            f"{(*batch, *places(window, lengths), width)} with this kernel, strides, padding and dilations"
        )
    return transposed_convolution(x, kernel, window=window, lengths=lengths, groups=groups)


def _kernel(kernel: Any, ndim: int, name: str) -> Any:
    """Check that a kernel has the right number of axes, none of them empty."""
    kernel = numbers(kernel, name)
    if kernel.ndim != ndim + 2 or not kernel.size:
        raise ShapeError(
            f"{name} takes a kernel with axes ({AXES[ndim]}, channels in, channels out), none of them empty, "
            f"not of shape {kernel.shape}"
        )
    return kernel
