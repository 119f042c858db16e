"""Initializers: ``tf.keras.initializers``."""

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.initializers, __name__, adapted.Initializer, nn.initializers.Initializer)
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)

__all__ = list(_NAMES)
__getattr__ = missing(__name__, __all__)
