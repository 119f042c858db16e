"""Dense: each output is a weighted sum of all inputs."""

from __future__ import annotations

from typing import Any

from tapemagic.nn import activations
from tapemagic.nn.arguments import positive
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer


class Dense(Layer):
    """A layer that computes ``activation(inputs @ kernel + bias)``.

    The input has the shape (..., features), the output (..., units). The kernel has the shape (features, units).

    Parameters
    ----------
    units : int
        The number of outputs.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> layer = nn.Dense(2, activation="relu", kernel_initializer="ones")
    >>> layer(np.array([[1.0, 2.0, 3.0]])).numpy()
    array([[6., 6.]], dtype=float32)
    """

    input_spec = InputSpec("batch, ..., features")
    # Integers are cast as well: a product of integer inputs and float weights would be float64 in NumPy.
    cast_kinds = "fbiu"

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = positive(units, "units of Dense")
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer

    def build(self, input_shape: Any) -> None:
        """Create the kernel and the bias."""
        features = input_shape[-1]
        self.kernel = self.add_weight(
            (features, self.units),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            name="kernel",
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (self.units,), self.bias_initializer, regularizer=self.bias_regularizer, name="bias"
            )
        self.input_spec = self.input_spec.built_for({-1: features})

    supports_masking = True

    def call(self, inputs: Any) -> Any:
        """Return the outputs."""
        # matmul treats all leading axes as a batch, so inputs of any rank work, as in Keras.
        outputs = inputs @ self.kernel
        if self.bias is not None:
            outputs = outputs + self.bias
        return self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the input with `units` as its last length."""
        self._require_shape(tuple(input_shape))
        return (*input_shape[:-1], self.units)
