"""``tf.function``: functions that are traced once and then replayed, like `tapemagic.function`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, NoReturn

import numpy as np

from tapemagic.engine.nest import is_leaf, leaves, ordered, pack, parts_of
from tapemagic.engine.tensor.messages import require_function, shown
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.programs import function as replay
from tapemagic.tf.core.convert import PYTHON_NUMBERS, tensor
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.errors import InvalidArgumentError


class Function:
    """Function decorated with ``tf.function``.

    Parameters
    ----------
    traced : tapemagic.programs.function.Function or BoundFunction
    signature : sequence of TensorSpec, optional

    Attributes
    ----------
    python_function : callable
        The undecorated function.
    """

    # A traced function that calls this one depends on its code, not on the programs that are cached so far.
    __tape_unwatched__ = frozenset({"_traced"})

    def __init__(self, traced: Any, signature: Any) -> None:
        self.python_function = traced.python_function
        self.input_signature = None if signature is None else tuple(signature)
        self._traced = traced
        update_wrapper(self, self.python_function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        # As a descriptor, so that @tf.function also decorates methods.
        return Function(self._traced.__get__(instance, owner), self.input_signature)

    @property
    def programs(self) -> list[Any]:
        """Programs of the calls so far."""
        return self._traced.programs  # type: ignore[no-any-return]

    @property
    def why_eager(self) -> str:
        """Reasons why calls run without a program, with lines, or "" if every call has a program."""
        return self._traced.why_eager  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, converting arrays to tensors, and numbers in the result as well."""
        arguments = self._converted(args, kwargs)
        # Asked at each call, so that run_functions_eagerly also affects functions that were decorated before.
        run = self.python_function if functions_run_eagerly() else self._traced
        result = run(*arguments[0], **arguments[1])
        return pack(result, map(_result, leaves(result)))

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the NumPy source of the program for such arguments; without arguments, of all programs."""
        if not args and not kwargs:
            return str(self._traced.source())
        arguments = self._converted(args, kwargs)
        return str(self._traced.source(*arguments[0], **arguments[1]))

    def _converted(self, args: Any, kwargs: Any) -> Any:
        """Convert arguments to what the function receives."""
        if self.input_signature is not None:
            # A signature fixes the dtypes: Python numbers become tensors of the declared dtype, so no new trace is
            # needed for them.
            args = self._signed(args)
        return pack((args, kwargs), map(_argument, leaves((args, kwargs))))

    def _signed(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Convert arguments to tensors and check them against the input signature."""
        specs = self.input_signature or ()
        if len(args) != len(specs):
            raise TypeError(
                f"{self.__name__}() has an input_signature for {len(specs)} arguments, and received {len(args)}"  # type: ignore[attr-defined]
            )
        return tuple(
            pack(spec, map(_matching, _parts(x, spec), leaves(spec)))
            for x, spec in zip(args, specs, strict=True)
        )

    def get_concrete_function(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Raise an error, because there are no graphs."""
        raise UnsupportedArgumentError(
            "tf.function makes no graph here, and so has no concrete functions: call the function itself"
        )


def _argument(x: Any) -> Any:
    # Arrays only: Python numbers stay constants of the trace, as in TensorFlow, and may control ranges and branches.
    return eager(tensor(x)) if isinstance(x, np.ndarray) and x.dtype.kind in "biufc" else x


def _result(x: Any) -> Any:
    if isinstance(x, Traced) or not isinstance(x, (*PYTHON_NUMBERS, np.ndarray, np.generic)):
        return x
    return eager(tensor(x))


def _parts(x: Any, spec: Any) -> list[Any]:
    """List the parts of an argument that belong to the tensors of a signature: a list may be a single tensor."""
    if is_leaf(spec):
        return [x]
    same_keys = isinstance(x, Mapping) == isinstance(spec, Mapping) and (
        not isinstance(x, Mapping) or ordered(x) == ordered(spec)
    )
    if is_leaf(x) or not same_keys or len(x) != len(spec):
        raise TypeError(
            f"the argument {shown(x)} has another structure than its input_signature, {spec}"
        )
    return [
        part for pair in zip(parts_of(x), parts_of(spec), strict=True) for part in _parts(*pair)
    ]


def _matching(x: Any, spec: Any) -> Any:
    x_tensor = eager(tensor(x, None if isinstance(x, Traced) else spec.dtype))
    if not spec.is_compatible_with(x_tensor):
        raise InvalidArgumentError(
            f"the argument {shown(x)} has shape {x_tensor.shape} and dtype {x_tensor.dtype.name}, and not {spec}"
        )
    return x_tensor


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_compile: bool | None = None,
    **options: Any,
) -> Any:
    """Turn a function into a program of NumPy calls (TensorFlow builds a graph); see `tapemagic.function`.

    The first two calls with new shapes and dtypes are traced; later calls replay the program. A function that prints or
    draws random numbers runs eagerly: ``print`` happens at every call, in TensorFlow only once per graph. Values and
    gradients are the same. Arrays are passed as tensors, and numbers are returned as tensors, as in TensorFlow.

    Parameters
    ----------
    func : callable, optional
        If omitted, a decorator is returned.
    input_signature : sequence of TensorSpec, optional
        Shapes and dtypes that the arguments are checked against.
    autograph, jit_compile, reduce_retracing, experimental_implements : optional
        Accepted without effect: they don't change values.

    Returns
    -------
    Function
        With `programs`, and `why_eager`: why calls run eagerly, if they do.

    Raises
    ------
    FunctionError
        If the function is a generator or asynchronous.

    Warns
    -----
    EagerWarning
        Once, if a function can't become a program.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> @tf.function
    ... def square(x):
    ...     return x * x
    >>> print(square(tf.constant(3.0)))
    tf.Tensor(9.0, shape=(), dtype=float32)
    """
    # Names of older versions for `reduce_retracing` and for type hints: accepted without effect.
    unknown = options.keys() - {"experimental_relax_shapes", "experimental_follow_type_hints"}
    if unknown:
        raise TypeError(f"function() got an unexpected keyword argument {min(unknown)!r}")
    if func is None:
        # The lambda's parameter hides this function's name; the dict lookup reaches past it.
        return lambda function: globals()["function"](function, input_signature)
    require_function(func)
    if isinstance(func, Function):
        # Decorated twice: one trace is enough.
        func = func.python_function
    return Function(replay.function(func), input_signature)


# A list, so that run_functions_eagerly changes it without a `global` statement.
_eagerly = [False]


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Make later calls of traced functions run eagerly, for example under a debugger, or undo that with False."""
    _eagerly[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Return True if functions run eagerly."""
    return _eagerly[0]
