"""Variable: a value that may change between reads, and that tapes watch automatically."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine import registry
from tapemagic.engine.events import Kind, record_exit, record_text
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import live, new_id
from tapemagic.engine.tensor.coercion import bool_option, cast_exactly, private_array, value_text
from tapemagic.engine.tensor.dispatch import apply, usual_operands
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Tensor, Traced, getitem, unwrap_index, wrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import (
    DtypeError,
    ImmutableVariableError,
    NotComputedError,
    OptionError,
    ShapeError,
    TapeError,
)

_created = itertools.count().__next__
_living: weakref.WeakValueDictionary[int, Variable] = weakref.WeakValueDictionary()

value_of = attrgetter("_handle._value")
"""Return the value of a variable without recording a read."""


def living() -> list[Variable]:
    """Return all variables that exist now, oldest first.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> any(each is v for each in living())
    True
    """
    references = (reference() for reference in _living.valuerefs())
    return [variable for variable in references if variable is not None]


def identity(x: Any) -> Any:
    """Return the value of `x` as a new value."""
    return x


_IDENTITY = registry.operation(identity)
_GETITEM = registry.operation(getitem)


class Variable(Traced):
    """A value that may change, such as a weight. A tape watches a trainable variable as soon as it is read.

    Parameters
    ----------
    initial_value : array_like or Tensor
        Copied. The variable keeps its dtype and shape.
    trainable : bool, optional
        Whether tapes watch it automatically.
    name : str, optional
        The name in reports and messages.
    dtype : dtype, optional
        Default: NumPy's choice, which is float64 for Python floats.

    Raises
    ------
    DtypeError
        If `dtype` is unknown or not numeric, or `initial_value` doesn't fit into it.
    NotComputedError
        If `initial_value` is lazy: a Dask array, or a tensor that contains one.
    NotNumbersError
        If `initial_value` contains something other than numbers, or lists of different lengths.
    OptionError
        If `trainable` isn't True or False, or `name` isn't a string.

    Examples
    --------
    >>> import tapemagic as tm
    >>> v = tm.Variable([1.0, 2.0], name="v")
    >>> v.assign_add([0.5, 0.5])
    Tensor([1.5, 2.5])
    >>> v
    Variable([1.5, 2.5], name='v')
    """

    __slots__ = ("__weakref__", "_created", "_handle", "_trainable", "name")

    def __init__(
        self,
        initial_value: Any,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        if isinstance(initial_value, Traced):
            record_exit(initial_value, "tapemagic.Variable()")
        self._handle = wrap(_numbers(initial_value, name or "Variable", dtype), new_id())
        self._trainable = bool_option(trainable, "trainable")
        # TensorFlow's second parameter is `trainable`, so that Variable(1.0, "w") is a likely
        # mistake.
        if not isinstance(name, str | None):
            raise OptionError(
                f"a variable's name must be a string, not {shown(name)}: write name='w'"
            )
        self.name = name or "Variable"
        self._created = _created()
        _living[self._created] = self
        active = tracer()
        if active is not None:
            active.record_creation(self)

    @property
    def _value(self) -> Any:
        return self._handle._value

    @property
    def _id(self) -> int:  # type: ignore[override] # read-only here
        return self._handle._id

    def _read(self) -> Tensor:
        # Also for variables that aren't trainable: a read is recorded by `variable_reads`.
        for tape in live():
            tape._variable_read(self)
        return self._handle

    @property
    def trainable(self) -> bool:
        """Whether tapes watch this variable automatically."""
        return self._trainable

    def read_value(self) -> Tensor:
        """Return the value now, as a new tensor that tapes connect with this variable."""
        tensor: Tensor = apply(_IDENTITY, (self,), {})
        return tensor

    value = read_value

    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,  # noqa: ARG002 (TensorFlow's signature)
        name: str | None = None,  # noqa: ARG002
        read_value: bool = True,
    ) -> Tensor | None:
        """Change the value. Tapes don't record this as an operation: later reads start a new path.

        Parameters
        ----------
        value : array_like or Tensor
            Of this variable's shape; it is cast to this variable's dtype.
        use_locking, name : optional
            Ignored; they exist for compatibility with TensorFlow. Updates by several threads are never lost.
        read_value : bool, optional
            Whether to return the new value.

        Returns
        -------
        Tensor or None
            The new value, read from this variable.

        Raises
        ------
        DtypeError
            If `value` is complex and this variable isn't, or if this variable holds integers and `value` has fractions
            or is out of their range. The variable keeps its value.
        NotComputedError
            If `value` is lazy.
        NotNumbersError
            If `value` contains something other than numbers.
        ShapeError
            If `value` has a different shape.
        """
        return self._set(_numbers(value, self.name), value, "assigned", read_value)

    def _set(
        self,
        value: Any,
        assigned: Any,
        how: Kind,
        read_value: bool,
        update: Callable[[Any, Any], Any] | None = None,
    ) -> Tensor | None:
        """Replace the value, and record an event with the id of the assigned tensor.

        - `update`: Computes the new value from the current value and `value`. By default, it is `value`.
        """
        while True:
            before = self._handle
            new = value if update is None else update(before._value, value)
            if new.shape != self.shape:
                raise ShapeError(
                    f"cannot assign a value of shape {new.shape} to {self.name!r}, which has shape {self.shape}: "
                    "a variable keeps its shape, so reshape or broadcast the value first"
                )
            handle = _report_assignment(self, wrap(self._fitting(new), self._id))
            # If another thread assigned a value meanwhile, the update is computed again from that value: it would
            # be lost otherwise. There is no call, hence no thread switch, before the next line.
            if update is None or self._handle is before:
                self._handle = handle
                break
        source = assigned._read()._id if isinstance(assigned, Traced) else 0
        for tape in live():
            tape._record_event(how, self._id, source)
        return self.read_value() if read_value else None

    def _fitting(self, new: Any) -> Any:
        """Cast a value to this variable's dtype."""
        if new.dtype.kind == "c" and self.dtype.kind != "c":
            raise DtypeError(
                f"cannot assign a value of {new.dtype} to {self.name!r}, which is {self.dtype}: assign np.real(...)"
            )
        return new if new.dtype == self.dtype else cast_exactly(new, self.dtype)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,  # noqa: ARG002 (TensorFlow's signature)
        name: str | None = None,  # noqa: ARG002
        read_value: bool = True,
    ) -> Tensor | None:
        """Add `delta`, of this variable's shape or a single number; for parameters and errors, see `assign`."""
        return self._change(np.add, delta, read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,  # noqa: ARG002 (TensorFlow's signature)
        name: str | None = None,  # noqa: ARG002
        read_value: bool = True,
    ) -> Tensor | None:
        """Subtract `delta`, of this variable's shape or a single number; for parameters and errors, see `assign`."""
        return self._change(np.subtract, delta, read_value)

    def _change(self, function: np.ufunc, delta: Any, read_value: bool) -> Tensor | None:
        change = _numbers(delta, self.name)
        # NumPy would add 0.5 to an integer variable, and the cast of the sum would fail with a
        # message about the sum.
        if self.dtype.kind in "iu":
            self._fitting(change)
        try:
            return self._set(change, delta, "changed", read_value, function)
        except ValueError as error:
            if isinstance(
                error, TapeError
            ):  # its message is ours already, as for a sum with more axes
                raise
            raise ShapeError(
                f"cannot {function.__name__} a value of shape {change.shape} to {self.name!r}, "
                f"which has shape {self.shape}"
            ) from None

    def __getitem__(self, index: Any) -> Slice:
        # TensorFlow allows v[0].assign(value), so a part remembers its variable.
        return Slice(super().__getitem__(index), self, index)

    def __repr__(self) -> str:
        record_text(self, "repr()")
        text = value_text(self._value, len("Variable("))
        return f"Variable({text}, name={self.name!r})"

    def __copy__(self) -> Variable:
        record_exit(self, "copy.copy()")
        return Variable(self._value, self._trainable, self.name)

    def __deepcopy__(self, memo: Any) -> Variable:
        record_exit(self, "copy.deepcopy()")
        return Variable(self._value, self._trainable, self.name)

    def __reduce__(self) -> Any:
        record_text(self, "pickle")
        return Variable, (self._value, self._trainable, self.name)

    def _refuse(self, _other: Any) -> Any:
        raise ImmutableVariableError(
            f"an in-place operator cannot change the variable {self.name!r}: write v.assign_add(...), "
            "v.assign_sub(...) or v.assign(...)"
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = __imatmul__ = _refuse
    __ifloordiv__ = __imod__ = _refuse


def _numbers(value: Any, name: str, dtype: DTypeLike | None = None) -> Any:
    """Convert a value to the array that the variable `name` gets; a lazy value raises an error."""
    if is_lazy(getattr(value, "_value", value)):
        raise NotComputedError(
            f"the variable {name!r} cannot hold a value that isn't computed, because each step's graph would contain "
            "all earlier steps: write x.compute() for the value, and keep data that is larger than memory in a "
            "tapemagic.constant"
        )
    return private_array(value, dtype)


def reset(variable: Variable, value: Any) -> None:
    """Replace a variable's value as if the variable had been created with the new value, without an event on tapes.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> reset(v, 2.0)
    >>> v
    Variable(2.0, name='Variable')
    """
    variable._handle = _report_assignment(
        variable, wrap(variable._fitting(_numbers(value, variable.name)), variable._id)
    )


def _report_assignment(variable: Variable, handle: Tensor) -> Tensor:
    """Report a variable's new value to the tracer of this thread, and return the value."""
    active = tracer()
    if active is not None:
        active.record_assignment(variable, handle._value)
    return handle


def exchange(variable: Variable, value: Any) -> Any:
    """Swap a variable's value for one of the same shape and dtype; return the old value, without an event on tapes.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> exchange(v, np.float64(2.0))
    np.float64(1.0)
    >>> v
    Variable(2.0, name='Variable')
    """
    handle = wrap(value, variable._id)
    # No call between the next two lines, so CPython can't switch to another thread between them.
    before = variable._handle
    variable._handle = handle
    return before._value


def exchange_if(variable: Variable, expected: Any, value: Any) -> bool:
    """Swap a variable's value like `exchange`, but only if it is still `expected`; return whether it was.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> exchange_if(v, value_of(v), np.float64(2.0)), exchange_if(v, None, np.float64(3.0)), v
    (True, False, Variable(2.0, name='Variable'))
    """
    handle = wrap(value, variable._id)
    if variable._handle._value is expected:  # no call, hence no thread switch, before the next line
        variable._handle = handle
        return True
    return False


def change_in_place(variable: Variable, change: Callable[[Any], object]) -> None:
    """Let a function write into a variable's array, or into a copy if anything else may still read that array.

    An optimizer so allocates no memory, and values that a tape or a view of the variable kept don't change.

    - `change`: Called with an array of the variable's shape and dtype, which it may write into. If it raises an error,
      the variable may keep a part of the change.

    Examples
    --------
    >>> v = Variable([1.0, 2.0])
    >>> change_in_place(v, lambda array: np.multiply(array, 10.0, out=array))
    >>> v
    Variable([10., 20.], name='Variable')
    """
    array = writable_array(variable)
    change(array)
    put_array(variable, array)


def writable_array(variable: Variable) -> Any:
    """Return an array with a variable's value for `put_array`: its own if nothing else reads that, else a copy."""
    return writable_arrays((variable,))[0]


def writable_arrays(variables: Sequence[Variable]) -> list[Any]:
    """Return arrays with the values of variables for `put_arrays`: see `writable_array`."""
    arrays = []
    for variable in variables:
        handle = variable._handle
        array = handle._value
        # The array may be written into if the variable is its only owner. A reference count can't
        # miss a reader: other
        # tensors and records refer to the handle or the array, and views refer to the array as
        # their base.
        if (
            array.__class__ is not np.ndarray
            or _count(handle) != _UNSHARED_COUNTS[0]
            or _count(array) != _UNSHARED_COUNTS[1]
            or array.base is not None
            or not array.flags.writeable
        ):
            told = tracer()
            array = np.copy(array) if told is None else told.owned_copy(array)
        arrays.append(array)
    return arrays


def exchange_array(variable: Variable, new: Any) -> Any:
    """Make an array of a variable's shape and dtype its value, and return an array with the old value.

    Returns numpy.ndarray: the caller may write into it: it is a copy if anything else reads the old array.

    Examples
    --------
    >>> v = Variable([1.0, 2.0])
    >>> exchange_array(v, np.array([3.0, 4.0]))
    array([1., 2.])
    >>> v
    Variable([3., 4.], name='Variable')
    """
    array = writable_array(variable)
    put_array(variable, new)
    return array


def put_array(variable: Variable, array: Any) -> None:
    """Make an array of a variable's shape and dtype its value; nothing may write into the array afterwards.

    Examples
    --------
    >>> v = Variable([1.0, 2.0])
    >>> array = writable_array(v)
    >>> array += 1.0
    >>> put_array(v, array)
    >>> v
    Variable([2., 3.], name='Variable')
    """
    put_arrays((variable,), (array,))


def put_arrays(variables: Sequence[Variable], arrays: Sequence[Any]) -> None:
    """Make arrays the values of variables: see `put_array`."""
    for variable, array in zip(variables, arrays, strict=True):
        if variable._handle._value is not array:
            handle = wrap(array if array.ndim else array[()], variable._id)
            variable._handle = _report_assignment(variable, handle)
    for tape in live():
        for variable in variables:
            tape._record_event("changed", variable._id, 0)


_count = getattr(sys, "getrefcount", lambda _: float("nan"))
"""The reference count of an object, or nan, which equals nothing, if this Python doesn't count references."""


def _references(variable: Variable) -> tuple[float, float]:
    """Return the reference counts of a variable's tensor and array, counted in the same way as in `writable_arrays`."""
    handle = variable._handle
    array = handle._value
    return _count(handle), _count(array)


_UNSHARED_COUNTS = _references(Variable(np.zeros(1)))
"""The reference counts of an unshared variable, measured at import because they differ between Python versions."""


def set_trainable(variable: Variable, trainable: bool) -> None:
    """Set whether tapes watch a variable automatically.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> set_trainable(v, False)
    >>> v.trainable
    False
    """
    variable._trainable = bool_option(trainable, "trainable")


def oldest_first(variables: Iterable[Variable]) -> list[Variable]:
    """Sort variables by their creation."""
    return sorted(variables, key=lambda variable: variable._created)


class Slice(Tensor):
    """A part of a variable, which can be read as a tensor and assigned to."""

    __slots__ = ("_index", "_variable")

    def __init__(self, part: Tensor, variable: Variable, index: Any) -> None:
        self._value = part._value
        self._id = part._id
        self._variable = variable
        self._index = index

    def assign(self, value: Any, name: str | None = None) -> Tensor | None:  # noqa: ARG002 (as above)
        """Change this part of the variable; the rest stays."""
        new = self._variable._fitting(_numbers(value, self._variable.name))

        def update(whole: Any, part: Any) -> Any:
            updated = np.array(whole)
            try:
                updated[unwrap_index(self._index)] = part
            except ValueError:
                raise ShapeError(
                    f"cannot assign a value of shape {part.shape} to a part of shape {self.shape} "
                    f"of {self._variable.name!r}"
                ) from None
            return updated

        return self._variable._set(new, value, "changed", True, update)


usual_operands.update((Variable, Slice))
