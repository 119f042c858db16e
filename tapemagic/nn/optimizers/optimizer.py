"""Optimizer: the base class of update rules that change variables by their gradients."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Self

from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, put_array
from tapemagic.engine.tracing import tracer
from tapemagic.errors import NotATensorError, OptionError
from tapemagic.nn.arguments import above_zero, integer, number, refuse_unknown
from tapemagic.nn.custom_objects import reading
from tapemagic.nn.module import awaiting_variables, tell_variables_exist
from tapemagic.nn.object_configs import deserialize_keras_object
from tapemagic.nn.optimizers.apply_steps import Steps
from tapemagic.nn.optimizers.gradients import (
    Explain,
    as_arrays,
    no_gradients_error,
    require_trained,
    split_pairs,
    warn_missing,
)
from tapemagic.nn.optimizers.state import LearningRate
from tapemagic.tape import GradientTape

_OPTIONS = (
    "weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema", "ema_momentum",
    "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps", "name",
)  # fmt: skip


_one_at_a_time = threading.RLock()
"""Lock of the thread that makes a step: steps compute in scratch arrays that later steps reuse."""


def _constrain(variables: Iterable[Variable]) -> None:
    """Replace the variables that have a constraint by its value."""
    for variable in variables:
        constraint = getattr(variable, "constraint", None)
        if constraint is not None:
            with silence():
                variable.assign(constraint(variable), read_value=False)


class Optimizer(Steps, LearningRate):
    """Base class of optimizers: override `update_step`, and create state in `build`.

    Every optimizer takes the parameters below.

    Parameters
    ----------
    learning_rate : float, LearningRateSchedule or callable
        A function without arguments is called in each step.
    weight_decay : float, optional
        In each step, first subtract this share of each variable, times the learning rate.
    clipnorm : float, optional
        Maximum Euclidean norm of each gradient.
    clipvalue : float, optional
        Maximum absolute value of each element of a gradient.
    global_clipnorm : float, optional
        Maximum Euclidean norm of all gradients together.
    use_ema : bool, optional
        Keep an exponential moving average of each variable.
    ema_momentum : float, optional
        The decay rate of that average.
    ema_overwrite_frequency : int, optional
        Steps between replacements of the variables by their averages; by default only `finalize_variable_values` does.
    loss_scale_factor : float, optional
        Divide gradients by the factor of the loss; see `scale_loss`.
    gradient_accumulation_steps : int, optional
        Average the gradients of this many calls for each update.
    name : str, optional

    Raises
    ------
    OptionError
        From every optimizer, if an option is out of its range or unknown, or more than one kind of clipping is chosen.

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
    """The names of the options of a class, in addition to those of all optimizers."""

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
        if "decay" in unknown:
            raise OptionError(
                "there is no option 'decay': write learning_rate=InverseTimeDecay(learning_rate, 1, decay) "
                "of nn.optimizers.schedules, which computes the same"
            )
        # XLA would compute the same values.
        unknown.pop("jit_compile", None)
        refuse_unknown(type(self).__name__, unknown, names)
        self.weight_decay = (
            weight_decay if weight_decay is None else number(weight_decay, "weight_decay", 0)
        )
        # Keras allows one kind of clipping, since the result of two would depend on their order.
        chosen = {"clipnorm": clipnorm, "clipvalue": clipvalue, "global_clipnorm": global_clipnorm}
        limits = {key: above_zero(value, key) for key, value in chosen.items() if value is not None}
        if len(limits) > 1:
            raise OptionError(
                f"gradients can be clipped by one limit: pass one of {', '.join(limits)}, not {len(limits)}"
            )
        self.clipnorm = limits.get("clipnorm")
        self.clipvalue = limits.get("clipvalue")
        self.global_clipnorm = limits.get("global_clipnorm")
        self.use_ema = bool(use_ema)
        self.ema_momentum = number(ema_momentum, "ema_momentum", 0, 1)
        self.ema_overwrite_frequency = ema_overwrite_frequency
        if ema_overwrite_frequency is not None:
            self.ema_overwrite_frequency = integer(
                ema_overwrite_frequency, "ema_overwrite_frequency", 1
            )
        self.loss_scale_factor = (
            None
            if loss_scale_factor is None
            else above_zero(loss_scale_factor, "loss_scale_factor")
        )
        self.gradient_accumulation_steps = gradient_accumulation_steps
        if gradient_accumulation_steps is not None:
            self.gradient_accumulation_steps = integer(
                gradient_accumulation_steps, "gradient_accumulation_steps", 2
            )
        super().__init__(name)
        self._start_with(learning_rate)
        self._warned: set[tuple[int, ...]] = set()

    def build(self, variables: Sequence[Variable]) -> None:
        """Create the state for each variable, unless it exists; called before the first step."""
        if not self.built:
            super().build(variables)

    def update_step(self, gradient: Any, variable: Variable, learning_rate: Any) -> None:
        """Update one variable, by the rule of each subclass.

        Parameters
        ----------
        gradient : Tensor
            The clipped gradient, of the variable's shape and dtype.
        variable : Variable
        learning_rate : Tensor
            One number of the variable's dtype.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method update_step(self, gradient, variable, learning_rate): write one"
        )

    def assign(self, variable: Variable, value: Any) -> None:
        """Assign a value to a variable, in `update_step`."""
        variable.assign(value, read_value=False)

    def assign_add(self, variable: Variable, value: Any) -> None:
        """Add to a variable, in `update_step`."""
        variable.assign_add(value, read_value=False)

    def assign_sub(self, variable: Variable, value: Any) -> None:
        """Subtract from a variable, in `update_step`."""
        variable.assign_sub(value, read_value=False)

    def apply_gradients(self, grads_and_vars: Iterable[Any], *extra: Any) -> Variable:
        """Update variables by their gradients.

        Everything is checked before anything is changed: after one of these errors, no variable has changed.

        Parameters
        ----------
        grads_and_vars : iterable of (Tensor or None, Variable)
            Such as ``zip(gradients, variables)``. The first call defines the set of variables.

        Returns
        -------
        Variable
            The number of steps so far.

        Raises
        ------
        DtypeError
            If a gradient is complex, or a variable isn't floating-point.
        NotATensorError
            If an item isn't a pair of a gradient and a variable.
        NotComputedError
            If a gradient is lazy.
        OptionError
            If there are no pairs, all gradients are None, or the optimizer was built for other variables.
        ShapeError
            If the shapes of a gradient and its variable differ.

        Warns
        -----
        UserWarning
            If some gradients are None, once for the same variables, which aren't changed.

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
                "apply_gradients takes pairs, and received gradients and variables separately: write "
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
        """Update variables by their gradients, passed separately; see `apply_gradients` for the errors.

        Parameters
        ----------
        grads : iterable of Tensor or None
        trainable_variables : iterable of Variable, optional
            By default the variables for which the optimizer was built.
        explain : callable, optional
            Called with a variable whose gradient is None; returns the reason for the warning or error.
        """
        gradients = list(grads)
        variables = self._as_many(gradients, trainable_variables)
        arrays, changed, missing = as_arrays(gradients, variables)
        if not arrays:
            raise no_gradients_error(missing, explain)
        # Before anything is changed: a schedule or function may raise.
        rate = self._rate()
        if missing:
            self._warn_once(missing, explain)
        with _one_at_a_time if tracer() is None else nullcontext():
            # Built for all variables of the first call, also those without a gradient in it: later calls may have one.
            if not self.built:
                self.build(variables)
            if awaiting_variables:  # values that a checkpoint restores
                tell_variables_exist()
            self._step(arrays, changed, rate)
            _constrain(changed)
            put_array(self._iterations, unwrap(self._iterations) + 1)

    def minimize(self, loss: Any, var_list: Any, tape: GradientTape | None = None) -> Variable:
        """Differentiate a loss, and update variables by the gradients; see `apply_gradients` for result and errors.

        Parameters
        ----------
        loss : callable or Tensor
            A function without arguments that computes the loss, or a tensor that `tape` recorded.
        var_list : Variable, iterable of Variable, or callable
            The variables, or a function without arguments that returns them.
        tape : GradientTape, optional
            Required if `loss` is a tensor.

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
                "minimize needs the tape that recorded the loss: write minimize(loss, variables, tape=tape), or pass "
                "a function without arguments that computes it"
            )
        listed = var_list() if callable(var_list) else var_list
        variables = [listed] if isinstance(listed, Variable) else list(listed)
        require_trained(variables)
        gradients = tape.gradient(loss, variables)
        self.apply(gradients, variables, lambda *named: str(tape.explain(loss, *named)))
        return self._iterations

    def get_config(self) -> dict[str, Any]:
        """Return the options of the optimizer, with the current learning rate, or its schedule."""
        rate = self._learning_rate
        config = {"learning_rate": float(rate) if isinstance(rate, Variable) else rate}
        return config | {name: getattr(self, name) for name in (*self.hyperparameters, *_OPTIONS)}

    _library = "tapemagic.nn"

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Create an optimizer with options such as `get_config` returns."""
        options = dict(config)
        # A file contains a schedule as its config.
        if isinstance(options.get("learning_rate"), Mapping):
            with reading(cls._library):
                options["learning_rate"] = deserialize_keras_object(options["learning_rate"])
        return cls(**options)

    def __repr__(self) -> str:
        rate = self._learning_rate
        text = f"{float(rate):.7g}" if isinstance(rate, Variable) else shown(rate)
        return f"<{type(self).__name__} name={self.name!r}, learning_rate={text}>"

    def _warn_once(self, missing: Sequence[Variable], explain: Explain | None) -> None:
        """Warn about gradients that are None, once for the same variables: finding the reason takes time."""
        which = tuple(map(id, missing))
        # By ids: names of variables needn't be unique.
        if which not in self._warned:
            self._warned.add(which)
            warn_missing(missing, explain)

    def _as_many(self, gradients: Sequence[Any], variables: Iterable[Any] | None) -> list[Variable]:
        """Return the variables of a step, or raise OptionError if their number is wrong or one is unknown."""
        if variables is None and not self.built:
            raise OptionError(
                "the optimizer doesn't know its variables yet: write apply(gradients, variables), or call "
                "build(variables) first"
            )
        trained = list(self._trained if variables is None else variables)
        if len(trained) != len(gradients):
            raise OptionError(
                f"there are {len(gradients)} gradients for {len(trained)} variables: pass one for each, or None"
            )
        if not trained:
            raise OptionError(
                "there are no variables to change: layers create theirs in their first call, so read "
                "model.trainable_variables after that"
            )
        if self.built:
            self.require_known(trained)
        else:
            require_trained(trained)
        return trained
