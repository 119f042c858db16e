"""Adagrad: gradient descent with steps divided by the root of the sum of squared gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.arrays import ArrayOptimizer


class Adagrad(ArrayOptimizer):
    """Gradients divided by the root of the sum of all squared gradients so far [1]_.

    ``s += g**2; w -= learning_rate * g / sqrt(s + epsilon)``.

    Parameters
    ----------
    initial_accumulator_value : float, optional
        The initial value of the sum.
    epsilon : float, optional
        Added to the sum, inside the root.
    **options : see `Optimizer`

    References
    ----------
    .. [1] J. Duchi, E. Hazan and Y. Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
       Optimization", JMLR 12, 2011.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.Adagrad(learning_rate=0.5, initial_accumulator_value=0.0)
    >>> _ = optimizer.apply_gradients([(tm.constant([10.0, -0.1]), w)])
    >>> w.numpy().round(3)
    array([0.5, 2.5])
    """

    hyperparameters = ("initial_accumulator_value", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, **options)
        self.initial_accumulator_value = number(
            initial_accumulator_value, "initial_accumulator_value", 0
        )
        self.epsilon = number(epsilon, "epsilon", 0)

    def slot_names(self) -> tuple[tuple[str, ...], ...]:
        """Return the name of the sum of squares."""
        return (("accumulator",),)

    def first_value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return the initial value of the sums."""
        return np.full(shape, self.initial_accumulator_value, dtype)

    def rule(self, numbers: Any, g: Any, *slots: Any) -> Any:
        """Update the sum, and return the step."""
        # Keras adds epsilon inside the root; the paper's delta stands outside of it.
        (total,) = slots
        part, step = self.temporary(g)
        np.square(g, out=part)
        np.add(total, part, out=total)
        np.add(total, self.epsilon, out=part)
        np.sqrt(part, out=part)
        np.multiply(g, numbers, out=step)
        np.divide(step, part, out=step)
        return step
