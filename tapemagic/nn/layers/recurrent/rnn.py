"""RNN: the loop over the steps of sequences, around a cell; and StackedRNNCells, several cells as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.tensor.constant import constant
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.custom_objects import reading
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer
from tapemagic.nn.layers.recurrent.recurrent import Sequences
from tapemagic.nn.object_configs import deserialize_option


def _require_cell(cell: Any, kind: str) -> Any:
    """Return a cell, or raise OptionError for an object that isn't one."""
    missing = [name for name in ("call", "state_size") if not hasattr(cell, name)]
    if missing:
        raise OptionError(
            f"{kind} takes a cell, which has call(inputs, states) and state_size, but {cell!r} has no {missing[0]}: "
            "write nn.LSTMCell(8), or a layer with both"
        )
    return cell


def _call_cell(cell: Any, inputs: Any, states: Any) -> tuple[Any, Any]:
    """Return the output of a cell, and its new states as a list."""
    # `training` is inherited from the layer whose call is in progress.
    output, new = (cell if callable(cell) else cell.call)(inputs, states)
    return output, list(new) if isinstance(new, list | tuple) else [new]


def _zero_states(cell: Any, batch: int, dtype: Any) -> Any:
    """Return the states of a cell before the first step: of its `get_initial_state`, or zeros."""
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(batch_size=batch)
    size = cell.state_size
    if isinstance(size, list | tuple):
        return [constant(np.zeros((batch, n), dtype)) for n in size]
    return constant(np.zeros((batch, size), dtype))


def _output_size(cell: Any) -> int:
    """Return the length of a cell's output: that of its first state, if the cell doesn't say it."""
    size = getattr(cell, "output_size", None) or cell.state_size
    return size[0] if isinstance(size, list | tuple) else size  # type: ignore[no-any-return]


def _reset(cell: Any) -> None:
    """Let dropout draw another mask in the next call of a cell."""
    for one in getattr(cell, "cells", [cell]):
        if hasattr(one, "reset_dropout_mask"):
            one.reset_dropout_mask()


class StackedRNNCells(Layer):
    """Several cells as one: each reads the output of the cell before it.

    Parameters
    ----------
    cells : list of cells
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> cells = nn.StackedRNNCells([nn.GRUCell(4), nn.LSTMCell(3)])
    >>> nn.RNN(cells)(np.zeros((2, 5, 3))).shape
    (2, 3)
    """

    def __init__(self, cells: Iterable[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cells = [_require_cell(cell, "StackedRNNCells") for cell in cells]
        if not self.cells:
            raise OptionError("StackedRNNCells takes at least one cell: write [nn.LSTMCell(8)]")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Create a layer from the options that `get_config` returned here, or in Keras."""
        with reading(cls._library):
            cells = [deserialize_option("cell", cell) for cell in config["cells"]]
        return super().from_config({**config, "cells": cells})

    @property
    def state_size(self) -> list[Any]:
        """The lengths of the states of each cell."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> int:
        """The length of the last cell's output."""
        return _output_size(self.cells[-1])

    def get_initial_state(self, batch_size: int) -> list[Any]:
        """Return the states of each cell before the first step."""
        return [_zero_states(cell, batch_size, self.dtype) for cell in self.cells]

    def build(self, input_shape: Any) -> None:
        """Build each cell for the output of the cell before it."""
        for cell in self.cells:
            if isinstance(cell, Layer):
                cell.build(input_shape)
            input_shape = (input_shape[0], _output_size(cell))

    def __call__(self, inputs: Any, states: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Compute a step of all cells, from a list of the states of each cell."""
        return super().__call__(inputs, states, **kwargs)

    def call(self, inputs: Any, states: Any) -> Any:
        """Return the output of the last cell, and the new states of each cell."""
        new_states = []
        for cell, own in zip(self.cells, states, strict=True):
            is_listed = isinstance(own, list | tuple)
            inputs, new = _call_cell(cell, inputs, list(own) if is_listed else [own])
            new_states.append(new if is_listed or len(new) > 1 else new[0])
        return inputs, new_states


class RNN(Sequences):
    """A recurrent layer around a cell, which computes one step.

    A cell is a layer, or another object, with a method ``call(inputs, states)``, which returns the output and the new
    states, and an attribute `state_size`, the length of the state or a list of lengths. It may have `output_size`,
    otherwise that of the first state, and ``get_initial_state(batch_size)``, otherwise zeros.

    Parameters
    ----------
    cell : cell, or list of cells
        See `StackedRNNCells` for several.
    **kwargs
        See `Sequences` and `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> class Minimal(nn.Layer):
    ...     state_size = 4
    ...
    ...     def build(self, input_shape):
    ...         self.kernel = self.add_weight((input_shape[-1], 4), name="kernel")
    ...
    ...     def call(self, inputs, states):
    ...         output = np.tanh(inputs @ self.kernel + states[0])
    ...         return output, [output]
    >>> nn.RNN(Minimal(), return_sequences=True)(np.zeros((2, 5, 3))).shape
    (2, 5, 4)
    """

    input_spec = InputSpec("batch, time, ...")

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            zero_output_for_mask=zero_output_for_mask,
            **kwargs,
        )
        if isinstance(cell, list | tuple):
            cell = StackedRNNCells(cell)
        self.cell = _require_cell(cell, "RNN")

    @property
    def state_size(self) -> list[Any]:
        """The lengths of the states."""
        size = self.cell.state_size
        return list(size) if isinstance(size, list | tuple) else [size]

    def __call__(  # type: ignore[override]
        self, sequences: Any, initial_state: Any = None, **kwargs: Any
    ) -> Any:
        """Call the layer on sequences, with the states before the first step, by default those of the cell.

        Returns
        -------
        Tensor or tuple of Tensor
            The last output, or all outputs; with `return_state` also the last states.
        """
        # By position, because only positional arguments are converted to tensors by Layer.__call__.
        arguments = (sequences,) if initial_state is None else (sequences, initial_state)
        return super().__call__(*arguments, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Build the cell for the inputs of a step."""
        if isinstance(self.cell, Layer):
            self.cell.build((input_shape[0], *input_shape[2:]))

    def _inputs(self, sequences: Any, training: bool) -> list[Any]:  # noqa: ARG002 (the cell's dropout)
        # Dropout is the same in all steps of a call, and another one in the next call.
        _reset(self.cell)
        return [sequences[:, n] for n in range(sequences.shape[1])]

    def _step(self, x: Any, states: Any) -> tuple[Any, Any]:
        return _call_cell(self.cell, x, states)

    def _initial(self, initial_state: Any, batch: int) -> list[Any]:
        own = _zero_states(self.cell, batch, self.dtype)
        expected = list(own) if isinstance(own, list | tuple) else [own]
        if initial_state is None:
            return expected
        states = list(initial_state) if isinstance(initial_state, list | tuple) else [initial_state]
        shapes = [[np.shape(x) for x in leaves(structure)] for structure in (expected, states)]
        if shapes[0] != shapes[1]:
            raise ShapeError(
                f"the layer {self.path!r} takes an initial_state of the shapes {shapes[0]}, and got {shapes[1]}"
            )
        return states

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, the steps if all outputs are returned, and the length of the cell's output."""
        self._require_shape(tuple(input_shape))
        batch, length = input_shape[:2]
        size = _output_size(self.cell)
        result = (batch, length, size) if self.return_sequences else (batch, size)
        if not self.return_state:
            return result
        states = [
            [(batch, n) for n in size] if isinstance(size, list | tuple) else (batch, size)
            for size in self.state_size
        ]
        return [result, *states]
