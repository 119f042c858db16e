"""Adamax: Adam with the largest gradient in place of the average of squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.arrays import ArrayOptimizer
from tapemagic.nn.optimizers.numbers import cast


class Adamax(ArrayOptimizer):
    """Descent by an average of the gradients over the largest one, which fades [1]_.

    Parameters
    ----------
    learning_rate : float, LearningRateSchedule or callable, optional
    beta_1 : float, optional
        The part of the average that stays in each step.
    beta_2 : float, optional
        The part of the largest absolute value that stays in each step.
    epsilon : float, optional
        Added to the largest absolute value.
    **options
        Those of all optimizers; see `Optimizer`.

    Raises
    ------
    OptionError
        If an option is out of its range or unknown.

    Notes
    -----
    With t the number of the step, ``m += (1 - beta_1) * (g - m)`` and ``u = max(beta_2 * u, abs(g))``, then
    ``w -= learning_rate * m / ((1 - beta_1**t) * (u + epsilon))``.

    References
    ----------
    .. [1] D. P. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 2.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.Adamax(learning_rate=0.5)
    >>> _ = optimizer.apply_gradients([(tm.constant([10.0, -0.1]), w)])
    >>> w.numpy().round(3)
    array([0.5, 2.5])
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
        """The average of gradients and the largest absolute value."""
        return (("momentum", "norm"),)

    def numbers(self, rate: Any, dtype: Any) -> Any:
        """The learning rate, and the part of the average that comes from gradients."""
        return rate, 1 - self.beta_1 ** cast(self.steps_done + 1, dtype)

    def rule(self, numbers: Any, g: Any, *kept: Any) -> Any:
        """Move the average, and descend."""
        m, u = kept
        part, step = self.temporary(g)
        rate, filled = numbers
        np.subtract(g, m, out=part)
        np.multiply(part, 1 - self.beta_1, out=part)
        np.add(m, part, out=m)
        np.multiply(u, self.beta_2, out=u)
        np.maximum(u, np.abs(g, out=part), out=u)
        np.add(u, self.epsilon, out=part)
        np.multiply(part, filled, out=part)
        np.multiply(m, rate, out=step)
        np.divide(step, part, out=step)
        return step
