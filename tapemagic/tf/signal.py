"""Fourier transforms and windows: ``tf.signal``."""

from tapemagic.tf.fft import fft as fft
from tapemagic.tf.fft import fft2d as fft2d
from tapemagic.tf.fft import fft3d as fft3d
from tapemagic.tf.fft import fftshift as fftshift
from tapemagic.tf.fft import hamming_window as hamming_window
from tapemagic.tf.fft import hann_window as hann_window
from tapemagic.tf.fft import ifft as ifft
from tapemagic.tf.fft import ifft2d as ifft2d
from tapemagic.tf.fft import ifft3d as ifft3d
from tapemagic.tf.fft import ifftshift as ifftshift
from tapemagic.tf.fft import irfft as irfft
from tapemagic.tf.fft import irfft2d as irfft2d
from tapemagic.tf.fft import irfft3d as irfft3d
from tapemagic.tf.fft import rfft as rfft
from tapemagic.tf.fft import rfft2d as rfft2d
from tapemagic.tf.fft import rfft3d as rfft3d
from tapemagic.tf.missing import missing

__all__ = [
    "fft",
    "fft2d",
    "fft3d",
    "fftshift",
    "hamming_window",
    "hann_window",
    "ifft",
    "ifft2d",
    "ifft3d",
    "ifftshift",
    "irfft",
    "irfft2d",
    "irfft3d",
    "rfft",
    "rfft2d",
    "rfft3d",
]

__getattr__ = missing(__name__, __all__)
