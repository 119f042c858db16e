"""Layers: ``tf.keras.layers``."""

from typing import TYPE_CHECKING

from tapemagic import nn
from tapemagic.nn.layers.merging import Merge, as_function
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.layers, __name__, adapted.Layer, nn.layers.Layer)
# Keras also has each merging layer as a function in lower case: add(inputs) is Add()(inputs).
_NAMES |= {
    kind.__name__.lower(): as_function(kind)
    for kind in _NAMES.values()
    if isinstance(kind, type) and issubclass(kind, Merge)
}
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)

if TYPE_CHECKING:  # the classes are derived from these
    from tapemagic.nn.layers import *  # noqa: F403
else:
    __all__ = list(_NAMES)
    __getattr__ = missing(__name__, __all__)
