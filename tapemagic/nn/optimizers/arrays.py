"""ArrayOptimizer: the base class of optimizers whose update rule is written in NumPy and works in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, exchange_array, put_arrays, writable_arrays
from tapemagic.engine.tracing import tracer
from tapemagic.nn.optimizers.optimizer import Optimizer
from tapemagic.nn.optimizers.scratch import MIN_EXCHANGED_BYTES, Scratch, Spare


class ArrayOptimizer(Optimizer):
    """Base class of the optimizers here: each names its state per variable (slots), and has a method `rule`."""

    __tape_unwatched__ = frozenset(
        {"_clipping", "_computing", "_in_large", "_numbers", "_spare", "_warned"}
    )

    def __init__(self, learning_rate: Any, **options: Any) -> None:
        super().__init__(learning_rate, **options)
        self._clipping = Scratch(1)
        self._computing = Scratch(2)
        self._in_large = Scratch(1)
        self._spare = Spare()
        self._numbers: dict[Any, Any] = {}
        self._slots: list[tuple[Variable, ...]] = []

    def slot_names(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the slots of each variable, in groups."""
        # Keras creates the slots of one group variable by variable, and one group after the other. The order matters
        # for saved states.
        return ()

    def first_value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return the initial value of a slot."""
        return np.zeros(shape, dtype)

    def numbers(self, rate: Any, dtype: Any) -> Any:  # noqa: ARG002 (for those that override it)
        """Return the numbers for `rule` that are the same for all variables of a dtype; here the learning rate.

        `rate` is the learning rate, and `dtype` the NumPy scalar type of the computation.
        """
        return rate

    def rule(self, numbers: Any, g: Any, *slots: Any) -> Any:
        """Update the slots of a variable in place, and return the array to subtract from the variable.

        Parameters
        ----------
        numbers : object
            The result of the method `numbers`.
        g : numpy.ndarray
            The gradient, which must not be changed.
        *slots : numpy.ndarray
            In the order of `slot_names`.

        Returns
        -------
        numpy.ndarray
            One of `slots`, or of `temporary`.
        """
        raise NotImplementedError

    def build(self, variables: Sequence[Variable]) -> None:
        """Create the slots of each variable."""
        if not self.built:
            super().build(variables)
            columns: list[list[Variable]] = []
            for names in self.slot_names():
                columns += self.add_optimizer_variables(self._trained, names, self.first_value)
            self._slots = [
                tuple(column[k] for column in columns) for k in range(len(self._trained))
            ]

    def begin_step(self) -> None:
        """Forget the numbers of the previous step."""
        self._numbers.clear()

    def update_step(self, gradient: Any, variable: Variable, learning_rate: Any) -> None:
        """Update one variable and its slots in place, except that a large variable gets a new array."""
        g, rate = unwrap(gradient), unwrap(learning_rate)
        cached_rate, numbers = self._numbers.get(g.dtype, (None, None))
        if cached_rate is not rate:
            numbers = self.numbers(rate, g.dtype.type)
            self._numbers[g.dtype] = rate, numbers
        slot_variables = self._slots[self._positions[id(variable)]]
        if g.nbytes < MIN_EXCHANGED_BYTES or tracer() is not None:
            changed = (variable, *slot_variables)
            arrays = writable_arrays(changed)
            w, *slots = arrays
            np.subtract(w, self.rule(numbers, g, *slots), w)
            put_arrays(changed, arrays)
        else:
            arrays = writable_arrays(slot_variables)
            step = self.rule(numbers, g, *arrays)
            put_arrays(slot_variables, arrays)
            new = np.subtract(unwrap(variable), step, self._spare(step))
            self._spare.store(step, exchange_array(variable, new))

    def scratch(self, like: Any) -> Any:
        """Return an array of the shape and dtype of `like`, which the next call returns again."""
        # While tracing, each array must be new: the program plans the reuse of memory itself.
        return self._clipping(like)[0] if tracer() is None else _new_in_trace(like)

    def temporary(self, like: Any) -> tuple[Any, ...]:
        """Return two arrays of the shape and dtype of `like`, in which `rule` can compute."""
        if tracer() is not None:
            return _new_in_trace(like), _new_in_trace(like)
        if like.nbytes < MIN_EXCHANGED_BYTES:
            return self._computing(like)
        return *self._in_large(like), self._spare(like)


def _new_in_trace(like: Any) -> Any:
    """Return a new array that a trace follows, also if `like` is a constant gradient, which it does not."""
    trace = tracer()
    return np.empty_like(like) if trace is None else trace.call(np.empty_like, (like,), {})
