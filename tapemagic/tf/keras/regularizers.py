"""Regularizers: ``tf.keras.regularizers``."""

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.regularizers, __name__, adapted.Regularizer, nn.regularizers.Regularizer)
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)

__all__ = list(_NAMES)
__getattr__ = missing(__name__, __all__)
