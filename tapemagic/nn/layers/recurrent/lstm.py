"""LSTM: a recurrent layer with a memory cell, which gates write, erase and read."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.recurrence import lstm_steps
from tapemagic.nn import activations, initializers
from tapemagic.nn.layers.recurrent.cell import Cell
from tapemagic.nn.layers.recurrent.recurrent import Gated, Recurrent


class ForgetBias:
    """Initializer of an LSTM's bias: ones for the forget gates, and the initializer `rest` for the other gates.

    Examples
    --------
    >>> ForgetBias("zeros")((8,))
    array([0., 0., 1., 1., 0., 0., 0., 0.], dtype=float32)
    """

    def __init__(self, rest: Any) -> None:
        self.rest = initializers.get(rest)

    def __call__(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        """Return the bias for all four gates, in the order i, f, c, o."""
        # R. Jozefowicz et al., "An empirical exploration of recurrent network architectures", ICML 2015: with a bias
        # of 1 the forget gates begin open, so that gradients flow through the cell from the start.
        units = shape[0] // LSTMStep.gates
        first, rest = (self.rest((n * units,), dtype=dtype) for n in (1, 2))
        return np.concatenate([first, initializers.get("ones")((units,), dtype=dtype), rest])


class LSTMStep(Gated):
    """The step of `LSTM` and `LSTMCell`."""

    gates = 4
    state_count = 2
    recurrent_activation: Any
    unit_forget_bias: bool

    def _bias(self) -> Any:
        return ForgetBias(self.bias_initializer) if self.unit_forget_bias else self.bias_initializer

    def step(self, x: Any, states: list[Any]) -> list[Any]:
        """Return the new output and the new cell."""
        # Keras's order of gates: input, forget, cell candidate, output. PyTorch has the same, cuDNN too; TensorFlow 1
        # had i, c, f, o, so its weights can't be loaded unchanged.
        h, cell = states
        z = x + h @ self.recurrent_kernel
        i, f, c, o = (z[:, k * self.units : (k + 1) * self.units] for k in range(4))
        gate = self.recurrent_activation
        cell = gate(f) * cell + gate(i) * self.activation(c)
        return [gate(o) * self.activation(cell), cell]


class LSTM(LSTMStep, Recurrent):
    """A recurrent layer with long short-term memory [1]_.

    In each step, the columns of ``x @ kernel + h @ recurrent_kernel + bias`` are split into four parts, i, f, c, o::

        cell = recurrent_activation(f) * cell + recurrent_activation(i) * activation(c)
        h = recurrent_activation(o) * activation(cell)

    The input has the shape (batch, time, features). The weights are the kernel, of shape (features, 4 units), the
    recurrent kernel (units, 4 units), and the bias (4 units). The states are the output and the cell.

    Parameters
    ----------
    unit_forget_bias : bool, optional
        Initialize the bias of f with ones.
    **kwargs
        See `Recurrent` and `Layer`, also for the other parameters.

    References
    ----------
    .. [1] S. Hochreiter and J. Schmidhuber, "Long short-term memory", Neural Computation 9 (1997); with the forget
       gate of F. Gers, J. Schmidhuber and F. Cummins, "Learning to forget", Neural Computation 12 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> output, h, cell = nn.LSTM(4, return_state=True)(np.zeros((2, 5, 3)))
    >>> output.shape, cell.shape
    ((2, 4), (2, 4))
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: Any = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            seed=seed,
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            **kwargs,
        )
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = bool(unit_forget_bias)

    def _computes_all_steps(self, sequences: Any) -> bool:
        return self._has_usual_activations(sequences)

    def _all_steps(self, projected: Any, states: list[Any]) -> Any:
        return lstm_steps(projected, self.recurrent_kernel, *states)


class LSTMCell(LSTMStep, Cell):
    """A single step of `LSTM`, for `RNN` or a loop of your own.

    See `Cell` for the call.

    Parameters
    ----------
    unit_forget_bias : bool, optional
        See `LSTM`.
    **kwargs
        See `Gated` and `Layer`, also for the other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> cell = nn.LSTMCell(4)
    >>> states = cell.get_initial_state(batch_size=2)
    >>> for x in np.zeros((5, 2, 3)):
    ...     output, states = cell(x, states)
    >>> output.shape, len(states)
    ((2, 4), 2)
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            seed=seed,
            **kwargs,
        )
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = bool(unit_forget_bias)
