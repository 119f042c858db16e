"""Metrics: ``tf.keras.metrics``."""

from typing import TYPE_CHECKING

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.metrics, __name__, adapted.Metric, nn.metrics.Metric)
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)

if TYPE_CHECKING:  # the classes are derived from these
    from tapemagic.nn.metrics import *  # noqa: F403
else:
    __all__ = list(_NAMES)
    __getattr__ = missing(__name__, __all__)
