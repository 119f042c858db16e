"""Optimizers: ``tf.keras.optimizers``."""

from tapemagic import nn
from tapemagic.tf.keras import adapted
from tapemagic.tf.missing import missing

_NAMES = adapted.adapt(nn.optimizers, __name__)
globals().update(_NAMES)

__all__ = list(_NAMES)
__getattr__ = missing(__name__, __all__)
