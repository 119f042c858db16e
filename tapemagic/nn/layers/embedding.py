"""Embedding: a learnt vector for each whole number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.laziness import IN_PARTS, require_computed
from tapemagic.engine.operations.gathering import gather
from tapemagic.errors import DtypeError, OptionError
from tapemagic.nn.arguments import positive
from tapemagic.nn.conversions import as_array
from tapemagic.nn.layer import Layer


class Embedding(Layer):
    """A learnt vector for each whole number from 0 on, such as the numbers of words.

    Parameters
    ----------
    input_dim : int
        How many numbers there are: one more than the largest.
    output_dim : int
        The length of a vector.
    embeddings_initializer : str, callable or Initializer, optional
    embeddings_regularizer : str, callable or Regularizer, optional
    mask_zero : bool, optional
        Only False: masks are handed to the layers that need them, as ``mask=numbers != 0``.
    weights : array_like, optional
        The first vectors, of the shape (input_dim, output_dim).
    **kwargs
        See `Layer`.

    Raises
    ------
    OptionError
        If a parameter has a value that it does not take; when the layer is called, if a number is not among those
        from 0 to `input_dim` - 1.
    DtypeError
        When the layer is called, if the input is not made of whole numbers, of whatever dtype.

    Notes
    -----
    From whole numbers of any shape to that shape with `output_dim` as one more axis.

    Examples
    --------
    >>> from tapemagic import nn
    >>> layer = nn.Embedding(3, 2, weights=[[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
    >>> layer(np.array([[2, 0]])).numpy()
    array([[[2. , 2.5],
            [0. , 0.5]]], dtype=float32)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        mask_zero: bool = False,
        weights: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.input_dim = positive(input_dim, "input_dim of Embedding")
        self.output_dim = positive(output_dim, "output_dim of Embedding")
        self.embeddings_initializer = embeddings_initializer
        self.embeddings_regularizer = embeddings_regularizer
        if mask_zero:
            raise OptionError(
                "Embedding makes no masks, as mask_zero=True would: hand them to the layers that need them, as in "
                "nn.LSTM(8)(vectors, mask=numbers != 0)"
            )
        if weights is not None:
            is_listed = isinstance(weights, list) and len(weights) == 1 and np.ndim(weights[0]) == 2
            self.build((None,))
            self.set_weights(weights if is_listed else [weights])

    def build(self, input_shape: Any) -> None:  # noqa: ARG002 (any shape will do)
        """Make the vectors."""
        self.embeddings = self.add_weight(
            (self.input_dim, self.output_dim),
            self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            name="embeddings",
        )

    def call(self, inputs: Any) -> Any:
        """The vectors of the numbers."""
        numbers = as_array(inputs)
        require_computed(numbers, f"the layer {self.path!r}, which looks numbers up,", IN_PARTS)
        invalid = _non_integers(numbers)
        if invalid.size:
            raise DtypeError(
                f"the layer {self.path!r} looks whole numbers up, and got {numbers.dtype}, such as {invalid[0]}: write "
                "x.astype(int), if that is meant"
            )
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < self.input_dim):
            wrong = numbers[(numbers < 0) | (numbers >= self.input_dim)][0]
            raise OptionError(
                f"the layer {self.path!r} has vectors for the numbers from 0 to {self.input_dim - 1}, and got "
                f"{wrong}: input_dim has to be one more than the largest number"
            )
        return gather(self.embeddings, numbers.astype(np.intp))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input, and the length of a vector."""
        return (*input_shape, self.output_dim)


def _non_integers(numbers: Any) -> Any:
    """The elements of an array that are no whole numbers."""
    if numbers.dtype.kind in "iu":
        return numbers.ravel()[:0]
    if numbers.dtype.kind == "f":
        return numbers[numbers != np.floor(numbers)]
    return numbers.ravel()
