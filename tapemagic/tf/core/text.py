"""Tensors of strings, as far as constants, printing, comparing and ``tf.strings`` need them; they have no gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import NotNumbersError
from tapemagic.tf.core.printing import _own_lines
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.core.tensor import eager


class StringType:
    """The dtype of `StringTensor`: ``tf.string``.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.constant("a").dtype == tf.string
    True
    """

    name = "string"
    as_numpy_dtype = np.object_
    is_floating = is_integer = is_complex = is_bool = False

    def __repr__(self) -> str:
        return "tf.string"

    def __str__(self) -> str:
        return "<dtype: 'string'>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StringType) or other in ("string", str)

    def __hash__(self) -> int:
        return hash("string")


string = StringType()


class StringTensor:
    """A tensor of byte strings.

    Parameters
    ----------
    value : str, bytes, or nested lists or an array of them

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.constant(["a", "bc"])[1])
    tf.Tensor(b'bc', shape=(), dtype=string)
    """

    dtype = string

    def __init__(self, value: Any) -> None:
        array = np.empty(np.shape(value), object)
        flat = np.asarray(value, object).ravel()
        array.ravel()[...] = [x.encode() if isinstance(x, str) else bytes(x) for x in flat]
        self._array = array

    @property
    def shape(self) -> TensorShape:
        """The length of each axis."""
        return TensorShape(self._array.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._array.ndim

    def numpy(self) -> Any:
        """Return the bytes of a single string, or an array of bytes."""
        return self._array.copy() if self.ndim else self._array[()]

    def get_shape(self) -> TensorShape:
        """Return the length of each axis."""
        return self.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array.copy()

    def __getitem__(self, index: Any) -> StringTensor:
        return StringTensor(self._array[unwrap(index) if isinstance(index, Traced) else index])

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[StringTensor]:
        return (self[k] for k in range(len(self)))

    def __eq__(self, other: object) -> Any:
        return eager(np.asarray(self._array == string_array(other), bool))

    def __ne__(self, other: object) -> Any:
        return eager(np.asarray(self._array != string_array(other), bool))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> StringTensor:
        return StringTensor(self._array + string_array(other))

    def __radd__(self, other: Any) -> StringTensor:
        return StringTensor(string_array(other) + self._array)

    def __str__(self) -> str:
        words = _own_lines(str(self._array) if self.ndim else repr(self._array[()]))
        return f"tf.Tensor({words}, shape={self.shape}, dtype=string)"

    def __repr__(self) -> str:
        words = _own_lines(repr(self._array) if self.ndim else repr(self._array[()]))
        return f"<tf.Tensor: shape={self.shape}, dtype=string, numpy={words}>"

    def _refuse(self, *_others: Any) -> Any:
        raise NotNumbersError(
            "a tensor of strings has no arithmetic and no gradient: write tf.strings.to_number(x) for numbers in it"
        )

    __mul__ = __sub__ = __truediv__ = __pow__ = __matmul__ = __neg__ = __float__ = __int__ = _refuse
    __rmul__ = __rsub__ = __rtruediv__ = _refuse


def is_text(value: Any) -> bool:
    """Return True for a string, or for nested lists or an array whose first element is a string."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "SU" or (
            value.dtype == object and value.size > 0 and isinstance(value.flat[0], str | bytes)
        )
    return isinstance(value, str | bytes | StringTensor)


def string_array(value: Any) -> Any:
    """Return an array of bytes, or raise NotNumbersError for anything but strings."""
    if isinstance(value, StringTensor):
        return value._array
    if isinstance(value, list | tuple) and any(isinstance(x, StringTensor) for x in value):
        return np.stack([string_array(x) for x in value])
    if not is_text(value):
        raise NotNumbersError(
            f"expected strings, not {value!r}: write tf.strings.as_string(x) for numbers"
        )
    return StringTensor(value)._array


def each_string(function: Callable[[bytes], Any], value: Any, dtype: Any = None) -> Any:
    """Apply a function to each string; return strings, or numbers of a dtype."""
    array = string_array(value)
    results = [function(x) for x in array.ravel()]
    if dtype is None:
        result = np.empty(array.shape, object)
        result.ravel()[...] = results
        return StringTensor(result)
    return eager(np.asarray(results, dtype).reshape(array.shape))
