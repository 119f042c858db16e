"""Dtypes that print, compare and convert as TensorFlow's: ``tf.DType`` and its constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tensor.coercion import of_numbers
from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import DtypeError


class DType:
    """The type of the elements of a tensor; it stands wherever NumPy takes a dtype.

    Parameters
    ----------
    dtype : numpy.dtype

    Attributes
    ----------
    dtype : numpy.dtype
        NumPy's own. Its attributes, such as `kind` and `itemsize`, are here too.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.float32, tf.float32.name, tf.float32.is_floating)
    <dtype: 'float32'> float32 True
    >>> tf.float32 == "float32"
    True
    """

    __slots__ = ("char", "dtype", "itemsize", "kind", "name", "type")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.name = dtype.name
        self.kind = dtype.kind
        self.char = dtype.char
        self.type = dtype.type
        self.itemsize = dtype.itemsize

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"a DType has no attribute {name!r}", name=name, obj=self)
        return getattr(self.dtype, name)

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's scalar type, such as ``np.float32``."""
        return self.type

    @property
    def base_dtype(self) -> DType:
        """The same dtype: there are no references to tensors."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part."""
        return as_dtype(np.zeros((), self.dtype).real.dtype)

    @property
    def size(self) -> int:
        """The bytes of one element."""
        return self.itemsize

    @property
    def is_floating(self) -> Any:
        """Whether elements are real floating-point numbers."""
        return self.kind == "f"

    @property
    def is_complex(self) -> Any:
        """Whether elements are complex numbers."""
        return self.kind == "c"

    @property
    def is_integer(self) -> Any:
        """Whether elements are whole numbers."""
        return self.kind in "iu"

    @property
    def is_bool(self) -> Any:
        """Whether elements are truth values."""
        return self.kind == "b"

    @property
    def is_unsigned(self) -> Any:
        """Whether elements are whole numbers without sign."""
        return self.kind == "u"

    @property
    def is_quantized(self) -> Any:
        """False: there are no quantized dtypes."""
        return False

    @property
    def is_numpy_compatible(self) -> Any:
        """True: each of these is one of NumPy's."""
        return True

    @property
    def max(self) -> Any:
        """The largest number."""
        return self._limits("largest").max

    @property
    def min(self) -> Any:
        """The smallest number."""
        return self._limits("smallest").min

    @property
    def limits(self) -> tuple[Any, Any]:
        """The smallest and the largest number."""
        return self.min, self.max

    def _limits(self, what: str) -> Any:
        if self.kind in "iu":
            return np.iinfo(self.dtype)
        if self.kind == "f":
            return np.finfo(self.dtype)
        raise DtypeError(f"{self!r} has no {what} number: ask a real dtype, such as tf.float32")

    def is_compatible_with(self, other: Any) -> Any:
        """Whether a tensor of the other dtype may stand in the place of one of this."""
        return self == other

    def __eq__(self, other: object) -> Any:
        if other.__class__ is DType:
            return self.dtype is other.dtype or self.dtype == other.dtype
        if other is None:
            return False
        try:
            return self.dtype == as_dtype(other).dtype
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)

    def __copy__(self) -> DType:
        return self

    def __deepcopy__(self, memo: Any) -> DType:
        return self


_OF_NUMPY = {
    name: DType(np.dtype(name))
    for name in (
        "bool",
        "complex64",
        "complex128",
        "float16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    )
}
_OF_OBJECT: dict[Any, DType] = {x.dtype: x for x in _OF_NUMPY.values()}
_OF_NAME = {
    **_OF_NUMPY,
    "float": _OF_NUMPY["float32"],
    "double": _OF_NUMPY["float64"],
    "half": _OF_NUMPY["float16"],
}
_OF_PYTHON: dict[Any, DType] = {float: _OF_NUMPY["float32"]}


def as_dtype(type_value: Any) -> DType:
    """The dtype that something stands for: a DType, NumPy's dtype or scalar type, or a name.

    Parameters
    ----------
    type_value : DType, dtype or str

    Returns
    -------
    DType

    Raises
    ------
    DtypeError
        If it is unknown, or none of numbers.

    Examples
    --------
    >>> import numpy as np, tapemagic.tf as tf
    >>> tf.as_dtype(np.float64)
    tf.float64
    >>> tf.as_dtype(float)
    tf.float32
    """
    if type_value.__class__ is DType:
        return type_value
    if isinstance(type_value, np.dtype):
        known = _OF_OBJECT.get(type_value)
        if known is not None:
            return known
    if isinstance(type_value, str):
        named = _OF_NAME.get(type_value)
        if named is not None:
            return named
        if type_value == "bfloat16":
            raise DtypeError("NumPy has no bfloat16: write tf.float16 or tf.float32")
        if type_value == "string":
            raise DtypeError("a tensor holds numbers, not text: keep text in Python's lists of str")
    elif type_value is float:
        return _OF_PYTHON[float]
    found = of_numbers(type_value)
    known = _OF_OBJECT.get(found.newbyteorder("="))
    if known is None:
        raise DtypeError(
            f"TensorFlow has no dtype {shown(type_value)}: write tf.float64 or a smaller one"
        )
    return known


def numpy_dtype(dtype: Any) -> Any:
    """NumPy's dtype for one of any kind; None stays None."""
    return None if dtype is None else as_dtype(dtype).dtype


complex64, complex128 = _OF_NUMPY["complex64"], _OF_NUMPY["complex128"]
float16, float32, float64 = _OF_NUMPY["float16"], _OF_NUMPY["float32"], _OF_NUMPY["float64"]
half, double = float16, float64
int8, int16, int32, int64 = (_OF_NUMPY[f"int{bits}"] for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_OF_NUMPY[f"uint{bits}"] for bits in (8, 16, 32, 64))
bool = _OF_NUMPY["bool"]
