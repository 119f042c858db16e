"""Adadelta: gradient descent with step sizes from averages of squared gradients and squared changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.arrays import ArrayOptimizer
from tapemagic.nn.optimizers.numerics import average


class Adadelta(ArrayOptimizer):
    """Gradients scaled by the RMS of recent changes, divided by the RMS of recent gradients [1]_.

    ``s = rho * s + (1 - rho) * g**2``; the change is ``d = sqrt(u + epsilon) / sqrt(s + epsilon) * g``; then
    ``u = rho * u + (1 - rho) * d**2`` and ``w -= learning_rate * d``.

    Parameters
    ----------
    learning_rate : float, LearningRateSchedule or callable, optional
        1.0 is the form of the paper.
    rho : float, optional
        The decay rate of the averages.
    epsilon : float, optional
        Added to both averages, inside the root.
    **options : see `Optimizer`

    References
    ----------
    .. [1] M. D. Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012, algorithm 1.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.Adadelta(learning_rate=1.0, epsilon=0.01)
    >>> _ = optimizer.apply_gradients([(tm.constant([10.0, -0.1]), w)])
    >>> w.numpy().round(3)
    array([0.553, 2.098])
    """

    hyperparameters = ("rho", "epsilon")

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **options: Any
    ) -> None:
        super().__init__(learning_rate, **options)
        self.rho = number(rho, "rho", 0, 1)
        self.epsilon = number(epsilon, "epsilon", 0)

    def slot_names(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the averages of squared gradients and of squared changes."""
        return (("accumulated_grad", "accumulated_delta_var"),)

    def rule(self, numbers: Any, g: Any, *slots: Any) -> Any:
        """Update the averages, and return the step."""
        # The ratio of the roots has the unit of the variable, so the change does, too (section 3.2 of [1]). It uses
        # the average of changes before this step. Keras keeps the learning rate out of that average.
        squares, changes = slots
        part, step = self.temporary(g)
        np.square(g, out=part)
        average(squares, part, self.rho)
        np.sqrt(np.add(changes, self.epsilon, out=step), out=step)
        np.multiply(step, g, out=step)
        np.sqrt(np.add(squares, self.epsilon, out=part), out=part)
        np.divide(step, part, out=step)
        np.square(step, out=part)
        average(changes, part, self.rho)
        np.multiply(step, numbers, out=step)
        return step
