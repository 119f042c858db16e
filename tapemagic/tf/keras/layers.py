"""Layers: ``tf.keras.layers``."""

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.layers, __name__, adapted.Layer, nn.layers.Layer)
globals().update(_NAMES)

__all__ = list(_NAMES)
__getattr__ = missing(__name__, __all__)
