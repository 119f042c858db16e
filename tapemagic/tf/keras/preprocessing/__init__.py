"""``tf.keras.preprocessing``: sequences, texts and pictures."""

from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.preprocessing import image as image
from tapemagic.tf.keras.preprocessing import sequence as sequence
from tapemagic.tf.keras.preprocessing import text as text
from tapemagic.tf.keras.utils import timeseries_dataset_from_array

__all__ = ["image", "sequence", "text", "timeseries_dataset_from_array"]
__getattr__ = missing(__name__, __all__)
