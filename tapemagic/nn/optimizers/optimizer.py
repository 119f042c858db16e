"""Optimizer: the base class of rules that change variables by their gradients."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Self

from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, put_array
from tapemagic.engine.tracing import tracer
from tapemagic.errors import NotATensorError, OptionError
from tapemagic.nn.arguments import above, count, number, refuse_unknown
from tapemagic.nn.optimizers.apply_steps import Steps
from tapemagic.nn.optimizers.gradients import (
    Explain,
    as_arrays,
    none_at_all,
    require_trained,
    split_pairs,
    warn_of,
)
from tapemagic.nn.optimizers.state import LearningRate
from tapemagic.tape import GradientTape

_OPTIONS = (
    "weight_decay",
    "clipnorm",
    "clipvalue",
    "global_clipnorm",
    "use_ema",
    "ema_momentum",
    "ema_overwrite_frequency",
    "loss_scale_factor",
    "gradient_accumulation_steps",
    "name",
)


_one_at_a_time = threading.RLock()
"""Held by the thread that makes a step: steps compute in arrays that are kept from step to step."""


class Optimizer(Steps, LearningRate):
    """Base class of optimizers; one of your own has a method `update_step`, and makes what it keeps in `build`.

    Parameters
    ----------
    learning_rate : float, LearningRateSchedule or callable
        A function of no arguments is called in each step.
    weight_decay : float, optional
        In each step every variable first becomes smaller by this part of itself, times the learning rate.
    clipnorm : float, optional
        The largest Euclidean norm of each gradient: longer ones are made shorter.
    clipvalue : float, optional
        The largest absolute value of each element of a gradient.
    global_clipnorm : float, optional
        The largest Euclidean norm of all gradients together.
    use_ema : bool, optional
        Keep an exponential moving average of each variable.
    ema_momentum : float, optional
        The part of the average that stays in each step.
    ema_overwrite_frequency : int, optional
        After how many steps the variables are given their averages; only in `finalize_variable_values` if left out.
    loss_scale_factor : float, optional
        By what gradients are divided, since the loss was multiplied by it; see `scale_loss`.
    gradient_accumulation_steps : int, optional
        Over how many calls gradients are averaged before a step is made.
    name : str, optional

    Raises
    ------
    OptionError
        If an option is out of its range or unknown, or more than one way of clipping is chosen.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> class Halving(nn.optimizers.Optimizer):
    ...     def update_step(self, gradient, variable, learning_rate):
    ...         self.assign_sub(variable, learning_rate * gradient / 2)
    >>> w = tm.Variable([4.0, 8.0])
    >>> int(Halving(learning_rate=0.5).apply_gradients([(tm.constant([1.0, 2.0]), w)]))
    1
    >>> w
    Variable([3.75, 7.5 ], name='Variable')
    """

    __tape_unwatched__ = frozenset({"_warned"})

    hyperparameters: tuple[str, ...] = ()
    """The names of the options that a class has beside those of all optimizers."""

    def __init__(
        self,
        learning_rate: Any,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **unknown: Any,
    ) -> None:
        names = ("learning_rate", *self.hyperparameters, *_OPTIONS)
        refuse_unknown(type(self).__name__, unknown, names)
        self.weight_decay = (
            weight_decay if weight_decay is None else number(weight_decay, "weight_decay", 0)
        )
        chosen = {"clipnorm": clipnorm, "clipvalue": clipvalue, "global_clipnorm": global_clipnorm}
        limits = {key: above(value, key) for key, value in chosen.items() if value is not None}
        if len(limits) > 1:
            raise OptionError(
                f"gradients are clipped in one way: give one of {', '.join(limits)}, not {len(limits)}"
            )
        self.clipnorm = limits.get("clipnorm")
        self.clipvalue = limits.get("clipvalue")
        self.global_clipnorm = limits.get("global_clipnorm")
        self.use_ema = bool(use_ema)
        self.ema_momentum = number(ema_momentum, "ema_momentum", 0, 1)
        self.ema_overwrite_frequency = ema_overwrite_frequency
        if ema_overwrite_frequency is not None:
            self.ema_overwrite_frequency = count(
                ema_overwrite_frequency, "ema_overwrite_frequency", 1
            )
        self.loss_scale_factor = (
            None if loss_scale_factor is None else above(loss_scale_factor, "loss_scale_factor")
        )
        self.gradient_accumulation_steps = gradient_accumulation_steps
        if gradient_accumulation_steps is not None:
            self.gradient_accumulation_steps = count(
                gradient_accumulation_steps, "gradient_accumulation_steps", 2
            )
        super().__init__(name)
        self._start_with(learning_rate)
        self._warned: set[tuple[int, ...]] = set()

    def build(self, variables: Sequence[Variable]) -> None:
        """Make what is kept for each variable; called before the first step. One that is built stays as it is.

        Parameters
        ----------
        variables : sequence of Variable
            All that are to be trained.

        Raises
        ------
        NotATensorError
            If something among them is no variable.
        DtypeError
            If a variable does not hold floating-point numbers.
        """
        if not self.built:
            super().build(variables)

    def update_step(self, gradient: Any, variable: Variable, learning_rate: Any) -> None:
        """Change one variable; written by each class.

        Parameters
        ----------
        gradient : Tensor
            Of the variable's shape and dtype; clipped.
        variable : Variable
        learning_rate : Tensor
            One number of the variable's dtype.
        """
        raise NotImplementedError(
            f"{type(self).__name__} changes nothing yet: give it a method "
            "update_step(self, gradient, variable, learning_rate)"
        )

    def assign(self, variable: Variable, value: Any) -> None:
        """Give a variable a value, for `update_step`."""
        variable.assign(value, read_value=False)

    def assign_add(self, variable: Variable, value: Any) -> None:
        """Add to a variable, for `update_step`."""
        variable.assign_add(value, read_value=False)

    def assign_sub(self, variable: Variable, value: Any) -> None:
        """Subtract from a variable, for `update_step`."""
        variable.assign_sub(value, read_value=False)

    def apply_gradients(self, grads_and_vars: Iterable[Any], *extra: Any) -> Variable:
        """Make a step.

        Parameters
        ----------
        grads_and_vars : iterable of (Tensor or None, Variable)
            Such as ``zip(gradients, variables)``. The first time they tell which variables there are.

        Returns
        -------
        Variable
            The number of steps so far.

        Raises
        ------
        DtypeError
            If a gradient is complex, or a variable does not hold floating-point numbers.
        NotATensorError
            If something is no pair of a gradient and a variable.
        NotComputedError
            If a gradient is lazy.
        OptionError
            If there are no pairs, all gradients are None, or the optimizer was built for other variables.
        ShapeError
            If a gradient has another shape than its variable.

        Warns
        -----
        UserWarning
            If some gradients are None, the first time for these variables. They stay as they are.

        Notes
        -----
        All is checked before anything is changed: after one of these errors every variable is as it was.

        Examples
        --------
        >>> import tapemagic as tm
        >>> from tapemagic import nn
        >>> w = tm.Variable(3.0)
        >>> optimizer = nn.optimizers.SGD(learning_rate=0.25)
        >>> for _ in range(3):
        ...     with tm.GradientTape() as tape:
        ...         loss = w * w
        ...     steps = optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        >>> w
        Variable(0.375, name='Variable')
        >>> int(steps)
        3
        """
        if extra:
            raise NotATensorError(
                "apply_gradients takes pairs, and was given gradients and variables apart: write "
                "apply_gradients(zip(gradients, variables)), or apply(gradients, variables)"
            )
        gradients, variables = split_pairs(grads_and_vars)
        self.apply(gradients, variables)
        return self._iterations

    def apply(
        self,
        grads: Iterable[Any],
        trainable_variables: Iterable[Variable] | None = None,
        explain: Explain | None = None,
    ) -> None:
        """Make a step, as `apply_gradients`, with gradients and variables apart.

        Parameters
        ----------
        grads : iterable of Tensor or None
        trainable_variables : iterable of Variable, optional
            Those that the optimizer was built for, if left out.
        explain : callable, optional
            Called with a variable whose gradient is None; gives the text that says why, for the warning or the error.

        Raises
        ------
        DtypeError, NotATensorError, OptionError, ShapeError
            As of `apply_gradients`; also if there are not as many gradients as variables.
        """
        gradients = list(grads)
        variables = self._as_many(gradients, trainable_variables)
        arrays, changed, missing = as_arrays(gradients, variables)
        if not arrays:
            raise none_at_all(missing, explain)
        rate = self._rate()
        if missing:
            self._warn_once(missing, explain)
        with _one_at_a_time if tracer() is None else nullcontext():
            if not self.built:
                self.build(variables)
            self._step(arrays, changed, rate)
            put_array(self._iterations, unwrap(self._iterations) + 1)

    def minimize(self, loss: Any, var_list: Any, tape: GradientTape | None = None) -> Variable:
        """Make a step that makes a loss smaller.

        Parameters
        ----------
        loss : callable or Tensor
            A function of no arguments that computes it; or a tensor that `tape` recorded.
        var_list : Variable, iterable of Variable, or callable
            With respect to which to differentiate; or a function of no arguments that gives them.
        tape : GradientTape, optional
            Needed for a tensor.

        Returns
        -------
        Variable
            The number of steps so far.

        Raises
        ------
        OptionError
            If `loss` is a tensor, and there is no tape.
        DtypeError, NotATensorError, OptionError, ShapeError
            As of `apply_gradients`; of gradients that are None it is said why.

        Examples
        --------
        >>> import tapemagic as tm
        >>> from tapemagic import nn
        >>> w = tm.Variable(3.0)
        >>> optimizer = nn.optimizers.SGD(learning_rate=0.25)
        >>> for _ in range(3):
        ...     steps = optimizer.minimize(lambda: w * w, [w])
        >>> w
        Variable(0.375, name='Variable')
        """
        if callable(loss):
            tape = tape or GradientTape()
            with tape:
                loss = loss()
        elif tape is None:
            raise OptionError(
                "minimize needs the tape that recorded the loss: write minimize(loss, variables, tape=tape), or give "
                "a function of no arguments that computes it"
            )
        listed = var_list() if callable(var_list) else var_list
        variables = [listed] if isinstance(listed, Variable) else list(listed)
        require_trained(variables)
        gradients = tape.gradient(loss, variables)
        self.apply(gradients, variables, lambda *named: str(tape.explain(loss, *named)))
        return self._iterations

    def get_config(self) -> dict[str, Any]:
        """The options that the optimizer was made with.

        Returns
        -------
        dict of str to object
            The learning rate as it is now; a schedule itself.
        """
        rate = self._learning_rate
        config = {"learning_rate": float(rate) if isinstance(rate, Variable) else rate}
        return config | {name: getattr(self, name) for name in (*self.hyperparameters, *_OPTIONS)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """An optimizer made with options as `get_config` gives them."""
        return cls(**config)

    def __repr__(self) -> str:
        rate = self._learning_rate
        text = f"{float(rate):.7g}" if isinstance(rate, Variable) else shown(rate)
        return f"<{type(self).__name__} name={self.name!r}, learning_rate={text}>"

    def _warn_once(self, missing: Sequence[Variable], explain: Explain | None) -> None:
        """Warn of gradients that are None, unless that was done before: a reason takes its time to be found."""
        which = tuple(map(id, missing))
        if which not in self._warned:
            self._warned.add(which)
            warn_of(missing, explain)

    def _as_many(self, gradients: Sequence[Any], variables: Iterable[Any] | None) -> list[Variable]:
        """The variables of a step, after they were found to be as many as the gradients, and known."""
        if variables is None and not self.built:
            raise OptionError(
                "the optimizer does not know its variables yet: write apply(gradients, variables), or call "
                "build(variables) first"
            )
        trained = list(self._trained if variables is None else variables)
        if len(trained) != len(gradients):
            raise OptionError(
                f"there are {len(gradients)} gradients for {len(trained)} variables: give one for each, None for none"
            )
        if not trained:
            raise OptionError(
                "there are no variables to change: layers make theirs in their first call, so take "
                "model.trainable_variables after that"
            )
        if self.built:
            self.require_known(trained)
        else:
            require_trained(trained)
        return trained
