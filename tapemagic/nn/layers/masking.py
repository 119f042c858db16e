"""Masking: steps of sequences that don't count."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.conversions import as_array
from tapemagic.nn.layer import Pointwise


class Masking(Pointwise):
    """A mask for the steps of sequences whose features all equal one number, and 0 for the features of these steps.

    Layers behind it that compute with sequences, such as LSTM, skip these steps.

    Parameters
    ----------
    mask_value : float, optional
        The number that marks padding.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> x = np.array([[[1.0], [2.0], [0.0]]])
    >>> layer = nn.SimpleRNN(1, activation="linear", kernel_initializer="ones", recurrent_initializer="ones")
    >>> layer(x + 1).numpy(), layer(nn.Masking(mask_value=1.0)(x + 1)).numpy()
    (array([[6.]], dtype=float32), array([[5.]], dtype=float32))
    """

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:  # noqa: ARG002 (as in Keras)
        """Return True for each step with a feature that differs from `mask_value`."""
        return np.any(np.not_equal(as_array(inputs), self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        """Return the inputs, with 0 in masked steps."""
        return np.where(self.compute_mask(inputs)[..., None], inputs, 0)
