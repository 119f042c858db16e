"""TensorFlow 1's ``tf.contrib``, of which only ``eager`` is here."""

from tapemagic.tf.contrib import eager
from tapemagic.tf.core.missing import missing

__all__ = ["eager"]

__getattr__ = missing(__name__, __all__)
