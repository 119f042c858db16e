"""Versions of TensorFlow and Keras that tapemagic.tf follows, marked as tapemagic's."""

from __future__ import annotations

from tapemagic.version import __version__

# Local version identifiers of PEP 440: packaging parses and orders them as TensorFlow's version, programs that print
# them show that this is not TensorFlow. The numbers are those of the libraries that made the values of the tests.
VERSION = f"2.21.0+tapemagic.{__version__}"
KERAS_VERSION = f"3.15.0+tapemagic.{__version__}"
GIT_VERSION = COMPILER_VERSION = "none: nothing is compiled"

__all__ = ["COMPILER_VERSION", "GIT_VERSION", "VERSION"]
