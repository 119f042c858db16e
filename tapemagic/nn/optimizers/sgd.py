"""SGD: stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.arrays import ArrayOptimizer


class SGD(ArrayOptimizer):
    """Gradient descent, with optional momentum.

    ``w -= learning_rate * g``; with momentum [1]_, ``v = momentum * v - learning_rate * g`` and ``w += v``.

    Parameters
    ----------
    momentum : float, optional
        Between 0 and 1.
    nesterov : bool, optional
        Use Nesterov's momentum [2]_: ``w += momentum * v - learning_rate * g``.
    **options : see `Optimizer`

    References
    ----------
    .. [1] B. T. Polyak, "Some methods of speeding up the convergence of iteration methods", 1964.
    .. [2] I. Sutskever et al., "On the importance of initialization and momentum in deep learning", ICML 2013,
       equations 3 and 4.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.SGD(learning_rate=0.5)
    >>> _ = optimizer.apply_gradients([(tm.constant([1.0, -1.0]), w)])
    >>> w
    Variable([0.5, 2.5], name='Variable')
    """

    hyperparameters = ("momentum", "nesterov")

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, **options)
        self.momentum = number(momentum, "momentum", 0, 1)
        self.nesterov = bool(nesterov)

    def slot_names(self) -> tuple[tuple[str, ...], ...]:
        """Return the name of the velocity, if there is momentum."""
        return (("momentum",),) if self.momentum else ()

    def rule(self, numbers: Any, g: Any, *slots: Any) -> Any:
        """Update the velocity, and return the step."""
        # Keras's and Sutskever's velocity includes the learning rate; PyTorch's doesn't, so the two differ when the
        # learning rate changes.
        step, ahead = self.temporary(g)
        np.multiply(g, numbers, out=step)
        for v in slots:
            np.multiply(v, self.momentum, out=v)
            np.subtract(v, step, out=v)
            if self.nesterov:
                np.multiply(v, self.momentum, out=ahead)
                np.subtract(ahead, step, out=ahead)
            np.negative(ahead if self.nesterov else v, out=step)
        return step
