"""Fourier transforms: four functions along one axis, and their combinations, in NumPy's order of passes.

The matrix of a discrete Fourier transform is symmetric, so the rule of `fft` is `fft`. Transforms between real
signals and half a spectrum are linear over the real numbers only: each frequency, except for the first and the middle
one of an even length, counts twice, because it represents its mirror image as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.registry import composite, vjp
from tapemagic.engine.rules.axes import negative_axis, slice_on_axis, zero_padded
from tapemagic.errors import ShapeError

Transform = Callable[..., Any]

OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""For each `norm`, the one with which the inverse transform has the same scale."""


# -- along one axis ---------------------------------------------------------------------------------


def _lengthened(x: Any, axis: int, length: int) -> Any:
    """Return the first `length` entries on a negative axis, padded with zeros if there are fewer."""
    missing = length - x.shape[axis]
    return zero_padded(x, axis, 0, missing) if missing > 0 else x[slice_on_axis(axis, None, length)]


def _weighted(x: Any, axis: int, length: int, weight: float, dtype: Any) -> Any:
    """Multiply half a spectrum by `weight` at the frequencies with a mirror image in a signal of the `length`."""
    weights = np.full((x.shape[axis],) + (1,) * (-axis - 1), weight, dtype)
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    return x * weights


def _symmetric(transform: Transform) -> Transform:
    """Return the rule of a transform with a symmetric matrix: the transform itself, cut to the input's length."""

    def rule(g, _y, _a, n=None, axis=-1, norm=None):
        axis = negative_axis(axis, _a.ndim)
        return _lengthened(transform(g, axis=axis, norm=norm), axis, _a.shape[axis])

    return rule


def _rfft(g, _y, _a, n=None, axis=-1, norm=None):
    """The real part of ``fft(g, n)``, computed as the real signal of the spectrum of `g` and its mirror image."""
    axis = negative_axis(axis, _a.ndim)
    n = _a.shape[axis] if n is None else n
    dx = np.fft.hfft(_weighted(g, axis, n, 0.5, _a.dtype), n, axis, norm)
    return _lengthened(dx, axis, _a.shape[axis])


def _irfft(g, _y, _a, n=None, axis=-1, norm=None):
    """Half the spectrum of `g`, with weight 2 for each frequency that has a mirror image."""
    axis = negative_axis(axis, _a.ndim)
    dx = _weighted(np.fft.ihfft(g, None, axis, norm), axis, _y.shape[axis], 2, _y.dtype)
    return _lengthened(dx, axis, _a.shape[axis])


vjp(np.fft.fft, _symmetric(np.fft.fft))
vjp(np.fft.ifft, _symmetric(np.fft.ifft))
vjp(np.fft.rfft, _rfft)
vjp(np.fft.irfft, _irfft)


@composite(np.fft.hfft)
def _hfft(a: Any, n: int | None = None, axis: int = -1, norm: Any = None, out: None = None) -> Any:
    return np.fft.irfft(np.conjugate(a), n, axis, OPPOSITE.get(norm, norm))


@composite(np.fft.ihfft)
def _ihfft(a: Any, n: int | None = None, axis: int = -1, norm: Any = None, out: None = None) -> Any:
    return np.conjugate(np.fft.rfft(a, n, axis, OPPOSITE.get(norm, norm)))


# -- along several axes -----------------------------------------------------------------------------


def _passes(a: Any, s: Sequence[int | None] | None, axes: Sequence[int] | None) -> list[Any]:
    """Return length and axis of each pass, first axis first; a length of None is the default of the pass."""
    if axes is None:
        axes = range(-a.ndim if s is None else -len(s), 0)
    if s is None:
        return [(a.shape[axis], axis) for axis in axes]
    if len(s) != len(axes):
        raise ShapeError(
            f"{len(s)} lengths s={tuple(s)} for {len(axes)} axes={tuple(axes)}: pass one length for each axis, "
            "or -1 to keep it"
        )
    return [(a.shape[axis] if n == -1 else n, axis) for n, axis in zip(s, axes, strict=True)]


def _of_complex(step: Transform) -> Transform:
    """Return a transform that applies `step` along each axis, from the last to the first."""

    def transform(a: Any, s: Any, axes: Any, norm: Any) -> Any:
        # NumPy's order, so that rounding errors are equal to NumPy's.
        for n, axis in reversed(_passes(a, s, axes)):
            a = step(a, n, axis, norm)
        return a

    return transform


def _to_half(a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """Apply `rfft` along the last axis, then `fft` along the other axes."""
    *other_passes, (n, axis) = _passes(a, s, axes)
    a = np.fft.rfft(a, n, axis, norm)
    for n, axis in reversed(other_passes):
        a = np.fft.fft(a, n, axis, norm)
    return a


def _from_half(a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """Apply `ifft` along all axes except the last, then `irfft` along the last."""
    *other_passes, (n, last) = _passes(a, s, axes)
    for length, axis in other_passes:
        a = np.fft.ifft(a, length, axis, norm)
    return np.fft.irfft(a, None if s is None else n, last, norm)


def _along_axes(function: Transform, transform: Transform, axes: Any = None) -> None:
    """Define `function` as a `transform` along several axes, by default `axes`."""

    @composite(function)
    def several(a: Any, s: Any = None, axes: Any = axes, norm: Any = None, out: None = None) -> Any:
        return transform(a, s, axes, norm)


PLANE = (-2, -1)

_along_axes(np.fft.fftn, _of_complex(np.fft.fft))
_along_axes(np.fft.fft2, _of_complex(np.fft.fft), PLANE)
_along_axes(np.fft.ifftn, _of_complex(np.fft.ifft))
_along_axes(np.fft.ifft2, _of_complex(np.fft.ifft), PLANE)
_along_axes(np.fft.rfftn, _to_half)
_along_axes(np.fft.rfft2, _to_half, PLANE)
_along_axes(np.fft.irfftn, _from_half)
_along_axes(np.fft.irfft2, _from_half, PLANE)


# -- the order of frequencies -----------------------------------------------------------------------


def _shifting(function: Transform, sign: int) -> None:
    """Define `function` as a roll by half a length, forward or backward."""

    @composite(function)
    def shift(x: Any, axes: Any = None) -> Any:
        axes = range(x.ndim) if axes is None else np.atleast_1d(axes)
        axes = tuple(map(int, axes))
        return np.roll(x, tuple(sign * (x.shape[axis] // 2) for axis in axes), axes)


_shifting(np.fft.fftshift, 1)
_shifting(np.fft.ifftshift, -1)
