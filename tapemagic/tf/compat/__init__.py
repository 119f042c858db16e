"""Names of older versions: ``tf.compat.v1``, those that eager programs use."""

from tapemagic.tf.compat import v1
from tapemagic.tf.core.missing import missing

__all__ = ["v1"]

__getattr__ = missing(__name__, __all__)
