"""Bidirectional: a recurrent layer that reads sequences forwards, and a copy of it that reads them backwards."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer

MERGE_MODES = ("sum", "mul", "ave", "concat", None)


class Bidirectional(Layer):
    """A recurrent layer that reads sequences forwards, and a second one that reads them backwards.

    Parameters
    ----------
    layer : Layer
        A recurrent layer, such as `LSTM`; the layer works with copies of it, which have variables of their own.
    merge_mode : {'concat', 'sum', 'mul', 'ave', None}, optional
        How to join both outputs; None returns both.
    weights : list of array_like, optional
        Initial values of the variables, first of the forward layer.
    backward_layer : Layer, optional
        Reads backwards, with ``go_backwards=True``; by default a copy of `layer`.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Bidirectional(nn.LSTM(4, return_sequences=True))(np.zeros((2, 5, 3))).shape
    (2, 5, 8)
    """

    input_spec = InputSpec("batch, time, ...")
    cast_kinds = "fbiu"
    supports_masking = True
    _not_in_config = frozenset({"input_shape", "input_dim", "weights"})

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Sequence[Any] | None = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for given in (layer, backward_layer) if backward_layer is not None else (layer,):
            if not isinstance(given, Layer) or not hasattr(given, "go_backwards"):
                raise OptionError(
                    f"Bidirectional takes a recurrent layer, not {given!r}: write Bidirectional(nn.LSTM(8))"
                )
        if merge_mode not in MERGE_MODES:
            names = ", ".join(map(repr, MERGE_MODES))
            raise OptionError(
                f"merge_mode of Bidirectional must be one of {names}, not {merge_mode!r}"
            )
        self.merge_mode = merge_mode
        self.forward_layer = _fresh(layer, "forward_")
        if backward_layer is None:
            backward_layer = _fresh(layer, "backward_")
            backward_layer.go_backwards = True
        self.backward_layer = backward_layer
        for option in ("return_sequences", "return_state"):
            pair = [getattr(one, option) for one in (layer, backward_layer)]
            if pair[0] != pair[1]:
                raise OptionError(
                    f"Bidirectional takes layers with the same {option}, not {pair[0]} and {pair[1]}"
                )
        if layer.go_backwards == backward_layer.go_backwards:
            raise OptionError(
                f"Bidirectional takes one layer that reads backwards, but both have go_backwards={layer.go_backwards}: "
                "write go_backwards=True in the backward_layer"
            )
        # As in Keras: the outputs of masked steps are 0. The previous output would belong to another end of the
        # sequence in each of both directions.
        for one in (self.forward_layer, self.backward_layer):
            one.zero_output_for_mask = layer.return_sequences
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self._initial_weights = weights

    @property
    def layer(self) -> Any:
        """The forward layer, under the name of the parameter."""
        return self.forward_layer

    def build(self, input_shape: Any) -> None:
        """Build both layers."""
        layers = (self.forward_layer, self.backward_layer)
        for layer in layers:
            layer.build(input_shape)
        if self._initial_weights is not None:
            half = len(self._initial_weights) // 2
            layers[0].set_weights(self._initial_weights[:half])
            layers[1].set_weights(self._initial_weights[half:])

    def __call__(  # type: ignore[override]
        self, sequences: Any, initial_state: Any = None, **kwargs: Any
    ) -> Any:
        """Call both layers on sequences; `initial_state` lists the states of the forward layer, then the others."""
        # By position, because only positional arguments are converted to tensors by Layer.__call__.
        arguments = (sequences,) if initial_state is None else (sequences, initial_state)
        return super().__call__(*arguments, **kwargs)

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None) -> Any:
        """Return the joined outputs, and with `return_state` the last states of both layers."""
        forward_state = backward_state = None
        if initial_state is not None:
            half = len(initial_state) // 2
            forward_state, backward_state = list(initial_state[:half]), list(initial_state[half:])
        options = {} if mask is None else {"mask": mask}
        forward = self.forward_layer(sequences, forward_state, **options)
        backward = self.backward_layer(sequences, backward_state, **options)
        states: tuple[Any, ...] = ()
        if self.return_state:
            states = (*forward[1:], *backward[1:])
            forward, backward = forward[0], backward[0]
        if self.return_sequences:
            # The last step read backwards is the first step of the sequence.
            backward = np.flip(backward, 1)
        output = self._joined(forward, backward)
        if self.merge_mode is None:
            return (*output, *states)
        return (output, *states) if states else output

    def _joined(self, forward: Any, backward: Any) -> Any:
        if self.merge_mode == "concat":
            return np.concatenate([forward, backward], axis=-1)
        if self.merge_mode == "sum":
            return forward + backward
        if self.merge_mode == "mul":
            return forward * backward
        if self.merge_mode == "ave":
            return (forward + backward) / 2
        return forward, backward

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:  # noqa: ARG002 (Keras's signature)
        """Return the mask of the inputs for outputs of all steps, and None for last outputs and states."""
        mask = previous_mask if self.return_sequences else None
        return [mask] if self.merge_mode else [mask, mask]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shapes of the joined outputs, and with `return_state` of the states."""
        shape = self.forward_layer.compute_output_shape(input_shape)
        shape, states = (shape[0], shape[1:]) if self.return_state else (shape, [])
        if self.merge_mode is None:
            return [shape, shape, *states, *states]
        if self.merge_mode == "concat":
            shape = (*shape[:-1], 2 * shape[-1])
        return [shape, *states, *states] if self.return_state else shape


def _fresh(layer: Layer, prefix: str) -> Any:
    """Return a copy of a layer with new variables, whose name begins with `prefix`."""
    copy = deepcopy(layer)
    copy._name = prefix + layer.name.removeprefix(prefix)
    copy.initialize()
    return copy
