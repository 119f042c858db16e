"""Fourier transforms of ``tf.signal``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.tf.core.adapter import adapter, axes, lengths
from tapemagic.tf.core.convert import is_python, tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked


def _narrow(result: Any, x: Any) -> Any:
    """Cast a result back to the precision of the input (NumPy may return double)."""
    single = x.dtype.itemsize <= (8 if x.dtype.kind == "c" else 4)
    target = np.dtype({"c": "F" if single else "D", "f": "f" if single else "d"}[result.dtype.kind])
    return result if result.dtype == target else np.astype(result, target)


def _over(x: Any, count: int, called: str) -> tuple[int, ...]:
    if x.ndim < count:
        raise InvalidArgumentError(
            f"{called} needs {count} axes or more, not a tensor of shape {x.shape}"
        )
    return tuple(range(-count, 0))


def _complex(called: str, transform: Any, count: int) -> Any:
    """Build a transform of complex numbers along the last axes."""

    def computed(input: Any, name: str | None = None) -> Any:
        x = checked(called, tensor(input), "c")
        return _narrow(transform(x, axes=_over(x, count, called)), x)

    computed.__name__ = computed.__qualname__ = called
    computed.__doc__ = (
        f"The {'inverse ' * called.startswith('i')}Fourier transform along the last {_AXES[count]}."
    )
    return adapter(computed)


def _real(called: str, transform: Any, count: int, kinds: str) -> Any:
    """Build a transform between real numbers and half of their spectrum, along the last axes."""

    def computed(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
        # irfft of Python floats: they are float32 by default, but the function takes complex numbers.
        narrow = {"c": "complex64", "f": "float32"}[kinds] if is_python(input_tensor) else None
        x = checked(called, tensor(input_tensor, narrow), kinds)
        sizes = None if fft_length is None else lengths(fft_length)
        return _narrow(transform(x, s=sizes, axes=_over(x, count, called)), x)

    computed.__name__ = computed.__qualname__ = called
    computed.__doc__ = (
        f"The {'inverse ' * called.startswith('i')}Fourier transform of real numbers "
    )
    computed.__doc__ += f"along the last {_AXES[count]}."
    return adapter(computed)


_AXES = {1: "axis", 2: "two axes", 3: "three axes"}

fft = _complex("fft", np.fft.fftn, 1)
fft2d = _complex("fft2d", np.fft.fftn, 2)
fft3d = _complex("fft3d", np.fft.fftn, 3)
ifft = _complex("ifft", np.fft.ifftn, 1)
ifft2d = _complex("ifft2d", np.fft.ifftn, 2)
ifft3d = _complex("ifft3d", np.fft.ifftn, 3)
rfft = _real("rfft", np.fft.rfftn, 1, "f")
rfft2d = _real("rfft2d", np.fft.rfftn, 2, "f")
rfft3d = _real("rfft3d", np.fft.rfftn, 3, "f")
irfft = _real("irfft", np.fft.irfftn, 1, "c")
irfft2d = _real("irfft2d", np.fft.irfftn, 2, "c")
irfft3d = _real("irfft3d", np.fft.irfftn, 3, "c")


@adapter
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Shift frequency 0 to the middle of the spectrum."""
    return np.fft.fftshift(tensor(x), axes=_axes(axes))


@adapter
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Undo `fftshift`: move frequency 0 back to the start."""
    return np.fft.ifftshift(tensor(x), axes=_axes(axes))


# TensorFlow names a parameter `axes`, which hides the function in the two functions above.
_axes = axes


def _window(called: str, a: float, doc: str) -> Any:
    def computed(
        window_length: Any, periodic: bool = True, dtype: Any = "float32", name: str | None = None
    ) -> Any:
        count = int(window_length)
        # TensorFlow makes windows of odd length symmetric, even if periodic.
        steps = count if periodic and not count % 2 else count - 1
        # The formula would give 0 for a Hann window of one element, since cos 0 is 1.
        if count == 1:
            return np.ones(1, numpy_dtype(dtype))
        return (a - (1 - a) * np.cos(2 * np.pi * np.arange(count) / max(steps, 1))).astype(
            numpy_dtype(dtype)
        )

    computed.__name__ = computed.__qualname__ = called
    computed.__doc__ = doc
    return adapter(computed)


hann_window = _window("hann_window", 0.5, "The Hann window, 0.5 - 0.5 cos(2 pi k / n).")
hamming_window = _window("hamming_window", 0.54, "The Hamming window, 0.54 - 0.46 cos(2 pi k / n).")
