"""Older versions' names: ``tf.compat.v1``, of which there is what a program of eager operations needs."""

from tapemagic.tf.compat import v1
from tapemagic.tf.core.missing import missing

__all__ = ["v1"]

__getattr__ = missing(__name__, __all__)
