"""Metrics: ``tf.keras.metrics``."""

from typing import TYPE_CHECKING

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted, losses

_NAMES = adapted.adapt(nn.metrics, __name__, adapted.Metric, nn.metrics.Metric)
# Keras 2's names of losses as metrics.
_NAMES |= {
    name: getattr(losses, name)
    for name in (
        "KLD", "MAE", "MAPE", "MSE", "MSLE", "kld", "kullback_leibler_divergence", "logcosh", "mae",
        "mape", "mse", "msle",
    )
    if hasattr(losses, name)
}  # fmt: skip
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)

if TYPE_CHECKING:  # the classes are derived from these
    from tapemagic.nn.metrics import *  # noqa: F403
else:
    __all__ = list(_NAMES)
    __getattr__ = missing(__name__, __all__)
