"""Keras's operations on signals: Fourier transforms as pairs of real and imaginary parts, windows and sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.tf.core.adapter import adapter, named_adapter
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.keras.keras_dtypes import alike, converted, floats
from tapemagic.tf.ops import creation, fft, gathering

Function = Callable[..., Any]


def _joined(parts: Any) -> Any:
    """Return complex numbers from a pair of real and imaginary parts."""
    if not isinstance(parts, tuple | list) or len(parts) != 2:
        raise ValueError(
            "Fourier transforms of Keras take a tuple of real and imaginary parts, such as (x, ops.zeros_like(x))"
        )
    return creation.complex(*alike(map(floats, parts)))


def _parts(x: Any) -> tuple[Any, Any]:
    return np.real(x), np.imag(x)


def _transform(name: str, compute: Function) -> Function:
    def transform(x: Any) -> Any:
        return _parts(compute(_joined(x)))

    return named_adapter(
        name, transform, f"Return real and imaginary parts of `{name}` of a pair of such parts."
    )


FOURIER: dict[str, Function] = {
    name: _transform(name, compute)
    for name, compute in (("fft", fft.fft), ("fft2", fft.fft2d), ("ifft2", fft.ifft2d))
}


def rfft(x: Any, fft_length: int | None = None) -> Any:
    """Return real and imaginary parts of half of the spectrum of real numbers."""
    return _parts(fft.rfft(floats(x), None if fft_length is None else [fft_length]))


def irfft(x: Any, fft_length: int | None = None) -> Any:
    """Return the real numbers for real and imaginary parts of half of their spectrum."""
    return fft.irfft(_joined(x), None if fft_length is None else [fft_length])


def _window(name: str) -> Function:
    compute: Function = getattr(np, name)

    def window(x: Any, *args: Any, **options: Any) -> Any:
        return tensor(compute(int(x), *args, **options).astype(nn.config.floatx()))

    return named_adapter(name, window, f"Return the symmetric window `{name}` of a length.")


WINDOWS: dict[str, Function] = {
    name: _window(name) for name in ("bartlett", "blackman", "hamming", "hanning", "kaiser")
}


def extract_sequences(x: Any, sequence_length: int, sequence_stride: int) -> Any:
    """Return the parts of a length at equal distances along the last axis, as rows."""
    x = converted(x)
    count = max(0, (x.shape[-1] - sequence_length) // sequence_stride + 1)
    places = np.arange(count)[:, None] * sequence_stride + np.arange(sequence_length)
    return np.take(x, places, axis=-1)


def _padded_window(window: Any, length: int, total: int, dtype: Any) -> Any:
    """Return a window with zeros on both sides up to a total length."""
    if total < length:
        raise ValueError(f"fft_length must be at least sequence_length {length}, not {total}")
    if window is None:
        # As in TensorFlow, frames without a window have the length of the transform.
        return np.ones(total, dtype)
    windows = {"hann": fft.hann_window, "hamming": fft.hamming_window}
    if isinstance(window, str) and window in windows:
        window = windows[window](length, dtype=dtype)
    values = np.asarray(tensor(window), dtype)
    if values.shape != (length,):
        raise ValueError(
            f"window must be 'hann', 'hamming', None or {length} numbers, not {window!r}"
        )
    before = (total - length) // 2
    return np.pad(values, (before, total - length - before))


def stft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: Any = "hann",
    center: bool = True,
) -> Any:
    """Return real and imaginary parts of the spectra of overlapping parts of signals."""
    x = floats(x)
    if center:
        around = [(0, 0)] * (x.ndim - 1) + [(fft_length // 2, fft_length // 2)]
        x = np.pad(x, around, mode="reflect")
    values = _padded_window(window, sequence_length, fft_length, x.dtype)
    return rfft(extract_sequences(x, fft_length, sequence_stride) * values)


def istft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: Any = "hann",
    center: bool = True,
) -> Any:
    """Return the signals for the spectra of their overlapping parts, as `stft` returns them."""
    parts = irfft(x, fft_length)
    values = _padded_window(window, sequence_length, fft_length, parts.dtype)
    if window is not None:
        values = values / _overlapping_squares(values, sequence_stride)
    count = parts.shape[-2]
    total = fft_length + sequence_stride * (count - 1)
    places = np.arange(count)[:, None] * sequence_stride + np.arange(fft_length)
    rows = np.reshape(parts * values, (*parts.shape[:-2], -1))
    sums: Any = gathering.unsorted_segment_sum(np.moveaxis(rows, -1, 0), places.ravel(), total)
    signal = np.moveaxis(sums, 0, -1)
    first = fft_length // 2 if center else 0
    last = total - first if length is None else first + length
    return signal[..., first:last]


def _overlapping_squares(values: Any, stride: int) -> Any:
    """Return for each place the sum of the squares of all windows that cover it."""
    overlaps = -(-len(values) // stride)
    squares = np.pad(values**2, (0, overlaps * stride - len(values))).reshape(overlaps, stride)
    return np.tile(squares.sum(0), overlaps)[: len(values)]


def view_as_complex(x: Any) -> Any:
    """Return complex numbers from real and imaginary parts along a last axis of length 2."""
    x = floats(x)
    if x.shape[-1:] != (2,):
        raise ValueError(f"view_as_complex takes a last axis of length 2, not the shape {x.shape}")
    return creation.complex(x[..., 0], x[..., 1])


def view_as_real(x: Any) -> Any:
    """Return real and imaginary parts along a new last axis."""
    return np.stack(_parts(converted(x)), axis=-1)


def polar(abs_: Any, angle: Any) -> Any:
    """Return complex numbers with absolute values and angles."""
    radius, angle = alike((floats(abs_), floats(angle)))
    return creation.complex(radius * np.cos(angle), radius * np.sin(angle))


OPERATIONS: dict[str, Function] = {
    **FOURIER,
    **WINDOWS,
    **{
        function.__name__: adapter(function)
        for function in (
            extract_sequences, irfft, istft, polar, rfft, stft, view_as_complex, view_as_real,
        )
    },
}  # fmt: skip
"""The operations of this module by their names in `tf.keras.ops`."""
