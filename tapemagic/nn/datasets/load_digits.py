"""The handwritten digits of scikit-learn, which this package includes."""

from __future__ import annotations

import operator
from importlib.resources import files
from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.nn.datasets.source import Split, normalized

MAX_PIXEL = 16
"""The maximum of a pixel: all 16 pixels of a 4 × 4 block of the scanned digit were set."""


def digits(
    *,
    test_fraction: float = 0.2,
    shuffle: bool = True,
    seed: int = 0,
    normalize: bool = False,
) -> Split:
    """Load 1,797 handwritten digits of 8 × 8 pixels, without a download.

    The file of ``sklearn.datasets.load_digits``: the test set of "Optical Recognition of Handwritten Digits" (E.
    Alpaydin and C. Kaynak, 1998, UCI Machine Learning Repository, doi 10.24432/C50P49, CC BY 4.0), written by 13
    people. Shuffled parts share writers, so the test accuracy doesn't hold for other people's digits. Raises
    tapemagic.errors.OptionError for a fraction that leaves one part empty, and for a seed that isn't an integer of at
    least 0.

    Parameters
    ----------
    test_fraction : float, optional
        The fraction of the digits for testing, between 0 and 1.
    shuffle : bool, optional
        Shuffle the digits before they are split. Otherwise the last digits, in scikit-learn's order, are for testing.
    seed : int, optional
        The seed of the shuffle, at least 0.
    normalize : bool, optional
        Return pixels as float32 from 0 to 1 instead of uint8 from 0 to 16.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of numpy.ndarray
        Images of shape (1438, 8, 8) and (359, 8, 8) by default, uint8 or float32; labels, uint8 from 0 to 9.

    Examples
    --------
    >>> from tapemagic.nn.datasets import digits
    >>> (x_train, y_train), (x_test, y_test) = digits()
    >>> x_train.shape, y_train.shape, x_test.shape, y_test.shape
    ((1438, 8, 8), (1438,), (359, 8, 8), (359,))
    >>> x_train.dtype, int(x_train.max())
    (dtype('uint8'), 16)

    For a network:

    >>> (x_train, y_train), _ = digits(normalize=True)
    >>> x_train.dtype, float(x_train.max())
    (dtype('float32'), 1.0)
    """
    with files(__package__).joinpath("digits.npz").open("rb") as file, np.load(file) as stored:
        images, labels = stored["images"], stored["labels"]
    if shuffle:
        # The raw numbers of PCG64 are the same in every NumPy version; the methods of Generator may change (NEP 19).
        order = np.argsort(np.random.PCG64(_seed(seed)).random_raw(len(images)), kind="stable")
        images, labels = images[order], labels[order]
    for_training = len(images) - _test_length(test_fraction, len(images))
    split = (
        (images[:for_training], labels[:for_training]),
        (images[for_training:], labels[for_training:]),
    )
    return normalized(split, MAX_PIXEL) if normalize else split


def _seed(seed: Any) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise OptionError(f"seed must be an integer of at least 0, not {seed!r}.")
    return number


def _test_length(fraction: Any, total: int) -> int:
    try:
        length = round(float(fraction) * total)
    except (TypeError, ValueError, OverflowError):
        length = 0
    if not 0 < length < total:
        raise OptionError(
            f"test_fraction must be a number between 0 and 1 that leaves at least one of the {total} "
            f"digits for training and one for testing, not {fraction!r}."
        )
    return length
