"""The version: tapemagic's own."""

from __future__ import annotations

from importlib import import_module

VERSION = f"{import_module('tapemagic').__version__} (tapemagic)"
GIT_VERSION = COMPILER_VERSION = "none: nothing is compiled"

__all__ = ["COMPILER_VERSION", "GIT_VERSION", "VERSION"]
