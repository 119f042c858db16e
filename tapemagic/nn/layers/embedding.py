"""Embedding: a learned vector for each integer."""

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
    """A learned vector for each integer of at least 0, such as the index of a word.

    Raises OptionError in a call, if an integer isn't between 0 and `input_dim` - 1; DtypeError in a call, if a number
    isn't an integer, regardless of its dtype.

    The output has the shape of the input with `output_dim` as an additional axis.

    Parameters
    ----------
    input_dim : int
        The number of vectors: one more than the largest integer.
    output_dim : int
        The length of a vector.
    mask_zero : bool, optional
        The number 0 is padding: the output has a mask, so that layers such as LSTM skip these steps.
    weights : array_like, optional
        The first vectors, of the shape (input_dim, output_dim).
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
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
        self.mask_zero = self.supports_masking = bool(mask_zero)
        if weights is not None:
            # Keras 2 took the weights of a layer as a list: [matrix].
            is_listed = isinstance(weights, list) and len(weights) == 1 and np.ndim(weights[0]) == 2
            self.build((None,))
            self.set_weights(weights if is_listed else [weights])

    _not_in_config = frozenset({"input_shape", "weights"})

    def build(self, input_shape: Any) -> None:  # noqa: ARG002 (any shape will do)
        """Create the vectors."""
        self.embeddings = self.add_weight(
            (self.input_dim, self.output_dim),
            self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            name="embeddings",
        )

    def call(self, inputs: Any) -> Any:
        """Return the vectors of the integers."""
        numbers = as_array(inputs)
        require_computed(numbers, f"the layer {self.path!r}, which looks numbers up,", IN_PARTS)
        invalid = _non_integers(numbers)
        if invalid.size:
            raise DtypeError(
                f"the layer {self.path!r} looks integers up, and got {numbers.dtype}, such as {invalid[0]}: write "
                "x.astype(int), if the fractions don't matter"
            )
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < self.input_dim):
            # NumPy would read negative indices from the end, and JAX and TensorFlow on GPU clip or return zeros.
            wrong = numbers[(numbers < 0) | (numbers >= self.input_dim)][0]
            raise OptionError(
                f"the layer {self.path!r} has vectors for the numbers from 0 to {self.input_dim - 1}, and got "
                f"{wrong}: input_dim must be one more than the largest number"
            )
        return gather(self.embeddings, numbers.astype(np.intp))

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:  # noqa: ARG002 (as in Keras)
        """Return True where a number isn't 0, with `mask_zero`."""
        return np.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the input with the length of a vector as an additional axis."""
        return (*input_shape, self.output_dim)


def _non_integers(numbers: Any) -> Any:
    """Return the elements of an array that aren't integers."""
    # Floats that are integers are accepted, because Keras casts all inputs, and pandas yields floats for columns with
    # missing values; nan is refused, because it differs from its floor.
    if numbers.dtype.kind in "iu":
        return numbers.ravel()[:0]
    if numbers.dtype.kind == "f":
        return numbers[numbers != np.floor(numbers)]
    return numbers.ravel()
