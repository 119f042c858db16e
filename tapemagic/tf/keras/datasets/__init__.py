"""Data sets: ``tf.keras.datasets``."""

from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.datasets import boston_housing as boston_housing
from tapemagic.tf.keras.datasets import fashion_mnist as fashion_mnist
from tapemagic.tf.keras.datasets import mnist as mnist

__all__ = ["boston_housing", "fashion_mnist", "mnist"]
__getattr__ = missing(__name__, __all__)
