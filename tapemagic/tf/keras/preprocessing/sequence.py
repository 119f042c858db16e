"""``tf.keras.preprocessing.sequence``: sequences of one length."""

from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.utils import pad_sequences

__all__ = ["pad_sequences"]
__getattr__ = missing(__name__, __all__)
