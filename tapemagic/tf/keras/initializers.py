"""Initializers: ``tf.keras.initializers``."""

from typing import TYPE_CHECKING

from tapemagic import nn
from tapemagic.nn.identifiers import snake_case
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import adapted

_NAMES = adapted.adapt(nn.initializers, __name__, adapted.Initializer, nn.initializers.Initializer)
# Keras has each class also under its name with underscores, and two under a longer one.
_NAMES |= {
    snake_case(name): value
    for name, value in _NAMES.items()
    if isinstance(value, type) and value is not adapted.Initializer
}
_NAMES |= {f"{name}Initializer": _NAMES[name] for name in ("Identity", "Orthogonal")}
_NAMES |= adapted.config_functions(_NAMES)
globals().update(_NAMES)

if TYPE_CHECKING:  # the classes are derived from these
    from tapemagic.nn.initializers import *  # noqa: F403
else:
    __all__ = list(_NAMES)
    __getattr__ = missing(__name__, __all__)
