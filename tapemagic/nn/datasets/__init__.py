"""Labelled images as NumPy arrays: handwritten digits, MNIST and Fashion-MNIST.

Each function returns ``(x_train, y_train), (x_test, y_test)``, like the functions of ``keras.datasets``. With
``normalize=True``, pixels are float32 from 0 to 1 instead of uint8.
"""

from tapemagic.nn.datasets.load_digits import digits as digits
from tapemagic.nn.datasets.load_mnist import fashion_mnist as fashion_mnist
from tapemagic.nn.datasets.load_mnist import mnist as mnist

__all__ = ["digits", "fashion_mnist", "mnist"]
