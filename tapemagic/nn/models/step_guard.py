"""Guard of a training step: it restores what the forward pass changed if the loss or a gradient is nan or infinite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, reset
from tapemagic.engine.tracing import tracer
from tapemagic.errors import NonFiniteError
from tapemagic.nn.random import global_generator


class Step:
    """The state of a model that the forward pass of a step may change.

    Forward passes change variables that aren't trained, such as moving averages, and the random generator.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._kept = [(v, unwrap(v)) for v in model.variables if not v.trainable]
        self._random = global_generator().bit_generator.state

    def undo(self) -> None:
        """Restore the state from before the step."""
        for variable, value in self._kept:
            reset(variable, value)
        # A callback may have replaced the generator by one of another kind, whose state has another layout.
        bits = global_generator().bit_generator
        if bits.state["bit_generator"] == self._random["bit_generator"]:
            bits.state = self._random

    def require_finite(
        self,
        data: Any,
        loss: Any,
        variables: Sequence[Variable] = (),
        gradients: Sequence[Any] = (),
    ) -> None:
        """Undo the step so far and raise NonFiniteError if the loss or a gradient is nan or infinite.

        Parameters
        ----------
        data : tuple
            The batch.
        loss : Tensor
        variables : sequence of Variable, optional
        gradients : sequence of Tensor or None, optional
        """
        value = unwrap(loss)
        bad = None
        if np.all(np.isfinite(value)):
            pairs = zip(variables, gradients, strict=True)
            with np.errstate(over="ignore"):
                bad = next((v for v, g in pairs if not is_finite(g)), None)
            if bad is None:
                return
        from tapemagic.nn.models.nonfinite import explained

        # Undone twice: `explained` repeats the forward pass from the state before the step, which changes it again.
        self.undo()
        message, row = explained(self.model, data, value, bad)
        self.undo()
        error = NonFiniteError(f"{message} The weights are those from before this step.")
        error.row = row
        raise error


def is_finite(gradient: Any) -> bool:
    """Return True if all elements of a gradient are finite."""
    if gradient is None:
        return True
    array = unwrap(gradient)
    if array.dtype.char in "fd" and array.flags.c_contiguous:
        # The sum of squares, by BLAS, needs no temporary, unlike isfinite().all(). It's nan or infinite if an element
        # is, or if it overflows: only then each element is looked at.
        flat = array.reshape(-1)
        square = np.dot(flat, flat)
        if math.isfinite(square) if tracer() is None else np.isfinite(square):
            return True
    return bool(np.isfinite(array).all())
