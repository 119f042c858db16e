"""SimpleRNN: each output is a function of the input and of the output before."""

from __future__ import annotations

from typing import Any

from tapemagic.nn.layers.recurrent.recurrent import Recurrent


class SimpleRNN(Recurrent):
    """A recurrent layer that computes ``h = activation(x @ kernel + h @ recurrent_kernel + bias)`` in each step [1]_.

    Parameters
    ----------
    units : int
        The number of outputs.
    activation : str or callable, optional
    use_bias : bool, optional
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or Initializer, optional
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or Regularizer, optional
    dropout : float, optional
        In training, the share of inputs that become 0, the same in every step.
    recurrent_dropout : float, optional
        Only 0.
    return_sequences : bool, optional
        Whether all outputs are returned, or the last one.
    return_state : bool, optional
        Whether the last state is returned, too.
    go_backwards : bool, optional
        Whether the sequences are read from their ends.
    stateful : bool, optional
        Only False.
    unroll : bool, optional
        Accepted, and without effect.
    seed : int or numpy.random.Generator, optional
        Of dropout.
    **kwargs
        `zero_output_for_mask`; `name`, `trainable`, `dtype` and `activity_regularizer`, as of `Layer`.

    Notes
    -----
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

    gates = 1

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

    def step(self, x: Any, states: list[Any]) -> list[Any]:
        """The new output."""
        return [self.activation(x + states[0] @ self.recurrent_kernel)]
