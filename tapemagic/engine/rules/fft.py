"""Fourier transforms: four along one axis, and what is made out of them, in NumPy's order of passes.

A discrete Fourier transform is symmetric, so that the rule of `fft` is `fft`. Those between real numbers and
half a spectrum are linear over the real numbers only: there every frequency but the first, and the middle
one of an even length, counts for its mirror image too.
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
"""The `norm` with which a transform scales as its inverse does with another one."""


# -- along one axis ---------------------------------------------------------------------------------


def _lengthened(x: Any, axis: int, length: int) -> Any:
    """The first `length` entries on a negative axis; where there are fewer, zeros follow."""
    missing = length - x.shape[axis]
    return zero_padded(x, axis, 0, missing) if missing > 0 else x[slice_on_axis(axis, None, length)]


def _weighted(x: Any, axis: int, length: int, weight: float, dtype: Any) -> Any:
    """Half a spectrum, `weight` times those of its frequencies that a signal of the `length` has twice."""
    weights = np.full((x.shape[axis],) + (1,) * (-axis - 1), weight, dtype)
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    return x * weights


def _symmetric(transform: Transform) -> Transform:
    """The rule of a transform with a symmetric matrix: itself, on as many entries as came out."""

    def rule(g, _y, _a, n=None, axis=-1, norm=None):
        axis = negative_axis(axis, _a.ndim)
        return _lengthened(transform(g, axis=axis, norm=norm), axis, _a.shape[axis])

    return rule


def _rfft(g, _y, _a, n=None, axis=-1, norm=None):
    """The real part of ``fft(g, n)``, as the real signal of a spectrum that is `g` and its mirror image."""
    axis = negative_axis(axis, _a.ndim)
    n = _a.shape[axis] if n is None else n
    dx = np.fft.hfft(_weighted(g, axis, n, 0.5, _a.dtype), n, axis, norm)
    return _lengthened(dx, axis, _a.shape[axis])


def _irfft(g, _y, _a, n=None, axis=-1, norm=None):
    """The half spectrum of `g`, where a frequency counts twice if it has a mirror image."""
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
    """The length and the axis of each pass, first axis first; a length of None is the pass's own choice."""
    if axes is None:
        axes = range(-a.ndim if s is None else -len(s), 0)
    if s is None:
        return [(a.shape[axis], axis) for axis in axes]
    if len(s) != len(axes):
        raise ShapeError(
            f"{len(s)} lengths s={tuple(s)} for {len(axes)} axes={tuple(axes)}: give one length for each axis, "
            "-1 where it is to stay as it is"
        )
    return [(a.shape[axis] if n == -1 else n, axis) for n, axis in zip(s, axes, strict=True)]


def _of_complex(step: Transform) -> Transform:
    """One `step` after another, from the last axis to the first."""

    def transform(a: Any, s: Any, axes: Any, norm: Any) -> Any:
        for n, axis in reversed(_passes(a, s, axes)):
            a = step(a, n, axis, norm)
        return a

    return transform


def _to_half(a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """`rfft` along the last axis, and then `fft` along the others."""
    *others, (n, axis) = _passes(a, s, axes)
    a = np.fft.rfft(a, n, axis, norm)
    for n, axis in reversed(others):
        a = np.fft.fft(a, n, axis, norm)
    return a


def _from_half(a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """`ifft` along all axes but the last, and then `irfft` along that one."""
    *others, (n, last) = _passes(a, s, axes)
    for length, axis in others:
        a = np.fft.ifft(a, length, axis, norm)
    return np.fft.irfft(a, None if s is None else n, last, norm)


def _along_axes(function: Transform, transform: Transform, axes: Any = None) -> None:
    """Make `function` a `transform` along several axes, by default these."""

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
    """Make `function` roll half a length forwards, or backwards."""

    @composite(function)
    def shift(x: Any, axes: Any = None) -> Any:
        axes = range(x.ndim) if axes is None else np.atleast_1d(axes)
        axes = tuple(map(int, axes))
        return np.roll(x, tuple(sign * (x.shape[axis] // 2) for axis in axes), axes)


_shifting(np.fft.fftshift, 1)
_shifting(np.fft.ifftshift, -1)
