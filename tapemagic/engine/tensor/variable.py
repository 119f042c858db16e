"""Variable: a value that may change between reads, and that tapes watch by themselves."""

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
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Tensor, Traced, getitem, unwrap_index, wrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import (
    DtypeError,
    ImmutableVariableError,
    NotComputedError,
    OptionError,
    ShapeError,
)

_created = itertools.count().__next__
_living: weakref.WeakValueDictionary[int, Variable] = weakref.WeakValueDictionary()

value_of = attrgetter("_handle._value")
"""Gives the value of a variable, and no tape hears of it."""


def living() -> list[Variable]:
    """All variables that there are just now, oldest first.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> any(each is v for each in living())
    True
    """
    found = (reference() for reference in _living.valuerefs())
    return [variable for variable in found if variable is not None]


def identity(x: Any) -> Any:
    """The value of `x` as a new value."""
    return x


_IDENTITY = registry.operation(identity)
_GETITEM = registry.operation(getitem)


class Variable(Traced):
    """A value that may change, such as a weight. A tape watches a trainable one as soon as it is read.

    Parameters
    ----------
    initial_value : array_like or Tensor
        Copied. The variable keeps its dtype and shape.
    trainable : bool, optional
        Whether tapes watch it by themselves.
    name : str, optional
        The name in reports and messages.
    dtype : dtype, optional
        NumPy's own choice if left out: float64 for Python floats.

    Raises
    ------
    DtypeError
        If `dtype` is unknown, or none of numbers, or `initial_value` does not fit into it.
    NotComputedError
        If `initial_value` is lazy: a Dask array, or a tensor with one.
    NotNumbersError
        If `initial_value` is not made of numbers, or of lists of different lengths.
    OptionError
        If `trainable` is no truth value, or `name` no text.

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
        if not isinstance(name, str | None):
            raise OptionError(f"a variable's name is text, not {shown(name)}: write name='w'")
        self.name = name or "Variable"
        self._created = _created()
        _living[self._created] = self

    @property
    def _value(self) -> Any:
        return self._handle._value

    @property
    def _id(self) -> int:  # type: ignore[override] # read-only here
        return self._handle._id

    def _read(self) -> Tensor:
        for tape in live():
            tape._variable_read(self)
        return self._handle

    @property
    def trainable(self) -> bool:
        """Whether tapes watch this variable by themselves."""
        return self._trainable

    def read_value(self) -> Tensor:
        """The value now, as a tensor of its own that tapes connect with this variable."""
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
        """Change the value. Tapes do not record it: a later read starts a new path.

        Parameters
        ----------
        value : array_like or Tensor
            Of this variable's shape; cast to its dtype.
        use_locking, name : optional
            Accepted for TensorFlow's sake, and not used.
        read_value : bool, optional
            Whether to return the new value.

        Returns
        -------
        Tensor or None
            The new value, read from this variable.

        Raises
        ------
        DtypeError
            If `value` is complex, and this variable is not; or if this variable holds whole numbers, and `value`
            has fractions or is too large for them. The variable keeps its value.
        NotComputedError
            If `value` is lazy.
        NotNumbersError
            If `value` is not made of numbers.
        ShapeError
            If `value` has another shape.
        """
        return self._set(_numbers(value, self.name), value, "assigned", read_value)

    def _set(self, new: Any, given: Any, how: Kind, read_value: bool) -> Tensor | None:
        """Replace the value, and record an event that says from which value it was computed."""
        if new.shape != self.shape:
            raise ShapeError(
                f"cannot assign a value of shape {new.shape} to {self.name!r}, which has shape {self.shape}: "
                "a variable keeps its shape, so reshape or broadcast the value first"
            )
        self._handle = _told(self, wrap(self._fitting(new), self._id))
        source = given._read()._id if isinstance(given, Traced) else 0
        for tape in live():
            tape._record_event(how, self._id, source)
        return self.read_value() if read_value else None

    def _fitting(self, new: Any) -> Any:
        """A value cast to this variable's dtype."""
        if new.dtype.kind == "c" and self.dtype.kind != "c":
            raise DtypeError(
                f"cannot assign a value of {new.dtype} to {self.name!r}, which is {self.dtype}: give it np.real(...)"
            )
        return new if new.dtype == self.dtype else cast_exactly(new, self.dtype)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,  # noqa: ARG002 (TensorFlow's signature)
        name: str | None = None,  # noqa: ARG002
        read_value: bool = True,
    ) -> Tensor | None:
        """Add `delta`, of this variable's shape or a single number; otherwise as `assign`."""
        return self._set(self._changed(np.add, delta), delta, "changed", read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,  # noqa: ARG002 (TensorFlow's signature)
        name: str | None = None,  # noqa: ARG002
        read_value: bool = True,
    ) -> Tensor | None:
        """Subtract `delta`, of this variable's shape or a single number; otherwise as `assign`."""
        return self._set(self._changed(np.subtract, delta), delta, "changed", read_value)

    def _changed(self, function: np.ufunc, delta: Any) -> Any:
        change = _numbers(delta, self.name)
        if self.dtype.kind in "iu":
            self._fitting(change)
        try:
            return function(self._value, change)
        except ValueError:
            raise ShapeError(
                f"cannot {function.__name__} a value of shape {change.shape} to {self.name!r}, "
                f"which has shape {self.shape}"
            ) from None

    def __getitem__(self, index: Any) -> Any:
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
    """The array that a variable of a name gets, which is in memory."""
    if is_lazy(getattr(value, "_value", value)):
        raise NotComputedError(
            f"the variable {name!r} cannot hold a value that is not computed, since each step's graph would contain "
            "all earlier ones: write x.compute() for the value, and keep data that is larger than memory in a "
            "tapemagic.constant"
        )
    return private_array(value, dtype)


def reset(variable: Variable, value: Any) -> None:
    """Give a variable another value as if it had been made with it: no tape hears of it.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> reset(v, 2.0)
    >>> v
    Variable(2.0, name='Variable')
    """
    variable._handle = _told(
        variable, wrap(variable._fitting(_numbers(value, variable.name)), variable._id)
    )


def _told(variable: Variable, handle: Tensor) -> Tensor:
    """The new value of a variable, of which the tracer of this thread is told."""
    one = tracer()
    if one is not None:
        one.assigns(variable, handle._value)
    return handle


def exchange(variable: Variable, value: Any) -> Any:
    """Put a value of a variable's shape and dtype in the place of its own, which is returned; no tape hears of it.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> exchange(v, np.float64(2.0))
    np.float64(1.0)
    >>> v
    Variable(2.0, name='Variable')
    """
    made = wrap(value, variable._id)
    # No call between the next two lines: no other thread comes in.
    before = variable._handle
    variable._handle = made
    return before._value


def exchange_if(variable: Variable, expected: Any, value: Any) -> bool:
    """Do as `exchange`, if a variable has a certain value still; whether it had.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> exchange_if(v, value_of(v), np.float64(2.0)), exchange_if(v, None, np.float64(3.0)), v
    (True, False, Variable(2.0, name='Variable'))
    """
    made = wrap(value, variable._id)
    if variable._handle._value is expected:  # no call, and so no other thread, before the next line
        variable._handle = made
        return True
    return False


def change_in_place(variable: Variable, change: Callable[[Any], object]) -> None:
    """Let a function write into a variable's array, or into a copy if anything else still reads that array.

    So an optimizer allocates nothing, and what a tape or a view of the variable has kept stays as it was.

    Parameters
    ----------
    variable : Variable
    change : callable
        Called with an array of the variable's shape and dtype, which it may write into. If it raises an error, the
        variable may be left with a part of the change.

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
    """An array with a variable's value, for `put_array`: its own if nothing else reads that, else a copy."""
    return writable_arrays((variable,))[0]


def writable_arrays(variables: Sequence[Variable]) -> list[Any]:
    """Arrays with the values of variables, for `put_arrays`; each as `writable_array` gives it."""
    arrays = []
    for variable in variables:
        handle = variable._handle
        array = handle._value
        if (
            array.__class__ is not np.ndarray
            or _count(handle) != _ALONE[0]
            or _count(array) != _ALONE[1]
            or array.base is not None
            or not array.flags.writeable
        ):
            told = tracer()
            array = np.copy(array) if told is None else told.own(array)
        arrays.append(array)
    return arrays


def exchange_array(variable: Variable, new: Any) -> Any:
    """Make an array of a variable's shape and dtype its value, and return one with the value before.

    Returns
    -------
    numpy.ndarray
        The caller may write into it: it is a copy if anything else reads the array before.

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
    """Make an array of a variable's shape and dtype its value; nobody may write into that from then on.

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
    """Make arrays the values of variables, as `put_array` does for one."""
    for variable, array in zip(variables, arrays, strict=True):
        if variable._handle._value is not array:
            handle = wrap(array if array.ndim else array[()], variable._id)
            variable._handle = _told(variable, handle)
    for tape in live():
        for variable in variables:
            tape._record_event("changed", variable._id, 0)


_count = getattr(sys, "getrefcount", lambda _: float("nan"))
"""The number of references to an object; not equal to any number where Python does not count them."""


def _references(variable: Variable) -> tuple[float, float]:
    """The numbers of references to a variable's tensor and to its array, counted as `writable_arrays` does."""
    handle = variable._handle
    array = handle._value
    return _count(handle), _count(array)


_ALONE = _references(Variable(np.zeros(1)))
"""The numbers of references where nothing else refers to the array: versions of Python count differently."""


def set_trainable(variable: Variable, trainable: bool) -> None:
    """Set whether tapes watch a variable by themselves from now on.

    Examples
    --------
    >>> v = Variable(1.0)
    >>> set_trainable(v, False)
    >>> v.trainable
    False
    """
    variable._trainable = bool_option(trainable, "trainable")


def oldest_first(variables: Iterable[Variable]) -> list[Variable]:
    """Variables in the order of their creation."""
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
        """Change this part of the variable, and leave the rest as it is."""
        new = self._variable._fitting(_numbers(value, self._variable.name))
        whole = np.array(self._variable._value)
        try:
            whole[unwrap_index(self._index)] = new
        except ValueError:
            raise ShapeError(
                f"cannot assign a value of shape {new.shape} to a part of shape {self.shape} "
                f"of {self._variable.name!r}"
            ) from None
        return self._variable._set(whole, value, "changed", read_value=True)
