"""``tf.keras.preprocessing.image``: pictures and arrays."""

from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.pictures import (
    array_to_img,
    img_to_array,
    load_img,
    save_img,
    smart_resize,
)

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img", "smart_resize"]
__getattr__ = missing(__name__, __all__)
