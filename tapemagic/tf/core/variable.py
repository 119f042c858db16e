"""ResourceVariable: an engine variable that behaves and prints like ``tf.Variable``."""

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
"""The engine's slot for a variable's name, which `name` below hides."""


class VariableSynchronization(enum.Enum):
    """Synchronization of a variable's copies: no effect, because there is a single copy."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """Aggregation of a variable's copies: no effect, because there is a single copy."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class ResourceVariable(Eager, Variable):  # type: ignore[misc] # a part is an EagerSlice
    """Mutable value, such as a weight: TensorFlow's ``tf.Variable``.

    Parameters
    ----------
    initial_value : array_like, Tensor or callable
        The value, or a function without arguments that returns it.
    trainable : bool, optional
        Whether tapes watch it automatically. Default: True.
    name : str, optional
        Shown with enclosing scopes as prefix and ``:0`` as suffix.
    dtype : dtype, optional
        Default: float32 or int32 for Python numbers, the array's own for arrays.
    constraint : callable, optional
        Stored as an attribute, for optimizers.
    shape : sequence of int, optional
        Checked against the value's shape.
    validate_shape, caching_device, variable_def, import_scope, synchronization, aggregation : optional
        Accepted and ignored: there is one device, and there are no graphs.

    Raises
    ------
    InvalidArgumentError
        If the value is a tensor of another dtype, or its shape differs from `shape`.
    OptionError
        Without an initial value.

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
        # None is the default in TensorFlow's signature too, so Python cannot report a missing argument.
        if initial_value is None:
            raise OptionError(
                "a tf.Variable needs an initial value: write tf.Variable(0.0), or tf.Variable(tf.zeros((3, 2)))"
            )
        start = initial_value() if callable(initial_value) else initial_value
        if isinstance(start, Traced):
            # A variable made from a tensor is a new leaf: gradients do not flow into the value that it was initialized
            # with.
            record_exit(start, "tf.Variable()")
        value = unwrap(tensor(start, dtype))
        if shape is not None and validate_shape:
            TensorShape(value.shape).assert_is_compatible_with(shape)
        Variable.__init__(self, value, trainable is None or trainable, scoped(name or "Variable"))
        self.constraint = constraint

    @property
    def name(self) -> str:
        """Name with enclosing scopes as prefix and ``:0`` as suffix."""
        return f"{_own_name.__get__(self)}:0"

    @name.setter
    def name(self, name: str) -> None:
        _own_name.__set__(self, name)

    @property
    def path(self) -> str:
        """Name with enclosing layers as prefix, such as ``dense/kernel``, as Keras 3 calls it."""
        return str(_own_name.__get__(self))

    @property
    def synchronization(self) -> VariableSynchronization:
        """Always AUTO, as there is only one copy."""
        return VariableSynchronization.AUTO

    @property
    def aggregation(self) -> VariableAggregation:
        """Always NONE, as there is only one copy."""
        return VariableAggregation.NONE

    @property
    def initial_value(self) -> Any:
        """Not stored: reading it raises an error."""
        raise AttributeError(
            "a variable does not store its initial value: keep a copy of it yourself",
            name="initial_value",
            obj=self,
        )

    def read_value(self) -> Any:
        """Return the current value as a tensor that tapes connect with this variable."""
        return eager(super().read_value())

    value = read_value

    def _set(
        self, value: Any, assigned: Any, how: Any, read_value: bool, update: Any = None
    ) -> Any:
        """Replace the value."""
        read = super()._set(value, assigned, how, read_value, update)
        # TensorFlow's assign returns something that can assign again, as in w.assign(1.0).assign_add(2.0).
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
        """Check that a value fits this variable's dtype."""
        return operand(value, unwrap(self).dtype, f"the variable {self.name!r}")

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Assign `updates` to the parts at `indices`, whose last axis holds coordinates."""
        return self._scattered(indices, updates, name, "update")

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add `updates` to the parts at `indices`; updates for a repeated index are summed."""
        return self._scattered(indices, updates, name, "add")

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract `updates` from the parts at `indices`."""
        return self._scattered(indices, updates, name, "subtract")

    def _scattered(self, indices: Any, updates: Any, _name: str | None, how: str) -> Any:
        places = tuple(np.moveaxis(np.asarray(unwrap(tensor(indices))), -1, 0))
        values = unwrap(tensor(self._adopting(updates)))

        def update(value: Any, values: Any) -> Any:
            # A copy: tapes keep the old array for derivatives that were recorded before.
            changed = np.array(value)
            try:
                if how == "update":
                    changed[places] = values
                else:
                    # ufunc.at, since x[i] += y counts a repeated index once.
                    getattr(np, how).at(changed, places, values)
            except (IndexError, ValueError) as error:
                raise InvalidArgumentError(f"scatter_nd_{how} of {self.name!r}: {error}") from None
            return changed

        return self._set(values, updates, "assigned", True, update)

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
    """Rebuild a pickled variable."""
    variable = ResourceVariable(value, trainable, constraint=constraint)
    # Set afterwards: the constructor would add the scopes in which it is called.
    variable.name = name.removesuffix(":0")
    return variable


class UnreadVariable(Eager, Slice):
    """Result of an assignment: the new value, connected with the variable, to which it can assign again."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """TensorFlow's name for such a value."""
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
        # As a tensor: a pickled result cannot refer to the variable of another process.
        return Tensor, (self._value,)


# TensorFlow's class is called so, and programs see the name in type(x).__name__.
UnreadVariable.__name__ = UnreadVariable.__qualname__ = "_UnreadVariable"
