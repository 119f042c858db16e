"""Losses: ``tf.keras.losses``."""

from typing import TYPE_CHECKING

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.losses, __name__, adapted.Loss, nn.losses.Loss)
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)


class Reduction:
    """The names of the reductions of losses, as Keras 2 wrote them."""

    AUTO = "sum_over_batch_size"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


_NAMES["Reduction"] = Reduction
if TYPE_CHECKING:  # the classes are derived from these
    from tapemagic.nn.losses import *  # noqa: F403
else:
    __all__ = list(_NAMES)
    __getattr__ = missing(__name__, __all__)
