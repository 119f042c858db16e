"""The handwritten digits of scikit-learn, which come with this package."""

from __future__ import annotations

import operator
from importlib.resources import files
from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.nn.datasets.source import Split, normalized

WHITE = 16
"""The largest value of a pixel: all 16 pixels of a 4 × 4 block of the scanned digit were on."""


def digits(
    *,
    test_fraction: float = 0.2,
    shuffle: bool = True,
    seed: int = 0,
    normalize: bool = False,
) -> Split:
    """Load 1,797 handwritten digits of 8 × 8 pixels, without a download.

    They are those of ``sklearn.datasets.load_digits``, in a file of this package: the test set of
    "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, UCI Machine
    Learning Repository, doi 10.24432/C50P49, CC BY 4.0), written by 13 people.

    Both parts have digits of the same people if they are shuffled, so the test accuracy tells
    nothing about the digits of others.

    Parameters
    ----------
    test_fraction : float, optional
        The part of the digits that is for testing, above 0 and below 1. As many digits as it comes
        to, rounded, are the test set.
    shuffle : bool, optional
        Whether the digits are shuffled before they are split. Otherwise they have
        scikit-learn's order, and the last ones are for testing.
    seed : int, optional
        Chooses the order in which they are shuffled, 0 or larger. It is the same everywhere:
        that of the first 1,797 numbers which ``numpy.random.PCG64(seed)`` gives, sorted.
    normalize : bool, optional
        Whether pixels are returned as float32 from 0 to 1, and not as uint8 from 0 to 16.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of numpy.ndarray
        Images of shape (1438, 8, 8) and (359, 8, 8), uint8 or float32; labels of shape (1438,) and
        (359,), uint8 from 0 to 9. Another ``test_fraction`` gives other lengths.

    Raises
    ------
    tapemagic.errors.OptionError
        For a fraction that leaves one of the two parts without digits, and for a seed that is no
        whole number of 0 or larger.

    Examples
    --------
    >>> from tapemagic.nn.datasets import digits
    >>> (x_train, y_train), (x_test, y_test) = digits()
    >>> x_train.shape, y_train.shape, x_test.shape, y_test.shape
    ((1438, 8, 8), (1438,), (359, 8, 8), (359,))
    >>> x_train.dtype, int(x_train.max())
    (dtype('uint8'), 16)

    As a network takes them:

    >>> (x_train, y_train), _ = digits(normalize=True)
    >>> x_train.dtype, float(x_train.max())
    (dtype('float32'), 1.0)
    """
    with files(__package__).joinpath("digits.npz").open("rb") as file, np.load(file) as stored:
        images, labels = stored["images"], stored["labels"]
    if shuffle:
        order = np.argsort(np.random.PCG64(_seed(seed)).random_raw(len(images)), kind="stable")
        images, labels = images[order], labels[order]
    for_training = len(images) - _test_length(test_fraction, len(images))
    split = (
        (images[:for_training], labels[:for_training]),
        (images[for_training:], labels[for_training:]),
    )
    return normalized(split, WHITE) if normalize else split


def _seed(seed: Any) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise OptionError(f"seed is {seed!r}: digits() takes a whole number, 0 or larger.")
    return number


def _test_length(fraction: Any, total: int) -> int:
    try:
        length = round(float(fraction) * total)
    except (TypeError, ValueError, OverflowError):
        length = 0
    if not 0 < length < total:
        raise OptionError(
            f"test_fraction is {fraction!r}: digits() takes a number above 0 and below 1 which "
            f"leaves at least one of the {total} digits for training and one for testing."
        )
    return length
