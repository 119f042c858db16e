"""Recurrent: the base class of layers that read sequences step by step, and keep states between the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.laziness import IN_PARTS, require_computed
from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn import activations
from tapemagic.nn.arguments import positive, share
from tapemagic.nn.conversions import as_array
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer
from tapemagic.nn.random import generator


class Recurrent(Layer):
    """Base class of `SimpleRNN`, `GRU` and `LSTM`: the loop over the steps, and what they have in common.

    A class says how many gates and states it has, and writes `step`, which computes new states.

    Attributes
    ----------
    gates : int
        How many times `units` columns the kernels have.
    state_count : int
        The number of states, each of the shape (batch, units); the first of them is the output.
    """

    gates: int
    state_count = 1
    input_spec = InputSpec("batch, time, features")
    cast_kinds = "fbiu"

    def __init__(
        self,
        units: int,
        *,
        activation: Any,
        use_bias: bool,
        kernel_initializer: Any,
        recurrent_initializer: Any,
        bias_initializer: Any,
        kernel_regularizer: Any,
        recurrent_regularizer: Any,
        bias_regularizer: Any,
        dropout: float,
        recurrent_dropout: float,
        seed: Any,
        return_sequences: bool,
        return_state: bool,
        go_backwards: bool,
        stateful: bool,
        unroll: bool,  # noqa: ARG002 (all loops are)
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        self.units = positive(units, f"units of {kind}")
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = kernel_initializer
        self.recurrent_initializer = recurrent_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.recurrent_regularizer = recurrent_regularizer
        self.bias_regularizer = bias_regularizer
        self.dropout = share(dropout, f"dropout of {kind}")
        self.seed = seed
        self._own = None if seed is None else generator(seed)
        self.return_sequences = bool(return_sequences)
        self.return_state = bool(return_state)
        self.go_backwards = bool(go_backwards)
        self.zero_output_for_mask = bool(zero_output_for_mask)
        if stateful:
            raise OptionError(
                f"{kind} keeps no states from call to call, as stateful=True would: write return_state=True, and give "
                "them to the next call as initial_state=..."
            )
        if recurrent_dropout:
            raise OptionError(
                f"{kind} has no recurrent_dropout: write dropout={recurrent_dropout!r} for the inputs"
            )

    def __call__(  # type: ignore[override]
        self, sequences: Any, initial_state: Any = None, **kwargs: Any
    ) -> Any:
        """Call the layer on sequences.

        Parameters
        ----------
        sequences : array_like or Tensor, shape (batch, time, features)
        initial_state : array_like, Tensor or list of them, optional
            The states before the first step, each of the shape (batch, units); zeros if left out.
        **kwargs
            `mask` of shape (batch, time): where it is False, the states stay as they are, and the output is that of
            the step before; and `training`, as of `Layer`.

        Returns
        -------
        Tensor or tuple of Tensor
            The last output, or all of them, of shape (batch, time, units); with `return_state`, and the last states.
        """
        if initial_state is None:
            return super().__call__(sequences, **kwargs)
        return super().__call__(sequences, initial_state, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        features, width = input_shape[-1], self.gates * self.units
        self.kernel = self.add_weight(
            (features, width),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            name="kernel",
        )
        self.recurrent_kernel = self.add_weight(
            (self.units, width),
            self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            name="recurrent_kernel",
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                self._bias_shape(), self._bias(), regularizer=self.bias_regularizer, name="bias"
            )
        self.input_spec = self.input_spec.built_for({-1: features})

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.gates * self.units,)

    def _bias(self) -> Any:
        """The initializer of the bias."""
        return self.bias_initializer

    def call(
        self, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool = False
    ) -> Any:
        """The outputs, and the last states if they are to be returned."""
        batch, length, _ = sequences.shape
        if not length:
            raise ShapeError(
                f"the layer {self.path!r} got sequences without a step, of the shape {sequences.shape}"
            )
        states = self._initial(initial_state, batch)
        steps = self._inputs(sequences, training)
        lets = [None] * length if mask is None else self._masks(mask, (batch, length))
        if self.go_backwards:
            steps, lets = steps[::-1], lets[::-1]
        output = np.zeros((batch, self.units), self.dtype)
        outputs = []
        for x, let in zip(steps, lets, strict=True):
            new = self.step(x, states)
            if let is None:
                states, output = new, new[0]
            else:
                before = 0 if self.zero_output_for_mask else output
                output = np.where(let, new[0], before)
                states = [np.where(let, a, b) for a, b in zip(new, states, strict=True)]
            outputs.append(output)
        result = np.stack(outputs, axis=1) if self.return_sequences else output
        return (result, *states) if self.return_state else result

    def step(self, x: Any, states: list[Any]) -> list[Any]:
        """The new states, from the inputs of one step times the kernel, and the states before it."""
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The batch, the steps if all outputs are returned, and the units."""
        self._require_shape(tuple(input_shape))
        batch, length, _ = input_shape
        result = (batch, length, self.units) if self.return_sequences else (batch, self.units)
        if not self.return_state:
            return result
        return [result, *[(batch, self.units)] * self.state_count]

    def _inputs(self, sequences: Any, training: bool) -> list[Any]:
        """The inputs times the kernel, step by step; all in one product."""
        batch, length, features = sequences.shape
        if training and self.dropout:
            how = f"the layer {self.path!r}, which draws random numbers,"
            require_computed(unwrap(sequences), how, IN_PARTS)
            kept = generator(self._own).random((batch, 1, features)) >= self.dropout
            mask = np.broadcast_to(kept, sequences.shape)
            sequences = masked(sequences, mask=mask, factor=1 / (1 - self.dropout))
        projected = sequences.reshape((batch * length, features)) @ self.kernel
        bias = self._input_bias()
        if bias is not None:
            projected = projected + bias
        steps = np.split(projected.reshape((batch, length, projected.shape[-1])), length, axis=1)
        return [x.reshape((batch, x.shape[-1])) for x in steps]

    def _input_bias(self) -> Any:
        """The bias that is added to the inputs times the kernel."""
        return self.bias

    def _initial(self, initial_state: Any, batch: int) -> list[Any]:
        """The states before the first step."""
        shape = (batch, self.units)
        if initial_state is None:
            zeros = constant(np.zeros(shape, self.dtype))
            return [zeros] * self.state_count
        states = list(initial_state) if isinstance(initial_state, list | tuple) else [initial_state]
        shapes = [getattr(state, "shape", state) for state in states]
        if shapes != [shape] * self.state_count:
            raise ShapeError(
                f"the layer {self.path!r} takes an initial_state of {self.state_count} × {shape}, and got {shapes}"
            )
        return states

    def _masks(self, mask: Any, shape: tuple[int, int]) -> list[Any]:
        """The columns of a mask, each with an axis for the units."""
        mask = as_array(mask).astype(bool)
        if mask.shape != shape:
            raise ShapeError(
                f"the layer {self.path!r} takes a mask with one truth value for each step, of the shape {shape}, and "
                f"got {mask.shape}"
            )
        return list(mask.T[..., None])
