"""``tf.keras.preprocessing``: sequences."""

from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.preprocessing import sequence as sequence

__all__ = ["sequence"]
__getattr__ = missing(__name__, __all__)
