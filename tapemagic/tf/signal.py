"""Fourier transforms and windows: ``tf.signal``."""

from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.fft import (
    fft,
    fft2d,
    fft3d,
    fftshift,
    hamming_window,
    hann_window,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)

__all__ = [
    "fft", "fft2d", "fft3d", "fftshift", "hamming_window", "hann_window", "ifft", "ifft2d",
    "ifft3d", "ifftshift", "irfft", "irfft2d", "irfft3d", "rfft", "rfft2d", "rfft3d",
]  # fmt: skip

__getattr__ = missing(__name__, __all__)
