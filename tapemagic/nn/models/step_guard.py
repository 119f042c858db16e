"""Guard of a training step: it tells where a nan or infinite loss or gradient comes from, or undoes the step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, reset
from tapemagic.engine.tracing import tracer
from tapemagic.errors import NonFiniteError
from tapemagic.nn.optimizers.gradients import depth_of_user
from tapemagic.nn.random import global_generator


class Reaction:
    """The reaction of a model to a nan or infinite loss or gradient: a warning, or an error.

    - `raises`: True if the step is undone, and raises NonFiniteError. Otherwise training goes on, as in Keras.
    - `warned`: True if a warning has named the first such step, so that the next ones are taken without a word.
    - `position`: The epoch and batch of the current step of `fit`, counted from 0, and the numbers of its examples.
    """

    __tape_unwatched__ = frozenset({"raises", "warned", "position"})

    def __init__(self) -> None:
        self.raises = self.warned = False
        self.position: tuple[int, int, Any] | None = None

    @contextmanager
    def in_fit(self, raises: bool) -> Iterator[None]:
        """Raise errors if `raises`, or warn again, for the block, which sets `position` at each step."""
        self.raises, self.warned = raises, False
        try:
            yield
        finally:
            self.raises, self.position = False, None

    def react(self, message: str, kept: str, row: int | None = None) -> None:
        """Raise NonFiniteError with the step in `fit` and a message, or warn.

        - `kept`: A sentence on the weights after an error.
        - `row`: The index in the batch of the example that is the cause, if known.
        """
        where = ""
        if self.position is not None:
            epoch, batch, rows = self.position
            where = f"in epoch {epoch + 1}, step {batch + 1}"
            if row is not None and rows is not None:
                number = rows.start + row if isinstance(rows, slice) else rows[row]
                where += f", example {number} of the data"
            where += ": "
        if self.raises:
            error = NonFiniteError(f"{where}{message} {kept}")
            error.row = row
            if self.position is not None:
                error.epoch, error.batch, _ = self.position
            raise error
        self.warned = True
        warnings.warn(
            f"{where}{message} Training continues, and weights become nan. To stop here, pass "
            "callbacks=[TerminateOnNaN()] to fit; TerminateOnNaN(raise_error=True) also keeps the weights from before "
            "this step.",
            RuntimeWarning,
            stacklevel=depth_of_user(),
        )


class Step:
    """The state of a model that the forward pass of a step may change.

    Forward passes change variables that aren't trained, such as moving averages, and the random generator.
    """

    def __init__(self, model: Any, reaction: Reaction) -> None:
        self.model = model
        self.reaction = reaction
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

    def check_finite(
        self,
        data: Any,
        loss: Any,
        variables: Sequence[Variable] = (),
        gradients: Sequence[Any] = (),
    ) -> None:
        """Warn, or undo the step so far and raise NonFiniteError, if the loss or a gradient is nan or infinite.

        Parameters
        ----------
        data : tuple
            The batch.
        loss : Tensor
        variables : sequence of Variable, optional
        gradients : sequence of Tensor or None, optional
        """
        if self.reaction.warned:
            return
        value = unwrap(loss)
        bad = None
        if np.all(np.isfinite(value)):
            pairs = zip(variables, gradients, strict=True)
            with np.errstate(over="ignore"):
                bad = next((v for v, g in pairs if not is_finite(g)), None)
            if bad is None:
                return
        from tapemagic.nn.models.nonfinite import explained

        after = Step(self.model, self.reaction)
        # Undone twice: `explained` repeats the forward pass from the state before the step, which changes it again.
        self.undo()
        # A traced step only leaves the program: it's taken again eagerly, which searches for the origin.
        if tracer() is not None:
            raise NonFiniteError("the loss or a gradient is nan or infinite")
        message, row = explained(self.model, data, value, bad)
        self.undo()
        self.reaction.react(message, "The weights are those from before this step.", row)
        after.undo()


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
