"""ResourceVariable: a variable of the engine that behaves and prints as TensorFlow's ``tf.Variable``."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from tapemagic.engine.events import record_exit, record_text
from tapemagic.engine.tensor.tensor import Tensor, Traced, unwrap
from tapemagic.engine.tensor.variable import Slice, Variable
from tapemagic.errors import OptionError
from tapemagic.tf.core import printing
from tapemagic.tf.core.convert import operand, tensor
from tapemagic.tf.core.name_scope import scoped
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.core.tensor import Eager, eager
from tapemagic.tf.errors import InvalidArgumentError

_own_name: Any = vars(Variable)["name"]
"""The place of a variable's name."""


class VariableSynchronization(enum.Enum):
    """The ways to synchronize copies of a variable; there is one copy here, so that they are all the same."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """The ways to aggregate copies of a variable; there is one copy here, so that they are all the same."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class ResourceVariable(Eager, Variable):
    """A value that may change, such as a weight: TensorFlow's ``tf.Variable``.

    Parameters
    ----------
    initial_value : array_like, Tensor or callable
        Or a function without arguments that returns one.
    trainable : bool, optional
        Whether tapes watch it by themselves: True if left out.
    name : str, optional
        Shown with the scopes around it in front, and ``:0`` behind.
    dtype : dtype, optional
        float32 or int32 for Python's numbers, NumPy's own for arrays, if left out.
    constraint : callable, optional
        Kept as an attribute, for optimizers.
    shape : sequence of int, optional
        That of the value, which is checked.
    validate_shape, caching_device, variable_def, import_scope, synchronization, aggregation : optional
        Accepted, and not used: there is one device, and there are no graphs.

    Raises
    ------
    InvalidArgumentError
        If the value is a tensor of another dtype, or has another shape.
    OptionError
        If there is no value.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> w = tf.Variable([1.0, 2.0], name="w")
    >>> w
    <tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>
    >>> w.assign_add([1.0, 1.0])
    <tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    """

    __slots__ = ("constraint",)

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise OptionError(
                "a tf.Variable begins with a value: write tf.Variable(0.0), or tf.Variable(tf.zeros((3, 2)))"
            )
        held = initial_value() if callable(initial_value) else initial_value
        if isinstance(held, Traced):
            record_exit(held, "tf.Variable()")
        value = unwrap(tensor(held, dtype))
        if shape is not None and validate_shape:
            TensorShape(value.shape).assert_is_compatible_with(shape)
        Variable.__init__(self, value, trainable is None or trainable, scoped(name or "Variable"))
        self.constraint = constraint

    @property
    def name(self) -> str:
        """The name, with the scopes around it in front and ``:0`` behind."""
        return f"{_own_name.__get__(self)}:0"

    @name.setter
    def name(self, name: str) -> None:
        _own_name.__set__(self, name)

    @property
    def synchronization(self) -> VariableSynchronization:
        """AUTO: there is one copy."""
        return VariableSynchronization.AUTO

    @property
    def aggregation(self) -> VariableAggregation:
        """NONE: there is one copy."""
        return VariableAggregation.NONE

    @property
    def initial_value(self) -> Any:
        """Refuse: it is not kept."""
        raise AttributeError(
            "the initial value of a variable is not kept: keep it under a name of its own",
            name="initial_value",
            obj=self,
        )

    def read_value(self) -> Any:
        """The value now, as a tensor of its own that tapes connect with this variable."""
        return eager(super().read_value())

    value = read_value

    def _set(self, new: Any, given: Any, how: Any, read_value: bool) -> Any:
        """Replace the value."""
        read = super()._set(new, given, how, read_value)
        return None if read is None else UnreadVariable(read, self, ...)

    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Change the value; see `tapemagic.Variable.assign`."""
        return super().assign(self._adopting(value), use_locking, name, read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add `delta`, of this variable's shape or a single number."""
        return super().assign_add(self._adopting(delta), use_locking, name, read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract `delta`, of this variable's shape or a single number."""
        return super().assign_sub(self._adopting(delta), use_locking, name, read_value)

    def _adopting(self, value: Any) -> Any:
        """A value in this variable's dtype."""
        return operand(value, unwrap(self).dtype, f"the variable {self.name!r}")

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Assign `updates` to the parts that `indices` name, the last axis of which counts axes."""
        return self._scattered(indices, updates, name, "update")

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add `updates` to the parts that `indices` name; those of a part that is named twice add up."""
        return self._scattered(indices, updates, name, "add")

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract `updates` from the parts that `indices` name."""
        return self._scattered(indices, updates, name, "subtract")

    def _scattered(self, indices: Any, updates: Any, _name: str | None, how: str) -> Any:
        changed = unwrap(self).copy()
        places = tuple(np.moveaxis(np.asarray(unwrap(tensor(indices))), -1, 0))
        values = unwrap(tensor(self._adopting(updates)))
        try:
            if how == "update":
                changed[places] = values
            else:
                getattr(np, how).at(changed, places, values)
        except (IndexError, ValueError) as error:
            raise InvalidArgumentError(f"scatter_nd_{how} of {self.name!r}: {error}") from None
        return self.assign(changed)

    def __repr__(self) -> str:
        record_text(self, "repr()")
        return printing.variable_code(self._value, self.name)

    __str__ = __repr__

    def __copy__(self) -> ResourceVariable:
        record_exit(self, "copy.copy()")
        return self._twin()

    def __deepcopy__(self, memo: Any) -> ResourceVariable:
        record_exit(self, "copy.deepcopy()")
        return self._twin()

    def _twin(self) -> ResourceVariable:
        return _restored(*self.__reduce__()[1])

    def __reduce__(self) -> Any:
        record_text(self, "pickle")
        return _restored, (self._value, self.trainable, self.name, self.constraint)


def _restored(value: Any, trainable: bool, name: str, constraint: Any) -> ResourceVariable:
    """A variable with a value and a name as they were."""
    made = ResourceVariable(value, trainable, constraint=constraint)
    made.name = name.removesuffix(":0")
    return made


class UnreadVariable(Eager, Slice):
    """A variable just assigned to: its new value, which tapes connect with it, and which can be assigned to again."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """TensorFlow's name for it."""
        return "UnreadVariable"

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        """Assign to the variable."""
        return self._variable.assign(*args, **kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        """Add to the variable."""
        return self._variable.assign_add(*args, **kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        """Subtract from the variable."""
        return self._variable.assign_sub(*args, **kwargs)

    def __repr__(self) -> str:
        record_text(self, "repr()")
        return printing.variable_code(self._value, self.name)

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return Tensor, (self._value,)


UnreadVariable.__name__ = UnreadVariable.__qualname__ = "_UnreadVariable"
