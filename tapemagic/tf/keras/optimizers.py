"""Optimizers: ``tf.keras.optimizers``."""

from typing import TYPE_CHECKING

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.optimizers, __name__, adapted.Optimizer, nn.optimizers.Optimizer)
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)

if TYPE_CHECKING:  # the classes are derived from these
    from tapemagic.nn.optimizers import *  # noqa: F403
else:
    __all__ = list(_NAMES)
    __getattr__ = missing(__name__, __all__)
