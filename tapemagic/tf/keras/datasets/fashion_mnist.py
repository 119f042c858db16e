"""Pictures of pieces of clothing: ``tf.keras.datasets.fashion_mnist``."""

from typing import Any

from tapemagic.nn import datasets


def load_data(path: Any = None) -> Any:
    """Load 60,000 pictures for training and 10,000 for testing, downloading them on first use.

    Parameters
    ----------
    path : str or path, optional
        A folder, or an ``.npz`` file, to read instead; see `tapemagic.nn.datasets.fashion_mnist`.

    Returns
    -------
    tuple
        ``(x_train, y_train), (x_test, y_test)``: arrays of uint8, of the shapes (60000, 28, 28), (60000,),
        (10000, 28, 28) and (10000,).
    """
    return datasets.fashion_mnist(path, download=path is None)
