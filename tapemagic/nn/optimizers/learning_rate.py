"""The learning rate of an optimizer: a number that may be set, a schedule, or a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.engine.tracing import tracer
from tapemagic.errors import OptionError
from tapemagic.nn.arguments import number
from tapemagic.nn.optimizers.schedules import LearningRateSchedule
from tapemagic.nn.optimizers.state import State


class LearningRate(State):
    """A state with a learning rate."""

    _learning_rate: Any

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the next step: a Variable; of a schedule or a function, what it gives now.

        Examples
        --------
        >>> from tapemagic import nn
        >>> optimizer = nn.optimizers.SGD(0.5)
        >>> optimizer.learning_rate = 0.25
        >>> float(optimizer.learning_rate)
        0.25
        """
        rate = self._learning_rate
        if isinstance(rate, Variable):
            return rate
        return rate(self._iterations) if isinstance(rate, LearningRateSchedule) else rate()

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        current = self._learning_rate
        if callable(learning_rate):
            self._kept = [variable for variable in self._kept if variable is not current]
            self._learning_rate = learning_rate
        elif isinstance(current, Variable):
            current.assign(_rate_of(learning_rate), read_value=False)
        else:
            raise OptionError(
                f"the learning rate of {self.name!r} follows {shown(current)}, and cannot be set to a number: set it "
                "to another schedule, or make an optimizer with a number"
            )

    def _start_with(self, learning_rate: Any) -> None:
        if callable(learning_rate):
            self._learning_rate = learning_rate
        else:
            rate = _rate_of(learning_rate)
            self._learning_rate = self.add_variable((), name="learning_rate")
            self._learning_rate.assign(rate, read_value=False)

    def _rate(self) -> Any:
        """The learning rate of this step, a number."""
        rate = unwrap(self.learning_rate)
        if isinstance(self._learning_rate, Variable):
            return rate
        told = tracer()
        stays = told is not None and told.reads(rate) and not rate.ndim and np.isfinite(rate)
        return rate if stays else _rate_of(rate)


def _rate_of(value: Any) -> float:
    """A learning rate as a number."""
    try:
        return number(value, "a learning rate")
    except OptionError as error:
        raise OptionError(
            f"{error}: give a number such as 0.01, a schedule, or a function of no arguments"
        ) from None
