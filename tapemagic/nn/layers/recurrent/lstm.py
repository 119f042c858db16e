"""LSTM: a recurrent layer with a cell that gates write, erase and read."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn import activations, initializers
from tapemagic.nn.layers.recurrent.recurrent import Recurrent


class ForgetBias:
    """The initializer of the bias of an LSTM whose forget gates begin open: ones for them, and others for the rest.

    Parameters
    ----------
    rest : str, callable or Initializer
        For the other gates.

    Examples
    --------
    >>> ForgetBias("zeros")((8,))
    array([0., 0., 1., 1., 0., 0., 0., 0.], dtype=float32)
    """

    def __init__(self, rest: Any) -> None:
        self.rest = initializers.get(rest)

    def __call__(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        """An array of a shape and a dtype."""
        units = shape[0] // LSTM.gates
        first, rest = (self.rest((n * units,), dtype=dtype) for n in (1, 2))
        return np.concatenate([first, initializers.get("ones")((units,), dtype=dtype), rest])


class LSTM(Recurrent):
    """A recurrent layer with long short-term memory [1]_.

    In each step, with the columns of ``x @ kernel + h @ recurrent_kernel + bias`` in four parts, i, f, c and o::

        cell = recurrent_activation(f) * cell + recurrent_activation(i) * activation(c)
        h = recurrent_activation(o) * activation(cell)

    Parameters
    ----------
    units : int
        The number of outputs, and the length of the cell.
    activation, recurrent_activation : str or callable, optional
    use_bias : bool, optional
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or Initializer, optional
    unit_forget_bias : bool, optional
        Whether the bias of f begins with ones.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or Regularizer, optional
    dropout : float, optional
        In training, the share of inputs that become 0, the same in every step.
    recurrent_dropout : float, optional
        Only 0.
    seed : int or numpy.random.Generator, optional
        Of dropout.
    return_sequences : bool, optional
        Whether all outputs are returned, or the last one.
    return_state : bool, optional
        Whether the last output and the last cell are returned, too.
    go_backwards : bool, optional
        Whether the sequences are read from their ends.
    stateful : bool, optional
        Only False.
    unroll : bool, optional
        Accepted, and without effect.
    **kwargs
        `zero_output_for_mask`; `name`, `trainable`, `dtype` and `activity_regularizer`, as of `Layer`.

    Notes
    -----
    The input has the shape (batch, time, features). The weights are the kernel, of shape (features, 4 units), the
    recurrent kernel (units, 4 units), and the bias (4 units). The states are the output and the cell.

    References
    ----------
    .. [1] S. Hochreiter and J. Schmidhuber, "Long short-term memory", Neural Computation 9 (1997); with the forget
       gate of F. Gers, J. Schmidhuber and F. Cummins, "Learning to forget", Neural Computation 12 (2000).

    Examples
    --------
    >>> from tapemagic import nn
    >>> output, h, cell = nn.LSTM(4, return_state=True)(np.zeros((2, 5, 3)))
    >>> output.shape, cell.shape
    ((2, 4), (2, 4))
    """

    gates = 4
    state_count = 2

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

    def _bias(self) -> Any:
        return ForgetBias(self.bias_initializer) if self.unit_forget_bias else self.bias_initializer

    def step(self, x: Any, states: list[Any]) -> list[Any]:
        """The new output and the new cell."""
        h, cell = states
        z = x + h @ self.recurrent_kernel
        i, f, c, o = (z[:, k * self.units : (k + 1) * self.units] for k in range(4))
        gate = self.recurrent_activation
        cell = gate(f) * cell + gate(i) * self.activation(c)
        return [gate(o) * self.activation(cell), cell]
