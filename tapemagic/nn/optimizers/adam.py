"""Adam, and Adam with weight decay."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tracing import tracer
from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.arrays import ArrayOptimizer
from tapemagic.nn.optimizers.numbers import cast


class Adam(ArrayOptimizer):
    """Descent by an average of the gradients over the root of an average of their squares [1]_.

    Parameters
    ----------
    learning_rate : float, LearningRateSchedule or callable, optional
    beta_1 : float, optional
        The part of the average of gradients that stays in each step.
    beta_2 : float, optional
        The part of the average of squares that stays in each step.
    epsilon : float, optional
        Added to the root: ε̂ in section 2 of [1]_.
    amsgrad : bool, optional
        Whether to divide by the largest average of squares so far [2]_.
    **options
        Those of all optimizers; see `Optimizer`.

    Raises
    ------
    OptionError
        If an option is out of its range or unknown.

    Notes
    -----
    With t the number of the step, ``m += (1 - beta_1) * (g - m)`` and ``v += (1 - beta_2) * (g**2 - v)``, then
    ``w -= learning_rate * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) + epsilon)``.

    References
    ----------
    .. [1] D. P. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1.
    .. [2] S. J. Reddi, S. Kale and S. Kumar, "On the Convergence of Adam and Beyond", ICLR 2018.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.Adam(learning_rate=0.5)
    >>> _ = optimizer.apply_gradients([(tm.constant([10.0, -0.1]), w)])
    >>> w.numpy().round(3)
    array([0.5, 2.5])
    """

    hyperparameters = ("beta_1", "beta_2", "epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = number(beta_1, "beta_1", 0, 1)
        self.beta_2 = number(beta_2, "beta_2", 0, 1)
        self.epsilon = number(epsilon, "epsilon", 0)
        self.amsgrad = bool(amsgrad)

    def kept_names(self) -> tuple[tuple[str, ...], ...]:
        """The averages of gradients and of their squares, and the largest of the latter."""
        averages = ("momentum", "velocity")
        return (averages, ("velocity_hat",)) if self.amsgrad else (averages,)

    def numbers(self, rate: Any, dtype: Any) -> Any:
        """The learning rate over the parts of the averages that come from gradients; then those parts, and epsilon."""
        t = cast(self.steps_done + 1, dtype)
        alpha = rate * np.sqrt(1 - self.beta_2**t) / (1 - self.beta_1**t)
        numbers = alpha, 1 - self.beta_1, 1 - self.beta_2, self.epsilon
        return numbers if tracer() is not None else [np.array(x, dtype) for x in numbers]

    def rule(self, numbers: Any, g: Any, *kept: Any) -> Any:
        """Move the averages, and descend."""
        alpha, new_1, new_2, epsilon = numbers
        m, v, *largest = kept
        part, step = self.temporary(g)
        np.subtract(g, m, part)
        np.multiply(part, new_1, part)
        np.add(m, part, m)
        np.square(g, part)
        np.subtract(part, v, part)
        np.multiply(part, new_2, part)
        np.add(v, part, v)
        for most in largest:
            v = np.maximum(most, v, out=most)
        np.sqrt(v, part)
        np.add(part, epsilon, part)
        np.multiply(m, alpha, step)
        return np.divide(step, part, step)


class AdamW(Adam):
    """Adam with weight decay: in each step first ``w -= learning_rate * weight_decay * w`` [1]_.

    Parameters
    ----------
    learning_rate : float, LearningRateSchedule or callable, optional
    weight_decay : float, optional
    beta_1, beta_2, epsilon, amsgrad : optional
        Those of `Adam`.
    **options
        Those of all optimizers; see `Optimizer`.

    Raises
    ------
    OptionError
        If an option is out of its range or unknown.

    References
    ----------
    .. [1] I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, algorithm 2.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> w = tm.Variable([1.0, 2.0])
    >>> optimizer = nn.optimizers.AdamW(learning_rate=0.5, weight_decay=0.2)
    >>> _ = optimizer.apply_gradients([(tm.constant([0.0, 0.0]), w)])
    >>> w
    Variable([0.9, 1.8], name='Variable')
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(
            learning_rate,
            beta_1,
            beta_2,
            epsilon,
            amsgrad,
            weight_decay=number(weight_decay, "weight_decay", 0),
            **options,
        )
