"""The version of tapemagic."""

__version__ = "0.1.0"
