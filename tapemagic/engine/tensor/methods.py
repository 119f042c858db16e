"""Array methods and properties of NumPy, each of which calls the NumPy function of the same name."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.coercion import of_numbers
from tapemagic.errors import ImmutableError


class MissingAttribute:
    """A descriptor for an array attribute that tensors lack; reading it raises an error with advice.

    ``__getattr__`` would do that too, but defining it makes every attribute of a tensor slower.
    """

    def __init__(self, instead: str) -> None:
        self.instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, x: Any, kind: type) -> NoReturn:
        raise AttributeError(
            f"a {kind.__name__} has no {self.name}: {self.instead}", name=self.name, obj=x
        )


def _method(name: str) -> Any:
    function = getattr(np, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"ArrayMethods.{name}"
    method.__doc__ = f"``np.{name}(self, ...)``."
    return method


class ArrayMethods:
    """Array properties and methods; each calls a NumPy function with self."""

    __slots__ = ()

    _value: Any

    base = MissingAttribute("a tensor has its memory for itself")
    byteswap = MissingAttribute("use x.numpy().byteswap()")
    ctypes = MissingAttribute("use x.numpy().ctypes")
    data = MissingAttribute("use x.numpy().data")
    flags = MissingAttribute("use x.numpy().flags")
    flat = MissingAttribute("write x.ravel(), which is still on the tape")
    getfield = MissingAttribute("use x.numpy().getfield(dtype)")
    put = MissingAttribute("write np.where(mask, values, x)")
    resize = MissingAttribute("write np.resize(x, shape), or x.reshape(shape)")
    setflags = MissingAttribute("a tensor cannot be written into")
    strides = MissingAttribute("use x.numpy().strides")
    tobytes = MissingAttribute("use x.numpy().tobytes()")
    tofile = MissingAttribute("use x.numpy().tofile(file)")
    view = MissingAttribute(
        "write x.astype(dtype), x.real and x.imag, or use x.numpy().view(dtype)"
    )

    def __dir__(self) -> list[str]:
        """Return the names of attributes that tensors have."""
        names = super().__dir__()
        missing = MissingAttribute
        return [x for x in names if not isinstance(inspect.getattr_static(self, x, 0), missing)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._value.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of the elements."""
        return self._value.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._value.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._value.size  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes, for lazy values once they are computed."""
        return self.size * self.itemsize

    @property
    def itemsize(self) -> int:
        """The size of one element in bytes."""
        return self._value.itemsize  # type: ignore[no-any-return]

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's name)
        """The transpose, with all axes reversed."""
        return np.transpose(self)  # type: ignore[call-overload]

    @property
    def mT(self) -> Any:  # noqa: N802 (NumPy's name)
        """The matrix transpose: the last two axes swapped."""
        return np.swapaxes(self, -1, -2)  # type: ignore[call-overload]

    @property
    def real(self) -> Any:
        """The real part of each element."""
        return np.real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part of each element."""
        return np.imag(self)

    def astype(
        self,
        dtype: DTypeLike,
        order: Any = "K",
        casting: Any = "unsafe",
        subok: bool = True,  # noqa: ARG002 (NumPy's signature)
        copy: bool = True,
    ) -> Any:
        """Cast to another dtype; casts to integers and bools aren't differentiable, so they end the tape's path."""
        if isinstance(dtype, ArrayMethods):
            of_numbers(dtype)  # raises an error, because a tensor isn't a dtype
        if casting != "unsafe":  # raises NumPy's error if the cast isn't allowed
            self._value.astype(dtype, casting=casting)
        y = np.astype(self, dtype, copy=copy)  # type: ignore[call-overload]
        return y if order == "K" else np.copy(y, order)

    def reshape(self, *shape: Any, **options: Any) -> Any:
        """Reshape, to lengths given as a tuple or separately."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, **options)  # type: ignore[call-overload]

    def transpose(self, *axes: Any) -> Any:
        """Permute the axes, given as a tuple or separately. Without arguments, reverse their order."""
        order = axes[0] if len(axes) == 1 else axes or None
        return np.transpose(self, order)  # type: ignore[call-overload]

    def flatten(self, order: Any = "C") -> Any:
        """Return all elements along a single axis."""
        return np.ravel(self, order)  # type: ignore[call-overload]

    def copy(self, order: Any = "C") -> Any:
        """Return a new tensor with this value, still on the tape."""
        return np.copy(self, order)  # type: ignore[call-overload]

    def compress(self, condition: Any, axis: int | None = None, out: None = None) -> Any:
        """Return the slices where `condition` is true."""
        return np.compress(condition, self, axis, out)  # type: ignore[call-overload]

    def clip(
        self,
        min: Any = None,  # noqa: A002 (NumPy's name)
        max: Any = None,  # noqa: A002 (NumPy's name)
        out: None = None,
        **options: Any,
    ) -> Any:
        """Limit the elements to an interval."""
        return np.clip(self, min, max, out, **options)  # type: ignore[call-overload]

    def sort(self, *_args: Any, **_kwargs: Any) -> None:
        """Reject the call: NumPy's method sorts in place."""
        raise ImmutableError(
            "x.sort() would sort in place, and a tensor is immutable: write np.sort(x)"
        )

    def partition(self, *_args: Any, **_kwargs: Any) -> None:
        """Reject the call: NumPy's method partitions in place."""
        raise ImmutableError(
            "x.partition() would work in place, and a tensor is immutable: write np.partition(x, kth)"
        )

    def fill(self, _value: Any) -> None:
        """Reject the call: NumPy's method writes in place."""
        raise ImmutableError("x.fill() would write into a tensor: write np.full_like(x, value)")

    sum = _method("sum")
    prod = _method("prod")
    mean = _method("mean")
    std = _method("std")
    var = _method("var")
    max = _method("max")
    min = _method("min")
    all = _method("all")
    any = _method("any")
    argmax = _method("argmax")
    argmin = _method("argmin")
    argsort = _method("argsort")
    argpartition = _method("argpartition")
    cumsum = _method("cumsum")
    cumprod = _method("cumprod")
    ravel = _method("ravel")
    swapaxes = _method("swapaxes")
    squeeze = _method("squeeze")
    repeat = _method("repeat")
    take = _method("take")
    choose = _method("choose")
    round = _method("round")
    dot = _method("dot")
    diagonal = _method("diagonal")
    trace = _method("trace")
    conj = _method("conj")
    conjugate = _method("conjugate")
    nonzero = _method("nonzero")
    searchsorted = _method("searchsorted")
