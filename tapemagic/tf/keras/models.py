"""Models: ``tf.keras.models``."""

from tapemagic import nn
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.adapted import Model


class Sequential(Model, nn.Sequential):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.Sequential.__doc__


clone_model = nn.models.clone_model

__all__ = ["Model", "Sequential", "clone_model"]
__getattr__ = missing(__name__, __all__)
