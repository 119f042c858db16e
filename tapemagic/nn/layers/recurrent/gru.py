"""GRU: a recurrent layer whose gates mix the new output with the previous output."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.recurrence import gru_steps
from tapemagic.nn import activations
from tapemagic.nn.layers.recurrent.cell import Cell
from tapemagic.nn.layers.recurrent.recurrent import Gated, Recurrent


class GRUStep(Gated):
    """The step of `GRU` and `GRUCell`."""

    gates = 3
    recurrent_activation: Any
    reset_after: bool

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def _input_bias(self) -> Any:
        return self.bias[0] if self.reset_after and self.bias is not None else self.bias

    def step(self, x: Any, states: list[Any]) -> list[Any]:
        """Return the new output."""
        # reset_after is Keras's default because cuDNN computes this variant; it has a bias for each product.
        (h,) = states
        n = self.units
        if self.reset_after:
            inner = h @ self.recurrent_kernel
            if self.bias is not None:
                inner = inner + self.bias[1]
            gates = self.recurrent_activation(x[:, : 2 * n] + inner[:, : 2 * n])
            z, r = gates[:, :n], gates[:, n:]
            new = self.activation(x[:, 2 * n :] + r * inner[:, 2 * n :])
        else:
            kernel = self.recurrent_kernel
            gates = self.recurrent_activation(x[:, : 2 * n] + h @ kernel[:, : 2 * n])
            z, r = gates[:, :n], gates[:, n:]
            new = self.activation(x[:, 2 * n :] + (r * h) @ kernel[:, 2 * n :])
        return [new + z * (h - new)]  # z * h + (1 - z) * new with one product less


class GRU(GRUStep, Recurrent):
    """A recurrent layer of gated recurrent units [1]_.

    In each step, the columns of ``x @ kernel`` and ``h @ recurrent_kernel`` are split into three parts, z, r and c::

        z = recurrent_activation(x_z + h_z) r = recurrent_activation(x_r + h_r) h = z * h + (1 - z) * activation(x_c + r
        * h_c)

    The input has the shape (batch, time, features). The weights are the kernel, of shape (features, 3 units), the
    recurrent kernel (units, 3 units), and the bias: (2, 3 units) with `reset_after`, one for each product, otherwise
    (3 units).

    Parameters
    ----------
    reset_after : bool, optional
        True applies r after the product with the recurrent kernel, as above; False before it, as in [1]_:
        ``activation(x_c + (r * h) @ recurrent_kernel_c)``.
    **kwargs
        See `Recurrent` and `Layer`, also for the other parameters.

    References
    ----------
    .. [1] K. Cho et al., "Learning phrase representations using RNN encoder-decoder for statistical machine
       translation", EMNLP 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GRU(4)(np.zeros((2, 5, 3))).shape
    (2, 4)
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
        reset_after: bool = True,
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
        self.reset_after = bool(reset_after)

    def _computes_all_steps(self, sequences: Any) -> bool:
        return self.reset_after and self._has_usual_activations(sequences)

    def _all_steps(self, projected: Any, states: list[Any]) -> Any:
        width = self.gates * self.units
        bias = np.zeros(width, self.dtype) if self.bias is None else self.bias[1]
        return gru_steps(projected, self.recurrent_kernel, bias, *states)


class GRUCell(GRUStep, Cell):
    """A single step of `GRU`, for `RNN` or a loop of your own.

    See `Cell` for the call.

    Parameters
    ----------
    reset_after : bool, optional
        See `GRU`.
    **kwargs
        See `Gated` and `Layer`, also for the other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> output, states = nn.GRUCell(4)(np.zeros((2, 3)), [np.zeros((2, 4))])
    >>> output.shape
    (2, 4)
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
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: Any = None,
        reset_after: bool = True,
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
        self.reset_after = bool(reset_after)
