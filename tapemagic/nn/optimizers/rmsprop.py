"""RMSprop: gradient descent with steps divided by the root of an average of squared gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.arrays import ArrayOptimizer
from tapemagic.nn.optimizers.numerics import average


class RMSprop(ArrayOptimizer):
    """Gradients divided by the root of an average of their squares [1]_.

    ``v = rho * v + (1 - rho) * g**2``, then ``w -= learning_rate * g / sqrt(v + epsilon)``. With momentum, the step
    is added to ``momentum * u``, and ``w -= u``.

    Parameters
    ----------
    rho : float, optional
        The decay rate of the average.
    momentum : float, optional
        Between 0 and 1.
    epsilon : float, optional
        Added to the average, inside the root.
    centered : bool, optional
        Divide by the root of the variance [2]_: the average of squares minus the squared average.
    **options : see `Optimizer`

    References
    ----------
    .. [1] T. Tieleman and G. Hinton, "Lecture 6.5: RMSProp", Neural Networks for Machine Learning, 2012.
    .. [2] A. Graves, "Generating Sequences With Recurrent Neural Networks", 2013, equations 38 to 45.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.RMSprop(learning_rate=0.1)
    >>> _ = optimizer.apply_gradients([(tm.constant([10.0, -0.1]), w)])
    >>> w.numpy().round(3)
    array([0.684, 2.316])
    """

    hyperparameters = ("rho", "momentum", "epsilon", "centered")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, **options)
        self.rho = number(rho, "rho", 0, 1)
        self.momentum = number(momentum, "momentum", 0, 1)
        self.epsilon = number(epsilon, "epsilon", 0)
        self.centered = bool(centered)

    def slot_names(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the average of squares, and optionally the velocity and the average of gradients."""
        momentum = (("momentum",),) if self.momentum else ()
        average = (("average_gradient",),) if self.centered else ()
        return (("velocity",), *momentum, *average)

    def rule(self, numbers: Any, g: Any, v: Any, *slots: Any) -> Any:
        """Update the averages, and return the step."""
        # Epsilon inside the root is Keras's form, as in Graves's equations [2]; PyTorch adds it to the root.
        part, step = self.temporary(g)
        np.square(g, out=part)
        average(v, part, self.rho)
        spread = v
        if self.centered:
            mean = slots[-1]
            np.positive(g, out=part)
            average(mean, part, self.rho)
            np.square(mean, out=part)
            spread = np.subtract(v, part, out=step)
        np.add(spread, self.epsilon, out=step)
        np.sqrt(step, out=step)
        np.multiply(g, numbers, out=part)
        np.divide(part, step, out=step)
        if self.momentum:
            u = slots[0]
            np.multiply(u, self.momentum, out=u)
            step = np.add(u, step, out=u)
        return step
