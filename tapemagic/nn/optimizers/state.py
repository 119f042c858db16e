"""State: the variables that an optimizer keeps from step to step, and how they are saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
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
    """The variables of an optimizer, and those that it trains."""

    variable_class: type[Variable] = Variable
    """The class of the variables that are made here."""

    built = False

    def __init__(self, name: str | None) -> None:
        if name == "" or not isinstance(name, str | None):
            raise OptionError(f"a name is text, not {name!r}: write name='fast'")
        self.name = name or unique_name(type(self).__name__)
        self._kept: list[Variable] = []
        self._trained: list[Variable] = []
        self._places: dict[int, int] = {}
        self._iterations = self.add_variable((), dtype="int64", name="iteration")

    def build(self, variables: Sequence[Variable]) -> None:
        """Make what is kept for each variable; called before the first step. One that is built stays as it is.

        Parameters
        ----------
        variables : sequence of Variable
            All that are to be trained.

        Raises
        ------
        NotATensorError, DtypeError
            If something among them is no variable, or does not hold floating-point numbers.
        """
        variables = list(variables)
        require_trained(variables)
        self._trained = list({id(variable): variable for variable in variables}.values())
        self._number()
        self.built = True

    def _number(self) -> None:
        self._places = {id(variable): place for place, variable in enumerate(self._trained)}

    def require_known(self, variables: Sequence[Any]) -> None:
        """Raise an error for variables that the optimizer was not built for.

        Raises
        ------
        NotATensorError, DtypeError
            If one can be trained by no optimizer.
        OptionError
            If one is not among those of `build`.
        """
        places = self._places
        unknown = [variable for variable in variables if id(variable) not in places]
        if unknown:
            require_trained(unknown)
            raise OptionError(
                f"the optimizer {self.name!r} was not built for the variable {unknown[0].name!r}: it knows "
                f"{[variable.name for variable in self._trained]}. Make a new optimizer for new variables, or build "
                "one for all of them"
            )

    @property
    def variables(self) -> list[Variable]:
        """The variables that the optimizer keeps, in Keras's order, first the number of steps.

        Returns
        -------
        list of Variable
            Assigning to them changes what the next step begins with.
        """
        return list(self._kept)

    def add_variable(
        self,
        shape: Sequence[int],
        initializer: Any = "zeros",
        dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> Variable:
        """Make a variable that belongs to the optimizer.

        Parameters
        ----------
        shape : sequence of int
        initializer : str, callable or Initializer, optional
        dtype : dtype, optional
            `nn.config.floatx` if left out.
        name : str, optional

        Returns
        -------
        Variable
            Not trainable.

        Raises
        ------
        OptionError
            If the initializer is unknown.
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
        self._kept.append(variable)
        return variable

    def add_variable_from_reference(
        self, reference_variable: Variable, name: str = "var", initializer: Any = "zeros"
    ) -> Variable:
        """Make a variable of the optimizer with the shape and dtype of one that it trains.

        Parameters
        ----------
        reference_variable : Variable
        name : str, optional
            Stands behind the name of the other one, as in "adam/dense_kernel_momentum".
        initializer : str, callable or Initializer, optional

        Returns
        -------
        Variable
        """
        path = f"{reference_variable.name.replace('/', '_')}_{name}"
        return self.add_variable(
            reference_variable.shape, initializer, reference_variable.dtype, path
        )

    def add_optimizer_variables(
        self, trainable_variables: Sequence[Variable], name: Any, initializer: Any = "zeros"
    ) -> Any:
        """Make a variable of the optimizer, or several, for each variable that it trains.

        Parameters
        ----------
        trainable_variables : sequence of Variable
        name : str or sequence of str
        initializer : str, callable or Initializer, or sequence of such, optional

        Returns
        -------
        list of Variable, or tuple of such lists
            A list for each name.

        Raises
        ------
        OptionError
            If there are not as many initializers as names.
        """
        names = [name] if isinstance(name, str) else list(name)
        several = isinstance(initializer, list | tuple)
        first = list(initializer) if several else [initializer] * len(names)
        if len(first) != len(names):
            raise OptionError(
                f"there are {len(names)} names and {len(first)} initializers: give one for each name"
            )
        rows = [
            [self.add_variable_from_reference(v, n, i) for n, i in zip(names, first, strict=True)]
            for v in trainable_variables
        ]
        columns = tuple([row[column] for row in rows] for column in range(len(names)))
        return columns[0] if isinstance(name, str) else columns

    def get_state(self) -> dict[str, Any]:
        """The values of `variables` by names, such as for a file.

        Returns
        -------
        dict of str to numpy.ndarray
            Copies. The names are made of the place among `variables` and of the last part of the variable's name.

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
        """Give `variables` the values that `get_state` returned.

        Parameters
        ----------
        state : mapping of str to array_like

        Raises
        ------
        OptionError
            If a name is missing or unknown, such as before the optimizer is built. Nothing is changed then.
        ShapeError
            If a value has another shape. Nothing is changed then either.
        """
        named = self._named()
        missing, unknown = (
            [n for n in named if n not in state],
            [n for n in state if n not in named],
        )
        if missing or unknown:
            built = "" if self.built else "; it is not built yet: call build(variables) first"
            raise OptionError(
                f"this is no state of the optimizer {self.name!r}: missing are {missing}, unknown {unknown}{built}"
            )
        self._assign(list(named.values()), [state[name] for name in named])

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Give `variables` values, in their order.

        Parameters
        ----------
        weights : sequence of array_like

        Raises
        ------
        ShapeError
            If their number or a shape differs. Nothing is changed then.
        """
        self._assign(self.variables, list(weights))

    def _assign(self, variables: Sequence[Variable], values: Sequence[Any]) -> None:
        arrays = [np.asarray(unwrap(value)) for value in values]
        self._require_fitting(variables, arrays)
        for variable, array in zip(variables, arrays, strict=True):
            variable.assign(array, read_value=False)

    def require_weights(self, weights: Sequence[Any]) -> None:
        """Raise the error of `set_weights` for values, of which the shapes and dtypes are enough."""
        self._require_fitting(self.variables, weights)

    def _require_fitting(self, variables: Sequence[Variable], arrays: Sequence[Any]) -> None:
        expected, shapes = [v.shape for v in variables], [array.shape for array in arrays]
        if expected != shapes:
            built = "" if self.built else "; it is not built yet: call build(variables) first"
            raise ShapeError(
                f"the variables of the optimizer {self.name!r} have the shapes {expected}, not {shapes}{built}"
            )
        for variable, array in zip(variables, arrays, strict=True):
            if not np.can_cast(array.dtype, variable.dtype, "same_kind"):
                raise DtypeError(
                    f"{variable.name!r} is {variable.dtype}, and cannot take values of {array.dtype}"
                )

    def _named(self) -> dict[str, Variable]:
        return {f"{n}/{v.name.rpartition('/')[2]}": v for n, v in enumerate(self.variables)}

    def __copy__(self) -> Any:
        """An optimizer for the same variables, with a state of its own."""
        return deepcopy(self, {id(variable): variable for variable in self._trained})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _warned=set())
        self._number()


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
        trace = tracer()
        stays = trace is not None and trace.reads(rate) and not rate.ndim and np.isfinite(rate)
        return rate if stays else _rate_of(rate)


def _rate_of(value: Any) -> float:
    """A learning rate as a number."""
    try:
        return number(value, "a learning rate")
    except OptionError as error:
        raise OptionError(
            f"{error}: give a number such as 0.01, a schedule, or a function of no arguments"
        ) from None
