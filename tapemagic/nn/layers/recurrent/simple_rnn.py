"""SimpleRNN: a recurrent layer whose output is a function of the input and the previous output."""

from __future__ import annotations

from typing import Any

from tapemagic.nn.layers.recurrent.cell import Cell
from tapemagic.nn.layers.recurrent.recurrent import Gated, Recurrent


class SimpleStep(Gated):
    """The step of `SimpleRNN` and `SimpleRNNCell`."""

    gates = 1

    def step(self, x: Any, states: list[Any]) -> list[Any]:
        """Return the new output."""
        # x is the input times the kernel plus the bias, computed for all steps at once.
        return [self.activation(x + states[0] @ self.recurrent_kernel)]


class SimpleRNN(SimpleStep, Recurrent):
    """A recurrent layer that computes ``h = activation(x @ kernel + h @ recurrent_kernel + bias)`` in each step [1]_.

    See `Recurrent` and `Layer` for the parameters.

    The input has the shape (batch, time, features). The weights are the kernel, of shape (features, units), the
    recurrent kernel (units, units), and the bias (units).

    References
    ----------
    .. [1] J. L. Elman, "Finding structure in time", Cognitive Science 14 (1990).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.SimpleRNN(4, return_sequences=True)(np.zeros((2, 5, 3))).shape
    (2, 5, 4)
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
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
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            **kwargs,
        )


class SimpleRNNCell(SimpleStep, Cell):
    """A single step of `SimpleRNN`, for `RNN` or a loop of your own.

    See `Cell` for the parameters and the call.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> output, states = nn.SimpleRNNCell(4)(np.zeros((2, 3)), [np.zeros((2, 4))])
    >>> output.shape
    (2, 4)
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
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
