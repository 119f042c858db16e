"""``tf.keras.config``: defaults of layers."""

from tapemagic.nn.config import (
    dtype_policy,
    epsilon,
    floatx,
    image_data_format,
    set_dtype_policy,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.backend import backend
from tapemagic.tf.keras.utils import enable_interactive_logging, is_interactive_logging_enabled


def disable_traceback_filtering() -> None:
    """Do nothing: tracebacks are whole."""


def enable_traceback_filtering() -> None:
    """Do nothing: tracebacks are whole."""


def is_traceback_filtering_enabled() -> bool:
    """Return False: tracebacks are whole."""
    return False


__all__ = [
    "backend", "disable_traceback_filtering", "dtype_policy", "enable_interactive_logging",
    "enable_traceback_filtering", "epsilon", "floatx", "image_data_format",
    "is_interactive_logging_enabled", "is_traceback_filtering_enabled", "set_dtype_policy",
    "set_epsilon", "set_floatx", "set_image_data_format",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
