"""State and LearningRate: an optimizer's variables, how they are saved, and its learning rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.events import record_exit
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.engine.tracing import tracer
from tapemagic.errors import DtypeError, OptionError, ShapeError
from tapemagic.nn import initializers
from tapemagic.nn.arguments import number
from tapemagic.nn.config import floatx
from tapemagic.nn.module import unique_name
from tapemagic.nn.optimizers.gradients import require_trained
from tapemagic.nn.optimizers.schedules import LearningRateSchedule


class State:
    """Mix-in of an optimizer: its own variables, and the variables that it trains."""

    variable_class: type[Variable] = Variable
    """The class of the variables that are created here."""

    built = False

    def __init__(self, name: str | None) -> None:
        if name == "" or not isinstance(name, str | None):
            raise OptionError(f"a name must be a non-empty string, not {name!r}: write name='fast'")
        self.name = name or unique_name(type(self).__name__)
        self._variables: list[Variable] = []
        self._trained: list[Variable] = []
        self._positions: dict[int, int] = {}
        self._iterations = self.add_variable((), dtype="int64", name="iteration")

    def build(self, variables: Sequence[Variable]) -> None:
        """Create the state for each variable that will be trained; called before the first step."""
        variables = list(variables)
        require_trained(variables)
        # Each variable once: a model may list a shared variable several times.
        self._trained = list({id(variable): variable for variable in variables}.values())
        self._index_positions()
        self.built = True

    def _index_positions(self) -> None:
        self._positions = {id(variable): place for place, variable in enumerate(self._trained)}

    def require_known(self, variables: Sequence[Any]) -> None:
        """Raise OptionError for variables for which the optimizer wasn't built."""
        places = self._positions
        unknown = [variable for variable in variables if id(variable) not in places]
        if unknown:
            require_trained(unknown)
            raise OptionError(
                f"the optimizer {self.name!r} wasn't built for the variable {unknown[0].name!r}: it knows "
                f"{[variable.name for variable in self._trained]}. Create a new optimizer for new variables, or build "
                "one for all of them"
            )

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's own variables, in Keras's order, beginning with the number of steps."""
        return list(self._variables)

    def add_variable(
        self,
        shape: Sequence[int],
        initializer: Any = "zeros",
        dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> Variable:
        """Create a variable of the optimizer, which isn't trainable.

        Parameters
        ----------
        shape : sequence of int
        initializer : str, callable or Initializer, optional
        dtype : dtype, optional
            By default `nn.config.floatx`.
        name : str, optional
        """
        is_integer = dtype is not None and np.dtype(dtype).kind in "iu"
        dtype = floatx() if dtype is None else dtype
        shape = tuple(shape)
        first = (
            np.zeros(shape, dtype)
            if is_integer
            else unwrap(initializers.get(initializer)(shape, dtype=dtype))
        )
        path = f"{self.name}/{name or 'variable'}"
        variable = self.variable_class(first, trainable=False, name=path, dtype=dtype)
        self._variables.append(variable)
        return variable

    def add_variable_from_reference(
        self, reference_variable: Variable, name: str = "var", initializer: Any = "zeros"
    ) -> Variable:
        """Create a variable of the optimizer with the shape and dtype of a trained variable.

        `name` is appended to the other variable's name, as in "adam/dense_kernel_momentum".
        """
        path = f"{reference_variable.name.replace('/', '_')}_{name}"
        return self.add_variable(
            reference_variable.shape, initializer, reference_variable.dtype, path
        )

    def add_optimizer_variables(
        self, trainable_variables: Sequence[Variable], name: Any, initializer: Any = "zeros"
    ) -> Any:
        """Create one or several variables of the optimizer for each trained variable.

        Parameters
        ----------
        trainable_variables : sequence of Variable
        name : str or sequence of str
        initializer : str, callable or Initializer, or sequence of such, optional

        Returns
        -------
        list of Variable, or tuple of such lists
            One list for each name.
        """
        names = [name] if isinstance(name, str) else list(name)
        several = isinstance(initializer, list | tuple)
        first = list(initializer) if several else [initializer] * len(names)
        if len(first) != len(names):
            raise OptionError(
                f"there are {len(names)} names and {len(first)} initializers: pass one for each name"
            )
        rows = [
            [self.add_variable_from_reference(v, n, i) for n, i in zip(names, first, strict=True)]
            for v in trainable_variables
        ]
        columns = tuple([row[column] for row in rows] for column in range(len(names)))
        return columns[0] if isinstance(name, str) else columns

    def get_state(self) -> dict[str, Any]:
        """Return copies of the values of `variables` by name, such as for a file.

        A name consists of the position in `variables` and the last part of the variable's name.

        Examples
        --------
        >>> import tapemagic as tm
        >>> from tapemagic import nn
        >>> w = tm.Variable([1.0, 2.0], name="w")
        >>> optimizer = nn.optimizers.SGD(momentum=0.9)
        >>> optimizer.build([w])
        >>> list(optimizer.get_state())
        ['0/iteration', '1/learning_rate', '2/w_momentum']
        """
        return {name: variable.numpy() for name, variable in self._named().items()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Assign values that `get_state` returned to `variables`.

        Parameters
        ----------
        state : mapping of str to array_like

        Raises
        ------
        OptionError
            If a name is missing or unknown, such as before the optimizer is built. Nothing is changed.
        ShapeError
            If the shape of a value differs. Nothing is changed.
        """
        named = self._named()
        missing, unknown = (
            [n for n in named if n not in state],
            [n for n in state if n not in named],
        )
        if missing or unknown:
            built = "" if self.built else "; it isn't built yet: call build(variables) first"
            raise OptionError(
                f"the state doesn't fit the optimizer {self.name!r}: missing are {missing}, unknown {unknown}{built}"
            )
        self._assign(list(named.values()), [state[name] for name in named])

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Assign values to `variables`, in order, or raise ShapeError and change nothing."""
        self._assign(self.variables, list(weights))

    def _assign(self, variables: Sequence[Variable], values: Sequence[Any]) -> None:
        arrays = [np.asarray(unwrap(value)) for value in values]
        self._require_fitting(variables, arrays)
        for variable, array in zip(variables, arrays, strict=True):
            variable.assign(array, read_value=False)

    def require_weights(self, weights: Sequence[Any]) -> None:
        """Raise the error of `set_weights` for values, or for objects with only their shapes and dtypes."""
        self._require_fitting(self.variables, weights)

    def _require_fitting(self, variables: Sequence[Variable], arrays: Sequence[Any]) -> None:
        expected, shapes = [v.shape for v in variables], [array.shape for array in arrays]
        if expected != shapes:
            built = "" if self.built else "; it isn't built yet: call build(variables) first"
            raise ShapeError(
                f"the variables of the optimizer {self.name!r} have the shapes {expected}, not {shapes}{built}"
            )
        for variable, array in zip(variables, arrays, strict=True):
            # float64 to float32 is fine, as for files of another floatx; complex to float would lose a part.
            if not np.can_cast(array.dtype, variable.dtype, "same_kind"):
                raise DtypeError(
                    f"{variable.name!r} is {variable.dtype}, and can't take values of {array.dtype}"
                )

    def _named(self) -> dict[str, Variable]:
        return {f"{n}/{v.name.rpartition('/')[2]}": v for n, v in enumerate(self.variables)}

    def __copy__(self) -> Any:
        """Return an optimizer for the same variables, with its own state."""
        # The memo of deepcopy: the trained variables count as copied already, so they are shared.
        return deepcopy(self, {id(variable): variable for variable in self._trained})

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Ids of variables are different after unpickling.
        self.__dict__.update(state, _warned=set())
        self._index_positions()


class LearningRate(State):
    """Mix-in of an optimizer: its learning rate, a variable, a schedule or a function."""

    _learning_rate: Any

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the next step: a Variable, or the current value of a schedule or function.

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
        # A schedule replaces the variable, which then no longer belongs to the state, as in Keras.
        if callable(learning_rate):
            self._variables = [variable for variable in self._variables if variable is not current]
            self._learning_rate = learning_rate
        elif isinstance(current, Variable):
            # The value only, as in Keras: the rate doesn't follow a variable that is assigned later.
            current.assign(_rate_of(_value_of(learning_rate)), read_value=False)
        else:
            raise OptionError(
                f"the learning rate of {self.name!r} follows {shown(current)}, and can't be set to a number: set it "
                "to another schedule, or create an optimizer with a number"
            )

    def _start_with(self, learning_rate: Any) -> None:
        if callable(learning_rate):
            self._learning_rate = learning_rate
        else:
            if isinstance(learning_rate, Variable):
                raise OptionError(
                    "the learning rate would not follow the variable: pass lambda: rate to follow it, or float(rate) "
                    "for its value"
                )
            rate = _rate_of(_value_of(learning_rate))
            self._learning_rate = self.add_variable((), name="learning_rate")
            self._learning_rate.assign(rate, read_value=False)

    def _rate(self) -> Any:
        """Return the learning rate of this step as a number."""
        rate = unwrap(self.learning_rate)
        if isinstance(self._learning_rate, Variable):
            return rate
        trace = tracer()
        is_traced = trace is not None and trace.reads(rate) and not rate.ndim and np.isfinite(rate)
        return rate if is_traced else _rate_of(rate)


def _value_of(rate: Any) -> Any:
    """Return the value of a tensor or variable, and any other learning rate unchanged."""
    if isinstance(rate, Traced):
        record_exit(rate, "the learning rate of an optimizer")
        rate = unwrap(rate)
    return rate


def _rate_of(value: Any) -> float:
    """Return a learning rate as a float, or raise OptionError."""
    try:
        return number(value, "a learning rate")
    except OptionError as error:
        raise OptionError(
            f"{error}: pass a number such as 0.01, a schedule, or a function without arguments"
        ) from None
