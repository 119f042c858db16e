"""Schedules: learning rates that depend on the number of steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tracing import element
from tapemagic.errors import NotNumbersError, OptionError
from tapemagic.nn.arguments import above_zero, number
from tapemagic.nn.config import floatx


class LearningRateSchedule:
    """Base class of schedules: override ``__call__(self, step)``.

    Raises OptionError from every schedule, if an option is out of its range.

    Parameters
    ----------
    initial_learning_rate : float
    decay_steps, first_decay_steps : int
        The number of steps of the (first) decay, above 0.
    name : str, optional

    Examples
    --------
    >>> from tapemagic import nn
    >>> class Halving(nn.optimizers.schedules.LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 0.5 ** int(step)
    >>> optimizer = nn.optimizers.SGD(Halving())
    >>> optimizer.learning_rate
    1.0
    """

    def __call__(self, step: Any) -> Any:
        """Return the learning rate for a number of steps so far, in the dtype `nn.config.floatx`."""
        value = unwrap(step)
        if not isinstance(value, np.ndarray | np.generic):
            value = np.asarray(value)
        if value.dtype.kind not in "iuf":
            raise NotNumbersError(f"a schedule needs a number of steps, not {step!r}")
        # In double precision, so that large step counts keep their digits; the result is rounded once.
        return constant(self.rate(value.astype(float)), floatx())

    def rate(self, step: Any) -> Any:
        """Return the learning rate for an array of numbers of steps."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method __call__(self, step): write one"
        )

    def get_config(self) -> dict[str, Any]:
        """Return the options of the schedule."""
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Create a schedule with options such as `get_config` returns."""
        return cls(**config)

    def __repr__(self) -> str:
        options = ", ".join(
            f"{name}={value!r}" for name, value in self.get_config().items() if name != "name"
        )
        return f"{type(self).__name__}({options})"


class ExponentialDecay(LearningRateSchedule):
    """``initial_learning_rate * decay_rate ** (step / decay_steps)``.

    Parameters
    ----------
    decay_rate : float
        Above 0.
    staircase : bool, optional
        Round the exponent down.

    Examples
    --------
    >>> from tapemagic import nn
    >>> schedule = nn.optimizers.schedules.ExponentialDecay(0.1, decay_steps=100, decay_rate=0.5)
    >>> schedule([0, 100, 200]).numpy()
    array([0.1  , 0.05 , 0.025], dtype=float32)
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        name: str = "ExponentialDecay",
    ) -> None:
        self.initial_learning_rate = number(initial_learning_rate, "initial_learning_rate")
        self.decay_steps = above_zero(decay_steps, "decay_steps")
        self.decay_rate = above_zero(decay_rate, "decay_rate")
        self.staircase = bool(staircase)
        self.name = name

    def rate(self, step: Any) -> Any:
        """Return the learning rate for an array of numbers of steps."""
        return self.initial_learning_rate * self.decay_rate ** _stairs(self, step)


class InverseTimeDecay(LearningRateSchedule):
    """``initial_learning_rate / (1 + decay_rate * step / decay_steps)``.

    Parameters
    ----------
    decay_rate : float
        At least 0.
    staircase : bool, optional
        Round ``step / decay_steps`` down.

    Examples
    --------
    >>> from tapemagic import nn
    >>> schedule = nn.optimizers.schedules.InverseTimeDecay(0.5, decay_steps=1, decay_rate=0.25)
    >>> schedule([0, 4, 12]).numpy()
    array([0.5  , 0.25 , 0.125], dtype=float32)
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        name: str = "InverseTimeDecay",
    ) -> None:
        self.initial_learning_rate = number(initial_learning_rate, "initial_learning_rate")
        self.decay_steps = above_zero(decay_steps, "decay_steps")
        self.decay_rate = number(decay_rate, "decay_rate", 0)
        self.staircase = bool(staircase)
        self.name = name

    def rate(self, step: Any) -> Any:
        """Return the learning rate for an array of numbers of steps."""
        return self.initial_learning_rate / (1 + self.decay_rate * _stairs(self, step))


def _stairs(schedule: ExponentialDecay | InverseTimeDecay, step: Any) -> Any:
    part = step / schedule.decay_steps
    return np.floor(part) if schedule.staircase else part


class PiecewiseConstantDecay(LearningRateSchedule):
    """A constant value up to and including each boundary, and the last value after all boundaries.

    Parameters
    ----------
    boundaries : sequence of int
        Increasing.
    values : sequence of float
        One more value than boundaries.

    Examples
    --------
    >>> from tapemagic import nn
    >>> schedule = nn.optimizers.schedules.PiecewiseConstantDecay([100, 200], [0.1, 0.05, 0.01])
    >>> schedule([0, 100, 101, 201]).numpy()
    array([0.1 , 0.1 , 0.05, 0.01], dtype=float32)
    """

    def __init__(
        self, boundaries: Sequence[float], values: Sequence[float], name: str = "PiecewiseConstant"
    ) -> None:
        self.boundaries = [number(boundary, "a boundary") for boundary in boundaries]
        self.values = [number(value, "a value") for value in values]
        self.name = name
        if len(self.values) != len(self.boundaries) + 1:
            raise OptionError(
                f"{len(self.boundaries)} boundaries need {len(self.boundaries) + 1} values, not {len(self.values)}"
            )
        if any(low >= high for low, high in pairwise(self.boundaries)):
            raise OptionError(f"the boundaries must increase, unlike {list(boundaries)}")

    def rate(self, step: Any) -> Any:
        """Return the learning rate for an array of numbers of steps."""
        # searchsorted finds the first boundary that isn't less than the step: boundaries belong to the value before.
        return element(np.array(self.values), np.searchsorted(self.boundaries, step))


class PolynomialDecay(LearningRateSchedule):
    """From the initial to a final learning rate, by a power of the remaining share of steps.

    ``(initial - end) * (1 - step / decay_steps) ** power + end``, up to `decay_steps`. With `cycle`, `decay_steps` is
    replaced by its smallest multiple that isn't less than the step.

    Parameters
    ----------
    end_learning_rate : float, optional
    power : float, optional
        1 means a straight line.
    cycle : bool, optional
        Extend the decay to the next multiple of `decay_steps` whenever its end is reached.

    Examples
    --------
    >>> from tapemagic import nn
    >>> schedule = nn.optimizers.schedules.PolynomialDecay(1.0, decay_steps=100, end_learning_rate=0.5)
    >>> schedule([0, 50, 100, 150]).numpy()
    array([1.  , 0.75, 0.5 , 0.5 ], dtype=float32)
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: str = "PolynomialDecay",
    ) -> None:
        self.initial_learning_rate = number(initial_learning_rate, "initial_learning_rate")
        self.decay_steps = above_zero(decay_steps, "decay_steps")
        self.end_learning_rate = number(end_learning_rate, "end_learning_rate")
        self.power = number(power, "power", 0)
        self.cycle = bool(cycle)
        self.name = name

    def rate(self, step: Any) -> Any:
        """Return the learning rate for an array of numbers of steps."""
        steps: Any = self.decay_steps
        if self.cycle:
            steps = steps * np.maximum(1, np.ceil(step / self.decay_steps))
        # Clipped, as the power of a negative share would be nan for fractional powers.
        left = 1 - np.minimum(step, steps) / steps
        return (
            self.initial_learning_rate - self.end_learning_rate
        ) * left**self.power + self.end_learning_rate


class CosineDecay(LearningRateSchedule):
    """A decay by half a period of the cosine [1]_, optionally after a linear warm-up.

    Parameters
    ----------
    decay_steps : int
        The number of steps after the warm-up, above 0.
    alpha : float, optional
        The final learning rate, as a share of the highest.
    warmup_target : float, optional
        The learning rate at the end of the warm-up; None means no warm-up.
    warmup_steps : int, optional
        The number of steps of the warm-up.

    References
    ----------
    .. [1] I. Loshchilov and F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", ICLR 2017, equation 5.

    Examples
    --------
    >>> from tapemagic import nn
    >>> schedule = nn.optimizers.schedules.CosineDecay(0.0, 100, warmup_target=1.0, warmup_steps=10)
    >>> schedule([0, 5, 10, 60, 110]).numpy()
    array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        alpha: float = 0.0,
        name: str = "CosineDecay",
        warmup_target: float | None = None,
        warmup_steps: float = 0,
    ) -> None:
        self.initial_learning_rate = number(initial_learning_rate, "initial_learning_rate")
        self.decay_steps = above_zero(decay_steps, "decay_steps")
        self.alpha = number(alpha, "alpha")
        self.name = name
        self.warmup_target = (
            None if warmup_target is None else number(warmup_target, "warmup_target")
        )
        self.warmup_steps = number(warmup_steps, "warmup_steps", 0)

    def rate(self, step: Any) -> Any:
        """Return the learning rate for an array of numbers of steps."""
        first, target, warmup = self.initial_learning_rate, self.warmup_target, self.warmup_steps
        if target is None:
            return first * self._part(step)
        falling = target * self._part(np.maximum(step - warmup, 0))
        rising = first + (target - first) * step / (warmup or 1)
        return np.where(step < warmup, rising, falling)

    def _part(self, step: Any) -> Any:
        return _cosine(np.minimum(step / self.decay_steps, 1), 1, self.alpha)


class CosineDecayRestarts(LearningRateSchedule):
    """Repeated decays, each by half a period of the cosine [1]_.

    Parameters
    ----------
    t_mul : float, optional
        The length of each decay relative to the previous decay; at least 1.
    m_mul : float, optional
        The initial learning rate of each decay relative to the previous decay.
    alpha : float, optional
        The final learning rate, as a share of the initial learning rate.

    References
    ----------
    .. [1] I. Loshchilov and F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", ICLR 2017, section 3.

    Examples
    --------
    >>> from tapemagic import nn
    >>> schedule = nn.optimizers.schedules.CosineDecayRestarts(1.0, 100, m_mul=0.5)
    >>> schedule([0, 50, 100, 200, 300]).numpy()
    array([1.  , 0.5 , 0.5 , 0.25, 0.25], dtype=float32)
    """

    def __init__(
        self,
        initial_learning_rate: float,
        first_decay_steps: float,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str = "SGDRDecay",
    ) -> None:
        self.initial_learning_rate = number(initial_learning_rate, "initial_learning_rate")
        self.first_decay_steps = above_zero(first_decay_steps, "first_decay_steps")
        self.t_mul = number(t_mul, "t_mul", 1)
        self.m_mul = number(m_mul, "m_mul", 0)
        self.alpha = number(alpha, "alpha")
        self.name = name

    def rate(self, step: Any) -> Any:
        """Return the learning rate for an array of numbers of steps."""
        done = step / self.first_decay_steps
        if self.t_mul == 1:
            restarts = np.floor(done)
            part = done - restarts
        else:
            # Decay k begins after 1 + t + ... + t**(k - 1) = (t**k - 1) / (t - 1) first lengths; solved for k.
            restarts = np.floor(
                np.log(1 + done * (self.t_mul - 1)) / math.log(self.t_mul) + _ROUNDING
            )
            length = self.t_mul**restarts
            part = (done - (length - 1) / (self.t_mul - 1)) / length
        return self.initial_learning_rate * _cosine(part, self.m_mul**restarts, self.alpha)


_ROUNDING = 1e-12
"""Added to the number of restarts before it's rounded down, because a quotient of logarithms isn't exact."""


def _cosine(part: Any, height: Any, alpha: float) -> Any:
    return (1 - alpha) * 0.5 * height * (1 + np.cos(np.pi * part)) + alpha


__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LearningRateSchedule",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
]
