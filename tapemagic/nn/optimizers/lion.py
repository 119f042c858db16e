"""Lion: steps by the sign of an average of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.arrays import ArrayOptimizer
from tapemagic.nn.optimizers.numerics import average


class Lion(ArrayOptimizer):
    """Steps by the sign of an average of gradients [1]_: every element changes by the learning rate.

    ``w -= learning_rate * sign(beta_1 * m + (1 - beta_1) * g)``, then ``m = beta_2 * m + (1 - beta_2) * g``.

    Parameters
    ----------
    beta_1 : float, optional
        The weight of the average in the sum whose sign is used; above 0.
    beta_2 : float, optional
        The decay rate of the average.
    **options : see `Optimizer`

    References
    ----------
    .. [1] X. Chen et al., "Symbolic Discovery of Optimization Algorithms", NeurIPS 2023, program 1.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.Lion(learning_rate=0.5)
    >>> _ = optimizer.apply_gradients([(tm.constant([10.0, -0.1]), w)])
    >>> w
    Variable([0.5, 2.5], name='Variable')
    """

    hyperparameters = ("beta_1", "beta_2")

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, **options: Any
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = number(beta_1, "beta_1", 0, 1)
        self.beta_2 = number(beta_2, "beta_2", 0, 1)
        if not self.beta_1:
            raise OptionError(
                "beta_1 must be a number above 0: with 0 the average of gradients would have no effect"
            )

    def slot_names(self) -> tuple[tuple[str, ...], ...]:
        """Return the name of the average of gradients."""
        return (("momentum",),)

    def rule(self, numbers: Any, g: Any, *slots: Any) -> Any:
        """Return the step, and update the average."""
        # Two interpolations with different weights: the step uses more of the new gradient than the average keeps.
        (m,) = slots
        part, step = self.temporary(g)
        np.multiply(m, self.beta_1, out=step)
        np.multiply(g, 1 - self.beta_1, out=part)
        np.add(step, part, out=step)
        np.sign(step, out=step)
        np.multiply(step, numbers, out=step)
        np.positive(g, out=part)
        average(m, part, self.beta_2)
        return step
