"""Dtypes that print, compare and convert like TensorFlow's: ``tf.DType`` and its constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tensor.coercion import of_numbers
from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import DtypeError


class DType:
    """Type of a tensor's elements; NumPy accepts it as a dtype.

    Parameters
    ----------
    dtype : numpy.dtype

    Attributes
    ----------
    dtype : numpy.dtype
        The NumPy dtype. Its attributes, such as `kind` and `itemsize`, are available here as well.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.float32, tf.float32.name, tf.float32.is_floating)
    <dtype: 'float32'> float32 True
    >>> tf.float32 == "float32"
    True
    """

    # Copied from the NumPy dtype, although __getattr__ would find them there: operators read `kind` and `char` at every
    # call, and __getattr__ is the slowest path of an attribute lookup.
    __slots__ = ("char", "dtype", "itemsize", "kind", "name", "type")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.name = dtype.name
        self.kind = dtype.kind
        self.char = dtype.char
        self.type = dtype.type
        self.itemsize = dtype.itemsize

    def __getattr__(self, name: str) -> Any:
        # NumPy looks for __array_interface__ and others, and must not find those of the wrapped dtype.
        if name.startswith("__"):
            raise AttributeError(f"a DType has no attribute {name!r}", name=name, obj=self)
        return getattr(self.dtype, name)

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy scalar type, such as ``np.float32``."""
        return self.type

    @property
    def base_dtype(self) -> DType:
        """The dtype itself: there are no reference dtypes."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part."""
        # NumPy has no table from complex128 to float64; the real part of an array knows it.
        return as_dtype(np.zeros((), self.dtype).real.dtype)

    @property
    def size(self) -> int:
        """The bytes of one element."""
        return self.itemsize

    @property
    def is_floating(self) -> Any:
        """True for real floating-point numbers."""
        return self.kind == "f"

    @property
    def is_complex(self) -> Any:
        """True for complex numbers."""
        return self.kind == "c"

    @property
    def is_integer(self) -> Any:
        """True for integers."""
        return self.kind in "iu"

    @property
    def is_bool(self) -> Any:
        """True for booleans."""
        return self.kind == "b"

    @property
    def is_unsigned(self) -> Any:
        """True for unsigned integers."""
        return self.kind == "u"

    @property
    def is_quantized(self) -> Any:
        """False: there are no quantized dtypes."""
        return False

    @property
    def is_numpy_compatible(self) -> Any:
        """True: every dtype here is a NumPy dtype."""
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
        """Return True if the dtypes are equal."""
        return self == other

    def __eq__(self, other: object) -> Any:
        # The common case first: operators compare dtypes at each call.
        if other.__class__ is DType:
            return self.dtype is other.dtype or self.dtype == other.dtype
        # np.dtype(None) is float64: without this test, tf.float64 == None would be true.
        if other is None:
            return False
        try:
            return self.dtype == as_dtype(other).dtype
        except TypeError:
            return False

    def __hash__(self) -> int:
        # Equal to NumPy dtypes, so it must also have their hash. (It equals names such as "float32" too, whose hash
        # differs: a dict must not mix both.)
        return hash(self.dtype)

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> Any:
        # Unpickled and copied dtypes are the same objects again, so that `dtype is tf.float32` stays true.
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
# NumPy reads Python's float as float64, TensorFlow as float32. (int and bool go through NumPy: int64 and bool.)
_OF_PYTHON: dict[Any, DType] = {float: _OF_NUMPY["float32"]}


def as_dtype(type_value: Any) -> DType:
    """Convert a DType, a NumPy dtype or scalar type, or a name to a DType.

    Parameters
    ----------
    type_value : DType, dtype or str

    Returns
    -------
    DType

    Raises
    ------
    DtypeError
        If it is unknown, or not a dtype of numbers.

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
        dtype_object = _OF_OBJECT.get(type_value)
        if dtype_object is not None:
            return dtype_object
    if isinstance(type_value, str):
        by_name = _OF_NAME.get(type_value)
        if by_name is not None:
            return by_name
        if type_value == "bfloat16":
            raise DtypeError("NumPy has no bfloat16: write tf.float16 or tf.float32")
        if type_value == "string":
            raise DtypeError("a tensor holds numbers, not text: keep text in a list of str")
    elif type_value is float:
        return _OF_PYTHON[float]
    numpy_type = of_numbers(type_value)
    # Big-endian arrays, for example of FITS or netCDF files, compute like native ones.
    dtype_object = _OF_OBJECT.get(numpy_type.newbyteorder("="))
    if dtype_object is None:
        raise DtypeError(
            f"TensorFlow has no dtype {shown(type_value)}: write tf.float64 or a smaller one"
        )
    return dtype_object


def numpy_dtype(dtype: Any) -> Any:
    """Convert a DType, a name or a scalar type to a NumPy dtype; pass None through."""
    return None if dtype is None else as_dtype(dtype).dtype


complex64, complex128 = _OF_NUMPY["complex64"], _OF_NUMPY["complex128"]
float16, float32, float64 = _OF_NUMPY["float16"], _OF_NUMPY["float32"], _OF_NUMPY["float64"]
half, double = float16, float64
int8, int16, int32, int64 = (_OF_NUMPY[f"int{bits}"] for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_OF_NUMPY[f"uint{bits}"] for bits in (8, 16, 32, 64))
# Last in the module, because the name hides Python's bool; the predicates above are annotated with Any for that reason.
bool = _OF_NUMPY["bool"]
