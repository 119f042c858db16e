"""Activations: ``tf.keras.activations``."""

from typing import TYPE_CHECKING

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.activations, __name__)
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)

if TYPE_CHECKING:  # the classes are derived from these
    from tapemagic.nn.activations import *  # noqa: F403
else:
    __all__ = list(_NAMES)
    __getattr__ = missing(__name__, __all__)
