"""ArrayOptimizer: an optimizer whose rule is written in NumPy, and changes arrays in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, exchange_array, put_arrays, writable_arrays
from tapemagic.engine.tracing import tracer
from tapemagic.nn.optimizers.optimizer import Optimizer
from tapemagic.nn.optimizers.scratch import LARGE, Scratch, Spare


class ArrayOptimizer(Optimizer):
    """Base class of the optimizers here: each names what it keeps for a variable, and has a method `rule`."""

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
        self._beside: list[tuple[Variable, ...]] = []

    def kept_names(self) -> tuple[tuple[str, ...], ...]:
        """The names of what is kept for each variable; what is made for one variable after another is one group."""
        return ()

    def first_value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """The value of what is kept for a variable before the first step."""
        return np.zeros(shape, dtype)

    def numbers(self, rate: Any, dtype: Any) -> Any:  # noqa: ARG002 (for those that override it)
        """Whatever `rule` needs that is the same for all variables of a dtype in one step; the learning rate alone.

        Parameters
        ----------
        rate : numpy.floating
            The learning rate.
        dtype : type
            That of NumPy's numbers in which to compute.
        """
        return rate

    def rule(self, numbers: Any, g: Any, *kept: Any) -> Any:
        """Write into the arrays of what is kept for a variable; return what is to be subtracted from the variable.

        Parameters
        ----------
        numbers : object
            Those of `numbers`.
        g : numpy.ndarray
            The gradient; not to be written into.
        *kept : numpy.ndarray
            In the order of `kept_names`.

        Returns
        -------
        numpy.ndarray
            One of `kept`, or of `temporary`.
        """
        raise NotImplementedError

    def build(self, variables: Sequence[Variable]) -> None:
        """Make what is kept for each variable."""
        if not self.built:
            super().build(variables)
            columns: list[list[Variable]] = []
            for names in self.kept_names():
                columns += self.add_optimizer_variables(self._trained, names, self.first_value)
            self._beside = [
                tuple(column[k] for column in columns) for k in range(len(self._trained))
            ]

    def begin_step(self) -> None:
        """Forget the numbers of the step before."""
        self._numbers.clear()

    def update_step(self, gradient: Any, variable: Variable, learning_rate: Any) -> None:
        """Change one variable and what is kept for it: in place, but for a large variable itself; see `LARGE`."""
        g, rate = unwrap(gradient), unwrap(learning_rate)
        cached_rate, numbers = self._numbers.get(g.dtype, (None, None))
        if cached_rate is not rate:
            numbers = self.numbers(rate, g.dtype.type)
            self._numbers[g.dtype] = rate, numbers
        beside = self._beside[self._places[id(variable)]]
        if g.nbytes < LARGE or tracer() is not None:
            changed = (variable, *beside)
            arrays = writable_arrays(changed)
            w, *kept = arrays
            np.subtract(w, self.rule(numbers, g, *kept), w)
            put_arrays(changed, arrays)
        else:
            arrays = writable_arrays(beside)
            step = self.rule(numbers, g, *arrays)
            put_arrays(beside, arrays)
            new = np.subtract(unwrap(variable), step, self._spare(step))
            self._spare.store(step, exchange_array(variable, new))

    def scratch(self, like: Any) -> Any:
        """An array of the shape and dtype of another one, which the next call gives again."""
        return self._clipping(like)[0] if tracer() is None else np.empty_like(like)

    def temporary(self, like: Any) -> tuple[Any, ...]:
        """Two arrays of the shape and dtype of another one for `rule` to compute in."""
        if tracer() is not None:
            return np.empty_like(like), np.empty_like(like)
        if like.nbytes < LARGE:
            return self._computing(like)
        return *self._in_large(like), self._spare(like)
