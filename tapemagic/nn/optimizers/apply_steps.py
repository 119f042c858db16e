"""Steps: weight decay, clipping, accumulation and averages around an optimizer's update rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap, wrap
from tapemagic.engine.tensor.variable import Variable, change_in_place, put_array
from tapemagic.nn.optimizers.numerics import cast, clip_by_norm, clip_by_value, global_scale
from tapemagic.nn.optimizers.state import State


class Steps(State):
    """Mix-in of an optimizer: steps with weight decay, clipping, gradient accumulation, and averages of variables."""

    weight_decay: float | None = None
    clipnorm: float | None = None
    clipvalue: float | None = None
    global_clipnorm: float | None = None
    use_ema: bool = False
    ema_momentum: float = 0.99
    ema_overwrite_frequency: int | None = None
    loss_scale_factor: float | None = None
    gradient_accumulation_steps: int | None = None

    def __init__(self, name: str | None) -> None:
        super().__init__(name)
        self._averages: list[Variable] = []
        self._sums: list[Variable] = []
        self._excluded: tuple[list[Variable], list[str]] = ([], [])
        self._decays: list[bool] = []

    def build(self, variables: Sequence[Variable]) -> None:
        """Create the averages and sums that the options require."""
        super().build(variables)
        if self.use_ema:
            self._averages = self.add_optimizer_variables(self._trained, "average")
        if self.gradient_accumulation_steps:
            self._sums = self.add_optimizer_variables(self._trained, "gradient_accumulator")
        self._find_decays()

    def update_step(self, gradient: Any, variable: Variable, learning_rate: Any) -> None:
        """Update one variable."""
        raise NotImplementedError

    def begin_step(self) -> None:
        """Update state that all variables share, before the variables are updated."""

    def scratch(self, like: Any) -> Any:
        """Return an array of the shape and dtype of `like`, for intermediate results or a clipped gradient."""
        return np.empty_like(like)

    @property
    def iterations(self) -> Any:
        """The number of steps so far, an integer Variable; with gradient accumulation, the number of updates."""
        if self.gradient_accumulation_steps:
            return self._iterations // self.gradient_accumulation_steps
        return self._iterations

    @property
    def steps_done(self) -> Any:
        """The number of steps so far that updated variables."""
        done = unwrap(self._iterations)
        per_step = self.gradient_accumulation_steps
        return done // per_step if per_step else done

    def scale_loss(self, loss: Any) -> Any:
        """Return the loss times `loss_scale_factor`, so that small gradients don't underflow in half precision."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def exclude_from_weight_decay(
        self, var_list: Iterable[Variable] | None = None, var_names: Iterable[str] | None = None
    ) -> None:
        """Exclude variables from weight decay.

        Parameters
        ----------
        var_list : iterable of Variable, optional
        var_names : iterable of str, optional
            Regular expressions: a variable is excluded if one of them matches a part of its name, such as "bias".

        Examples
        --------
        >>> from tapemagic import nn
        >>> optimizer = nn.optimizers.SGD(weight_decay=0.004)
        >>> optimizer.exclude_from_weight_decay(var_names=["bias"])
        """
        self._excluded = (list(var_list or ()), list(var_names or ()))
        self._find_decays()

    def _find_decays(self) -> None:
        listed, names = self._excluded
        self._decays = [
            not any(variable is excluded for excluded in listed)
            and not any(re.search(name, variable.name) for name in names)
            for variable in self._trained
        ]

    def finalize_variable_values(self, var_list: Iterable[Variable]) -> None:
        """Replace variables by their moving averages at the end of training, if `use_ema` is set.

        Raises OptionError for a variable for which the optimizer wasn't built.
        """
        if self.use_ema:
            variables = list(var_list)
            self.require_known(variables)
            for variable in variables:
                self._overwrite(variable)

    def _overwrite(self, variable: Variable) -> None:
        average = unwrap(self._averages[self._positions[id(variable)]])
        put_array(variable, np.copy(average))

    def _step(self, gradients: Sequence[Any], variables: Sequence[Variable], rate: Any) -> None:
        """Update variables by their gradients, which are arrays of the same shapes and dtypes."""
        if self.loss_scale_factor is not None:
            gradients = [g / g.dtype.type(self.loss_scale_factor) for g in gradients]
        if not self.gradient_accumulation_steps:
            self._change(gradients, variables, rate)
        elif (unwrap(self._iterations) + 1) % self.gradient_accumulation_steps:
            self._accumulate(gradients, variables)
        else:
            self._change(self._means(gradients, variables), variables, rate)
            for total in self._sums:
                put_array(total, np.zeros_like(unwrap(total)))
        if self.use_ema:
            self._average()

    def _change(self, gradients: Sequence[Any], variables: Sequence[Variable], rate: Any) -> None:
        scale = None
        if self.global_clipnorm is not None:
            scale = global_scale(gradients, self.global_clipnorm, map(self.scratch, gradients))
        self.begin_step()
        rates: dict[Any, Any] = {}
        for gradient, variable in zip(gradients, variables, strict=True):
            dtype = gradient.dtype
            own_rate = rates.get(dtype)
            if own_rate is None:
                own_rate = rates[dtype] = wrap(cast(rate, dtype.type))
            # Decoupled weight decay (Loshchilov and Hutter, ICLR 2019): the variable shrinks before the update, and
            # the decay doesn't enter the averages of gradients, unlike an L2 term in the loss.
            if self.weight_decay is not None and self._decays[self._positions[id(variable)]]:
                self._decay(variable, unwrap(own_rate))
            clipped = self._clipped(gradient, scale)
            self.update_step(wrap(clipped if clipped.ndim else clipped[()]), variable, own_rate)

    def _clipped(self, gradient: Any, scale: Any) -> Any:
        if scale is not None:
            return np.multiply(
                gradient, cast(scale, gradient.dtype.type), out=self.scratch(gradient)
            )
        if self.clipnorm is not None:
            return clip_by_norm(gradient, self.clipnorm, out=self.scratch(gradient))
        if self.clipvalue is not None:
            return clip_by_value(gradient, self.clipvalue, out=self.scratch(gradient))
        return gradient

    def _decay(self, variable: Variable, rate: Any) -> None:
        def decay(array: Any) -> None:
            lost = np.multiply(array, float(self.weight_decay or 0), out=self.scratch(array))
            np.multiply(lost, rate, out=lost)
            np.subtract(array, lost, out=array)

        change_in_place(variable, decay)

    def _accumulate(self, gradients: Sequence[Any], variables: Sequence[Variable]) -> None:
        for gradient, variable in zip(gradients, variables, strict=True):
            change_in_place(self._sums[self._positions[id(variable)]], partial(_add, gradient))

    def _means(self, gradients: Sequence[Any], variables: Sequence[Variable]) -> list[Any]:
        sums = [unwrap(self._sums[self._positions[id(variable)]]) for variable in variables]
        steps = self.gradient_accumulation_steps
        return [(g + total) / steps for g, total in zip(gradients, sums, strict=True)]

    def _average(self) -> None:
        """Update the averages; replace the variables by their averages every `ema_overwrite_frequency` steps."""
        # The first average is the variable itself: averages that start at 0 would need a bias correction.
        done = self.steps_done
        momentum = self.ema_momentum if done else 0.0
        for variable, average in zip(self._trained, self._averages, strict=True):
            change_in_place(average, partial(self._move, unwrap(variable), momentum))
        if self.ema_overwrite_frequency and (done + 1) % self.ema_overwrite_frequency == 0:
            for variable in self._trained:
                self._overwrite(variable)

    def _move(self, value: Any, momentum: float, average: Any) -> None:
        part = np.multiply(value, 1 - momentum, out=self.scratch(average))
        np.multiply(average, momentum, out=average)
        np.add(average, part, out=average)


def _add(gradient: Any, total: Any) -> None:
    np.add(total, gradient, out=total)
