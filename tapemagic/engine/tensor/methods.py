"""Array methods and properties of NumPy, each of which calls the NumPy function of the same name."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tapemagic.engine.tensor.coercion import of_numbers
from tapemagic.errors import ImmutableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from tapemagic.engine.tensor.result_types import HasResults, R_co

    Axis = int | Sequence[int] | None


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


_np: Any = np
"""NumPy, whose stubs don't know that its functions of a tensor return a tensor."""


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
    def strides(self) -> tuple[int, ...]:
        """The bytes from each element to the next along each axis, in the array that ``np.asarray`` returns."""
        # plot_surface of Matplotlib reads them, and passes them to NumPy's as_strided, which calls np.asarray.
        return np.asarray(self).strides

    @property
    def T(self: HasResults[R_co]) -> R_co:  # noqa: N802 (NumPy's name)
        """The transpose, with all axes reversed."""
        return _np.transpose(self)  # type: ignore[no-any-return]

    @property
    def mT(self: HasResults[R_co]) -> R_co:  # noqa: N802 (NumPy's name)
        """The matrix transpose: the last two axes swapped."""
        return _np.swapaxes(self, -1, -2)  # type: ignore[no-any-return]

    @property
    def real(self: HasResults[R_co]) -> R_co:
        """The real part of each element."""
        return _np.real(self)  # type: ignore[no-any-return]

    @property
    def imag(self: HasResults[R_co]) -> R_co:
        """The imaginary part of each element."""
        return _np.imag(self)  # type: ignore[no-any-return]

    def astype(
        self: HasResults[R_co],
        dtype: DTypeLike,
        order: Any = "K",
        casting: Any = "unsafe",
        subok: bool = True,  # noqa: ARG002 (NumPy's signature)
        copy: bool = True,
    ) -> R_co:
        """Cast to another dtype; casts to integers and bools aren't differentiable, so they end the tape's path."""
        if isinstance(dtype, ArrayMethods):
            of_numbers(dtype)  # raises an error, because a tensor isn't a dtype
        if casting != "unsafe":  # raises NumPy's error if the cast isn't allowed
            self._value.astype(dtype, casting=casting)
        y = _np.astype(self, dtype, copy=copy)
        return y if order == "K" else _np.copy(y, order)  # type: ignore[no-any-return]

    def reshape(self: HasResults[R_co], *shape: Any, **options: Any) -> R_co:
        """Reshape, to lengths given as a tuple or separately."""
        return _np.reshape(self, shape[0] if len(shape) == 1 else shape, **options)  # type: ignore[no-any-return]

    def transpose(self: HasResults[R_co], *axes: Any) -> R_co:
        """Permute the axes, given as a tuple or separately. Without arguments, reverse their order."""
        order = axes[0] if len(axes) == 1 else axes or None
        return _np.transpose(self, order)  # type: ignore[no-any-return]

    def flatten(self: HasResults[R_co], order: Any = "C") -> R_co:
        """Return all elements along a single axis."""
        return _np.ravel(self, order)  # type: ignore[no-any-return]

    def copy(self: HasResults[R_co], order: Any = "C") -> R_co:
        """Return a new tensor with this value, still on the tape."""
        return _np.copy(self, order)  # type: ignore[no-any-return]

    def compress(
        self: HasResults[R_co], condition: Any, axis: int | None = None, out: None = None
    ) -> R_co:
        """Return the slices where `condition` is true."""
        return _np.compress(condition, self, axis, out)  # type: ignore[no-any-return]

    def clip(
        self: HasResults[R_co],
        min: Any = None,  # noqa: A002 (NumPy's name)
        max: Any = None,  # noqa: A002 (NumPy's name)
        out: None = None,
        **options: Any,
    ) -> R_co:
        """Limit the elements to an interval."""
        return _np.clip(self, min, max, out, **options)  # type: ignore[no-any-return]

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

    if TYPE_CHECKING:

        def sum(
            self: HasResults[R_co],
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> R_co: ...
        def prod(
            self: HasResults[R_co],
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> R_co: ...
        def mean(
            self: HasResults[R_co],
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> R_co: ...
        def std(
            self: HasResults[R_co],
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> R_co: ...
        def var(
            self: HasResults[R_co],
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> R_co: ...
        def max(
            self: HasResults[R_co],
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> R_co: ...
        def min(
            self: HasResults[R_co],
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> R_co: ...
        def all(
            self,
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> NDArray[np.bool_]: ...
        def any(
            self,
            axis: Axis = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> NDArray[np.bool_]: ...
        def argmax(
            self,
            axis: int | None = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> NDArray[np.intp]: ...
        def argmin(
            self,
            axis: int | None = None,
            *args: Any,
            keepdims: bool = False,
            **options: Any,
        ) -> NDArray[np.intp]: ...
        def argsort(
            self, axis: int | None = -1, *args: Any, **options: Any
        ) -> NDArray[np.intp]: ...
        def argpartition(
            self, kth: Any, axis: int | None = -1, *args: Any, **options: Any
        ) -> NDArray[np.intp]: ...
        def cumsum(
            self: HasResults[R_co], axis: int | None = None, *args: Any, **options: Any
        ) -> R_co: ...
        def cumprod(
            self: HasResults[R_co], axis: int | None = None, *args: Any, **options: Any
        ) -> R_co: ...
        def ravel(self: HasResults[R_co], order: Any = "C") -> R_co: ...
        def swapaxes(self: HasResults[R_co], axis1: int, axis2: int) -> R_co: ...
        def squeeze(self: HasResults[R_co], axis: Axis = None) -> R_co: ...
        def repeat(self: HasResults[R_co], repeats: Any, axis: int | None = None) -> R_co: ...
        def take(
            self: HasResults[R_co],
            indices: Any,
            axis: int | None = None,
            *args: Any,
            **options: Any,
        ) -> R_co: ...
        def choose(self: HasResults[R_co], choices: Any, *args: Any, **options: Any) -> R_co: ...
        def round(
            self: HasResults[R_co], decimals: int = 0, *args: Any, **options: Any
        ) -> R_co: ...
        def dot(self: HasResults[R_co], b: ArrayLike, *args: Any, **options: Any) -> R_co: ...
        def diagonal(
            self: HasResults[R_co], offset: int = 0, axis1: int = 0, axis2: int = 1
        ) -> R_co: ...
        def trace(
            self: HasResults[R_co],
            offset: int = 0,
            axis1: int = 0,
            axis2: int = 1,
            *args: Any,
            **options: Any,
        ) -> R_co: ...
        def conj(self: HasResults[R_co]) -> R_co: ...
        def conjugate(self: HasResults[R_co]) -> R_co: ...
        def nonzero(self) -> tuple[NDArray[np.intp], ...]: ...
        def searchsorted(self, v: ArrayLike, *args: Any, **options: Any) -> NDArray[np.intp]: ...

        # Operations on integers and bools have no derivative, so results are arrays.
        # `operators` sets them. NumPy's stubs let an array on the left return an array: np.ones(2) * x.
        def __add__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __radd__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __sub__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __rsub__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __mul__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __rmul__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __truediv__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __rtruediv__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __mod__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __rmod__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __matmul__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __rmatmul__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __floordiv__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __rfloordiv__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __and__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __rand__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __or__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __ror__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __xor__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __rxor__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __lshift__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __rlshift__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __rshift__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __rrshift__(self, other: ArrayLike) -> NDArray[Any]: ...
        def __pow__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __rpow__(self: HasResults[R_co], other: ArrayLike) -> R_co: ...
        def __divmod__(self: HasResults[R_co], other: ArrayLike) -> tuple[R_co, R_co]: ...
        def __rdivmod__(self: HasResults[R_co], other: ArrayLike) -> tuple[R_co, R_co]: ...
        def __lt__(self, other: ArrayLike) -> NDArray[np.bool_]: ...
        def __le__(self, other: ArrayLike) -> NDArray[np.bool_]: ...
        def __gt__(self, other: ArrayLike) -> NDArray[np.bool_]: ...
        def __ge__(self, other: ArrayLike) -> NDArray[np.bool_]: ...
        def __eq__(self, other: object) -> NDArray[np.bool_]: ...  # type: ignore[override]
        def __ne__(self, other: object) -> NDArray[np.bool_]: ...  # type: ignore[override]
        def __hash__(self) -> int: ...
        def __neg__(self: HasResults[R_co]) -> R_co: ...
        def __pos__(self: HasResults[R_co]) -> R_co: ...
        def __abs__(self: HasResults[R_co]) -> R_co: ...
        def __invert__(self) -> NDArray[Any]: ...
    else:
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
