"""Cell: the base class of recurrent layers' single steps, which RNN calls, or your own loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.tensor.constant import constant
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layers.recurrent.recurrent import Gated


class Cell(Gated):
    """Base class of `SimpleRNNCell`, `GRUCell` and `LSTMCell`: a step of the layer of the same name.

    ``cell(inputs, states)`` returns the output and the new states, for inputs of the shape (batch, features) and a list
    of states of the shape (batch, units). See `Gated` for the parameters, and the layer for the formulas.

    Attributes
    ----------
    state_size : int or list of int
        The length of the state, or of each of several states.
    output_size : int
        The length of the output.
    """

    input_spec = InputSpec("batch, features")
    _dropout_mask: Any = None

    def __call__(self, inputs: Any, states: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Compute a step.

        Parameters
        ----------
        inputs : array_like or Tensor, shape (batch, features)
        states : array_like, Tensor or list of them
            Each of the shape (batch, units).
        **kwargs
            `training`, see `Layer`.

        Returns
        -------
        (Tensor, Tensor or list of Tensor)
            The output, and the new states in the form of `states`.
        """
        # By position, because only positional arguments are converted to tensors by Layer.__call__.
        return super().__call__(inputs, states, **kwargs)

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        """Return the output and the new states."""
        before = self._checked_states(states, len(inputs), "states")
        if training and self.dropout:
            mask = self._dropout_mask
            if mask is None or mask.shape != inputs.shape:
                mask = self._dropout_mask = self._kept(inputs, inputs.shape)
            inputs = masked(inputs, mask=mask, factor=1 / (1 - self.dropout))
        new = self.step(self._projected(inputs), before)
        return new[0], new if isinstance(states, list | tuple) else new[0]

    @property
    def state_size(self) -> int | list[int]:
        """The length of the state, or of each of several states."""
        return self.units if self.state_count == 1 else [self.units] * self.state_count

    @property
    def output_size(self) -> int:
        """The length of the output."""
        return self.units

    def get_initial_state(self, batch_size: int) -> list[Any]:
        """Return states of zeros.

        Examples
        --------
        >>> from tapemagic import nn
        >>> [state.shape for state in nn.LSTMCell(3).get_initial_state(batch_size=2)]
        [(2, 3), (2, 3)]
        """
        zeros = constant(np.zeros((batch_size, self.units), self.dtype))
        return [zeros] * self.state_count

    def reset_dropout_mask(self) -> None:
        """Draw other inputs to drop in the next call: until then, all calls drop the same inputs, as in Keras."""
        self._dropout_mask = None
