"""Prices of houses in Boston of the 1970s: ``tf.keras.datasets.boston_housing``."""

from typing import Any

import numpy as np

from tapemagic.tf.keras.file_cache import get_file

ADDRESS = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/boston_housing.npz"
SUM = "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"


def load_data(path: Any = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> Any:
    """Load 13 attributes of 506 houses and their prices, downloading them on first use.

    One attribute is derived from the share of Black inhabitants, and supposes that segregation raises prices: the data
    are of use for lessons on ethics only, and Keras keeps them for these.

    Parameters
    ----------
    path : str, optional
        The name of the file in ``~/.keras/datasets``.
    test_split : float, optional
        The share of the houses for testing.
    seed : int, optional
        Of the order of the houses.

    Returns
    -------
    tuple
        ``(x_train, y_train), (x_test, y_test)``: arrays of float64.
    """
    with np.load(get_file(path, ADDRESS, file_hash=SUM), allow_pickle=False) as file:
        x, y = file["x"], file["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    count = int(len(x) * (1 - test_split))
    train, test = order[:count], order[count:]
    return (x[train], y[train]), (x[test], y[test])
