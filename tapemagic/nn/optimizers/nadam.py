"""Nadam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, put_array
from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.arrays import ArrayOptimizer
from tapemagic.nn.optimizers.numbers import cast

_FADING = 0.96


class Nadam(ArrayOptimizer):
    """Descent as Adam's, with Nesterov's momentum, whose size follows a schedule [1]_.

    Parameters
    ----------
    learning_rate : float, LearningRateSchedule or callable, optional
    beta_1 : float, optional
        The part of the average of gradients that stays in each step.
    beta_2 : float, optional
        The part of the average of squares that stays in each step.
    epsilon : float, optional
        Added to the root.
    **options
        Those of all optimizers; see `Optimizer`.

    Raises
    ------
    OptionError
        If an option is out of its range or unknown.

    Notes
    -----
    With t the number of the step, ``b(t) = beta_1 * (1 - 0.5 * 0.96**t)``, and p the product of b(1) to b(t),
    ``m += (1 - beta_1) * (g - m)`` and ``v += (1 - beta_2) * (g**2 - v)`` as Adam's, then
    ``w -= learning_rate * n / (sqrt(v / (1 - beta_2**t)) + epsilon)`` with
    ``n = b(t + 1) / (1 - p * b(t + 1)) * m + (1 - b(t)) / (1 - p) * g``.

    References
    ----------
    .. [1] T. Dozat, "Incorporating Nesterov Momentum into Adam", 2016.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.Nadam(learning_rate=0.5)
    >>> _ = optimizer.apply_gradients([(tm.constant([10.0, -0.1]), w)])
    >>> w.numpy().round(3)
    array([0.469, 2.531])
    """

    hyperparameters = ("beta_1", "beta_2", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = number(beta_1, "beta_1", 0, 1)
        self.beta_2 = number(beta_2, "beta_2", 0, 1)
        self.epsilon = number(epsilon, "epsilon", 0)

    def kept_names(self) -> tuple[tuple[str, ...], ...]:
        """The averages of gradients and of their squares."""
        return (("momentum", "velocity"),)

    def build(self, variables: Sequence[Variable]) -> None:
        """Make what is kept for each variable, and the product of the sizes of momentum."""
        if not self.built:
            super().build(variables)
            dtype = self._trained[0].dtype if self._trained else None
            self._product = self.add_variable((), "ones", dtype, "u_product")

    def begin_step(self) -> None:
        """Multiply the product by the size of this step's momentum."""
        super().begin_step()
        product = unwrap(self._product)
        put_array(self._product, product * self._size(product.dtype.type, self.steps_done + 1))

    def _size(self, dtype: Any, t: Any) -> Any:
        return self.beta_1 * (1 - 0.5 * _FADING ** cast(t, dtype))

    def numbers(self, rate: Any, dtype: Any) -> Any:
        """The factors of the average, of the gradient and of the change, and the divisor of the average of squares."""
        t = self.steps_done + 1
        size, following = self._size(dtype, t), self._size(dtype, t + 1)
        product = cast(unwrap(self._product), dtype)
        of_average, of_gradient = following / (1 - product * following), (1 - size) / (1 - product)
        return of_average, of_gradient, rate, 1 - self.beta_2 ** cast(t, dtype)

    def rule(self, numbers: Any, g: Any, *kept: Any) -> Any:
        """Move the averages, and descend."""
        of_average, of_gradient, rate, filled = numbers
        m, v = kept
        part, step = self.temporary(g)
        np.subtract(g, m, out=part)
        np.multiply(part, 1 - self.beta_1, out=part)
        np.add(m, part, out=m)
        np.square(g, out=part)
        np.subtract(part, v, out=part)
        np.multiply(part, 1 - self.beta_2, out=part)
        np.add(v, part, out=v)
        np.multiply(m, of_average, out=step)
        np.multiply(g, of_gradient, out=part)
        np.add(step, part, out=step)
        np.multiply(step, rate, out=step)
        np.divide(v, filled, out=part)
        np.sqrt(part, out=part)
        np.add(part, self.epsilon, out=part)
        np.divide(step, part, out=step)
        return step
