"""The base classes of layers that read sequences step by step, with states between the steps, and of their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.laziness import IN_PARTS, is_lazy, require_computed
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn import activations
from tapemagic.nn.arguments import positive, share
from tapemagic.nn.conversions import as_array
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer
from tapemagic.nn.random import draw, generator


class Gated(Layer):
    """Base class of recurrent layers and cells with gates: their parameters, their weights, and the step.

    A subclass defines `gates` and `state_count`, and overrides `step`, which computes the new states.

    Parameters
    ----------
    units : int
        The number of outputs, and the length of each state.
    activation, recurrent_activation : str or callable, optional
        The activations of the output and of the gates.
    recurrent_initializer, recurrent_regularizer : optional
        Of the recurrent kernel. See `Layer` for these, `use_bias`, and the other initializers and regularizers.
    dropout : float, optional
        The share of inputs that become 0 during training, the same in every step.
    recurrent_dropout : float, optional
        Only 0.

    Attributes
    ----------
    gates : int
        The number of parts of `units` columns in the kernels.
    state_count : int
        The number of states, each of the shape (batch, units); the first state is the output.
    """

    gates: int
    state_count = 1
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
        if recurrent_dropout:
            raise OptionError(
                f"{kind} has no recurrent_dropout: write dropout={recurrent_dropout!r} for the inputs"
            )

    def build(self, input_shape: Any) -> None:
        """Create the kernels and the bias."""
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
        self.input_spec = self.input_spec.built_for({-1: features})  # type: ignore[union-attr]

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.gates * self.units,)

    def _bias(self) -> Any:
        """Return the initializer of the bias."""
        return self.bias_initializer

    def step(self, x: Any, states: list[Any]) -> list[Any]:
        """Return the new states from the inputs of one step times the kernel, and the previous states."""
        raise NotImplementedError

    def _projected(self, inputs: Any) -> Any:
        """Return rows of inputs times the kernel, plus their bias."""
        projected = inputs @ self.kernel
        bias = self._input_bias()
        return projected if bias is None else projected + bias

    def _input_bias(self) -> Any:
        """Return the bias that is added to the inputs times the kernel."""
        return self.bias

    def _kept(self, inputs: Any, shape: tuple[int, ...]) -> Any:
        """Draw which inputs dropout keeps."""
        how = f"the layer {self.path!r}, which draws random numbers,"
        require_computed(unwrap(inputs), how, IN_PARTS)
        return draw("random", shape, rng=self._own) >= self.dropout

    def _checked_states(self, given: Any, batch: int, what: str) -> list[Any]:
        """Return the states as a list, or raise ShapeError."""
        states = list(given) if isinstance(given, list | tuple) else [given]
        shapes = [getattr(state, "shape", state) for state in states]
        if shapes != [(batch, self.units)] * self.state_count:
            raise ShapeError(
                f"the layer {self.path!r} takes {what} of {self.state_count} × {(batch, self.units)}, and got {shapes}"
            )
        return states


def run_steps(
    step: Callable[[Any, Any], tuple[Any, Any]],
    inputs: Sequence[Any],
    states: Any,
    masks: Sequence[Any],
    zero_output_for_mask: bool,
) -> tuple[list[Any], Any]:
    """Call `step` on the inputs of each step and the states, and return the outputs and the last states.

    A mask has a bool for each example, or is None. `step` returns an output and new states in the same structure.
    """
    output: Any = 0
    outputs = []
    for x, is_valid in zip(inputs, masks, strict=True):
        new, new_states = step(x, states)
        if is_valid is None:
            states, output = new_states, new
        else:
            # Keras's rule for masked steps: repeat the previous output and states, so that padding at the end of a
            # sequence doesn't change its last output.
            output = _where(is_valid, new, 0 if zero_output_for_mask else output)
            pairs = zip(leaves(new_states), leaves(states), strict=True)
            states = pack(new_states, [_where(is_valid, a, b) for a, b in pairs])
        outputs.append(output)
    return outputs, states


def _where(is_valid: Any, new: Any, before: Any) -> Any:
    """Return the new values of the examples that a mask lets through, and the others from before."""
    return np.where(is_valid.reshape((-1, *[1] * (new.ndim - 1))), new, before)


class Sequences(Layer):
    """Base class of layers that read sequences step by step: their options and their results.

    Parameters
    ----------
    return_sequences : bool, optional
        Return the outputs of all steps instead of the last output.
    return_state : bool, optional
        Also return the last states.
    go_backwards : bool, optional
        Read the sequences from their ends.
    stateful : bool, optional
        Only False.
    unroll : bool, optional
        Not used. Keras's signature has it.
    zero_output_for_mask : bool, optional
        Return zeros for masked steps instead of the previous output.
    """

    input_spec: InputSpec | None = InputSpec("batch, time, features")
    cast_kinds = "fbiu"

    def __init__(
        self,
        *,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,  # noqa: ARG002 (all loops are unrolled)
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.return_sequences = bool(return_sequences)
        self.return_state = bool(return_state)
        self.go_backwards = bool(go_backwards)
        self.zero_output_for_mask = bool(zero_output_for_mask)
        if stateful:
            raise OptionError(
                f"{type(self).__name__} keeps no states between calls, as stateful=True would: write "
                "return_state=True, and pass the states to the next call as initial_state=..."
            )

    def __call__(  # type: ignore[override]
        self, sequences: Any, initial_state: Any = None, **kwargs: Any
    ) -> Any:
        """Call the layer on sequences.

        Parameters
        ----------
        sequences : array_like or Tensor, shape (batch, time, features)
        initial_state : array_like, Tensor or list of them, optional
            The states before the first step, each of the shape (batch, units); by default zeros.
        **kwargs
            `mask` of shape (batch, time): where it's False, the states and the output of the previous step are kept;
            and `training`, see `Layer`.

        Returns
        -------
        Tensor or tuple of Tensor
            The last output, or all outputs, of shape (batch, time, units); with `return_state` also the last states.
        """
        # Only positional arguments are converted to tensors by Layer.__call__, so the states are passed by position.
        if initial_state is None:
            return super().__call__(sequences, **kwargs)
        return super().__call__(sequences, initial_state, **kwargs)

    def call(
        self, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool = False
    ) -> Any:
        """Return the outputs, and with `return_state` the last states."""
        batch, length = sequences.shape[:2]
        if not length:
            raise ShapeError(
                f"the layer {self.path!r} got sequences without steps, of the shape {sequences.shape}"
            )
        states = self._initial(initial_state, batch)
        steps = self._inputs(sequences, training)
        masks = [None] * length if mask is None else self._masks(mask, (batch, length))
        if self.go_backwards:
            steps, masks = steps[::-1], masks[::-1]
        outputs, states = run_steps(self._step, steps, states, masks, self.zero_output_for_mask)
        result = np.stack(outputs, axis=1) if self.return_sequences else outputs[-1]
        return (result, *states) if self.return_state else result

    def _initial(self, initial_state: Any, batch: int) -> Any:
        """Return the states before the first step, or raise ShapeError."""
        raise NotImplementedError

    def _inputs(self, sequences: Any, training: bool) -> list[Any]:
        """Return what `_step` takes for each step."""
        raise NotImplementedError

    def _step(self, x: Any, states: Any) -> tuple[Any, Any]:
        """Return the output and the new states of a step."""
        raise NotImplementedError

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:  # noqa: ARG002 (Keras's signature)
        """Return the mask of the inputs for outputs of all steps, and None for last outputs and states."""
        # The states follow the output.
        return [previous_mask if self.return_sequences else None]

    def _masks(self, mask: Any, shape: tuple[int, int]) -> list[Any]:
        """Return the columns of a mask."""
        mask = as_array(mask).astype(bool)
        if mask.shape != shape:
            raise ShapeError(
                f"the layer {self.path!r} takes a mask with one bool for each step, of the shape {shape}, and got "
                f"{mask.shape}"
            )
        return list(mask.T)


class Recurrent(Gated, Sequences):
    """Base class of `SimpleRNN`, `GRU` and `LSTM`.

    See `Gated` and `Sequences` for the parameters.
    """

    keras_part = "cell"  # in Keras, the weights belong to a cell inside the layer
    recurrent_activation: Any = None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, the steps if all outputs are returned, and the units."""
        self._require_shape(tuple(input_shape))
        batch, length, _ = input_shape
        result = (batch, length, self.units) if self.return_sequences else (batch, self.units)
        if not self.return_state:
            return result
        return [result, *[(batch, self.units)] * self.state_count]

    def call(
        self, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool = False
    ) -> Any:
        """Return the outputs, and with `return_state` the last states."""
        batch, length, _ = sequences.shape
        if mask is not None or not length or not self._computes_all_steps(sequences):
            return super().call(sequences, initial_state, mask, training)
        states = self._initial(initial_state, batch)
        sequences = self._with_dropout(sequences, training)
        if self.go_backwards:
            sequences = np.flip(sequences, 1)
        # The steps come first, so that each is a contiguous block.
        rows = np.swapaxes(sequences, 0, 1).reshape((length * batch, sequences.shape[-1]))
        projected = self._projected(rows)
        values = self._all_steps(projected.reshape((length, batch, projected.shape[-1])), states)
        n = self.units
        result = np.swapaxes(values[..., :n], 0, 1) if self.return_sequences else values[-1, :, :n]
        if not self.return_state:
            return result
        return (result, *(values[-1, :, k * n : (k + 1) * n] for k in range(self.state_count)))

    def _computes_all_steps(self, sequences: Any) -> bool:  # noqa: ARG002 (for layers that do)
        """Return True if `_all_steps` computes this layer for these sequences, as one operation."""
        return False

    def _all_steps(self, projected: Any, states: list[Any]) -> Any:
        """Return the states after all steps, side by side, followed by the values of the gates.

        `projected` are the inputs times the kernel, of the shape (steps, batch, gates * units).
        """
        raise NotImplementedError

    def _has_usual_activations(self, sequences: Any) -> bool:
        """Return True if the activations are those of `_all_steps`, and the sequences are arrays in memory."""
        usual = (activations.get("tanh"), activations.get("sigmoid"))
        return (self.activation, self.recurrent_activation) == usual and not is_lazy(
            unwrap(sequences)
        )

    def _with_dropout(self, sequences: Any, training: bool) -> Any:
        """Return the sequences, during training with dropped inputs."""
        if not (training and self.dropout):
            return sequences
        # One mask for all steps, with length 1 along the time: Y. Gal and Z. Ghahramani, "A theoretically grounded
        # application of dropout in recurrent neural networks", NIPS 2016.
        batch, _, features = sequences.shape
        mask = np.broadcast_to(self._kept(sequences, (batch, 1, features)), sequences.shape)
        return masked(sequences, mask=mask, factor=1 / (1 - self.dropout))

    def _inputs(self, sequences: Any, training: bool) -> list[Any]:
        """Return the inputs times the kernel for each step."""
        # One product for all steps instead of one per step: it doesn't depend on the states.
        batch, length, features = sequences.shape
        sequences = self._with_dropout(sequences, training)
        projected = self._projected(sequences.reshape((batch * length, features)))
        steps = np.split(projected.reshape((batch, length, projected.shape[-1])), length, axis=1)
        return [x.reshape((batch, x.shape[-1])) for x in steps]

    def _step(self, x: Any, states: Any) -> tuple[Any, Any]:
        new = self.step(x, states)
        return new[0], new

    def _initial(self, initial_state: Any, batch: int) -> list[Any]:
        if initial_state is None:
            zeros = constant(np.zeros((batch, self.units), self.dtype))
            return [zeros] * self.state_count
        return self._checked_states(initial_state, batch, "an initial_state")
