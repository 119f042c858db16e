"""The version: tapemagic's own."""

from __future__ import annotations

from tapemagic.version import __version__

# Programs print tf.__version__: the suffix shows that this is not TensorFlow.
VERSION = f"{__version__} (tapemagic)"
GIT_VERSION = COMPILER_VERSION = "none: nothing is compiled"

__all__ = ["COMPILER_VERSION", "GIT_VERSION", "VERSION"]
