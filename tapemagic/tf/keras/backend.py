"""Settings of Keras: ``tf.keras.backend``."""

from tapemagic.nn.config import epsilon, floatx, set_floatx
from tapemagic.nn.module import clear_names
from tapemagic.tf.core.missing import missing


def clear_session() -> None:
    """Reset the automatic names of layers: the next Dense layer is called "dense" again."""
    clear_names()


__all__ = ["clear_session", "epsilon", "floatx", "set_floatx"]
__getattr__ = missing(__name__, __all__)
