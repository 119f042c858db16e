"""``tf.keras.preprocessing.sequence``: sequences of one length, windows of series, and pairs of words."""

# ruff: noqa: NPY002, S311 (the generators that Keras uses, so that their seeds give the same)

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.utils import PyDataset, pad_sequences


class TimeseriesGenerator(PyDataset):
    """Batches of windows of a series, each with the target of the step after it.

    Parameters
    ----------
    data, targets : sequence
        Of the same length.
    length : int
        The number of steps before each target.
    sampling_rate : int, optional
        The distance of the steps in a window.
    stride : int, optional
        The distance of the windows.
    start_index, end_index : int, optional
        The part of the data from which windows are taken, with its last step.
    shuffle : bool, optional
        Draw windows at random, with NumPy's global generator.
    reverse : bool, optional
        Return each window from its last step to its first.
    batch_size : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> windows = TimeseriesGenerator(np.arange(5), np.arange(5), length=2, batch_size=8)
    >>> windows[0]
    (array([[0, 1],
           [1, 2],
           [2, 3]]), array([2, 3, 4]))
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(data) != len(targets):
            raise OptionError(
                f"data and targets must have the same length, not {len(data)} and {len(targets)}"
            )
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride = sampling_rate, stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise OptionError(
                f"no window of {length} steps fits between start_index={start_index} and end_index={self.end_index}"
            )

    def __len__(self) -> int:
        # Rounded up: the last batch may have fewer windows.
        steps = self.batch_size * self.stride
        return (self.end_index - self.start_index + steps) // steps

    def __getitem__(self, index: int) -> Any:
        """Return the windows and the targets of a batch."""
        steps = self.batch_size * self.stride
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + steps * index
            rows = np.arange(first, min(first + steps, self.end_index + 1), self.stride)
        windows = np.array(
            [self.data[row - self.length : row : self.sampling_rate] for row in rows]
        )
        targets = np.array([self.targets[row] for row in rows])
        return (windows[:, ::-1] if self.reverse else windows), targets


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """Return the probability with which `skipgrams` keeps the word of each rank: frequent words are rarer."""
    # Zipf's law; 0.577 is Euler's constant, rounded as in Keras.
    rank = np.arange(size)
    rank[0] = 1
    rarity = rank * (np.log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank)
    return np.minimum(1.0, np.sqrt(sampling_factor * rarity))


def skipgrams(
    sequence: Any,
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Return pairs of words that are near each other, labelled 1, and random pairs, labelled 0.

    Parameters
    ----------
    sequence : sequence of int
        The numbers of words; 0 is no word.
    vocabulary_size : int
        The largest number plus one.
    window_size : int, optional
        The largest distance of two words of a pair.
    negative_samples : float, optional
        The number of random pairs, relative to the others.
    shuffle, categorical : bool, optional
        Shuffle the pairs; return labels as [0, 1] and [1, 0].
    sampling_table : array_like, optional
        See `make_sampling_table`.
    seed : int, optional
        Of the order. Pairs are drawn by Python's module `random`.

    Examples
    --------
    >>> skipgrams([1, 2, 3], 4, window_size=1, negative_samples=0, shuffle=False)
    ([[1, 2], [2, 1], [2, 3], [3, 2]], [1, 1, 1, 1])
    """
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    pairs: list[list[int]] = []
    for place, word in enumerate(sequence):
        is_rare = sampling_table is None or (word and sampling_table[word] >= random.random())
        if not word or not is_rare:
            continue
        first, end = max(0, place - window_size), min(len(sequence), place + window_size + 1)
        near = (sequence[other] for other in range(first, end) if other != place)
        pairs += [[word, other] for other in near if other]
    labels: list[Any] = [yes] * len(pairs)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        pairs += [
            [words[k % len(words)], random.randint(1, vocabulary_size - 1)] for k in range(count)
        ]
        labels += [no] * count
    if shuffle:
        seed = random.randint(0, 10_000_000) if seed is None else seed
        for part in (pairs, labels):
            random.seed(seed)
            random.shuffle(part)
    return pairs, labels


__all__ = ["TimeseriesGenerator", "make_sampling_table", "pad_sequences", "skipgrams"]
__getattr__ = missing(__name__, __all__)
