"""tf.function: a function that becomes a program, as by tapemagic.function."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, NoReturn

import numpy as np

from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.tensor.messages import require_function, shown
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.errors import OptionError, UnsupportedArgumentError
from tapemagic.programs import function as replay
from tapemagic.tf.core.convert import PYTHON_NUMBERS, tensor
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.errors import InvalidArgumentError


class Function:
    """A function decorated with ``tf.function``.

    Parameters
    ----------
    traced : tapemagic.programs.function.Function or BoundFunction
    signature : sequence of TensorSpec, optional

    Attributes
    ----------
    python_function : callable
        The function itself.
    """

    __tape_unwatched__ = frozenset({"_traced"})

    def __init__(self, traced: Any, signature: Any) -> None:
        self.python_function = traced.python_function
        self.input_signature = None if signature is None else tuple(signature)
        self._traced = traced
        update_wrapper(self, self.python_function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return Function(self._traced.__get__(instance, owner), self.input_signature)

    @property
    def programs(self) -> list[Any]:
        """The programs that calls so far have led to."""
        return self._traced.programs  # type: ignore[no-any-return]

    @property
    def why_eager(self) -> str:
        """The reasons why calls run without a program, with their lines; empty if all have one."""
        return self._traced.why_eager  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function, with its arrays and numbers as tensors."""
        given = self._given(args, kwargs)
        run = self.python_function if functions_run_eagerly() else self._traced
        result = run(*given[0], **given[1])
        return pack(result, map(_result, leaves(result)))

    def source(self, *args: Any, **kwargs: Any) -> str:
        """The program for arguments like these, as NumPy source; without arguments, all programs there are."""
        if not args and not kwargs:
            return str(self._traced.source())
        given = self._given(args, kwargs)
        return str(self._traced.source(*given[0], **given[1]))

    def _given(self, args: Any, kwargs: Any) -> Any:
        """The arguments as the function is handed them."""
        if self.input_signature is not None:
            args = self._signed(args)
        return pack((args, kwargs), map(_argument, leaves((args, kwargs))))

    def _signed(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments as tensors of the shapes and dtypes of the input signature."""
        wanted = self.input_signature or ()
        if len(args) != len(wanted):
            raise TypeError(
                f"{self.__name__}() has an input_signature for {len(wanted)} arguments, and was given {len(args)}"  # type: ignore[attr-defined]
            )
        return tuple(
            pack(spec, map(_matching, leaves(x), leaves(spec)))
            for x, spec in zip(args, wanted, strict=True)
        )

    def get_concrete_function(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse: there are no graphs."""
        raise UnsupportedArgumentError(
            "tf.function makes no graph here, and so has no concrete functions: call the function itself"
        )


def _argument(x: Any) -> Any:
    return eager(tensor(x)) if isinstance(x, np.ndarray) and x.dtype.kind in "biufc" else x


def _result(x: Any) -> Any:
    if isinstance(x, Traced) or not isinstance(x, (*PYTHON_NUMBERS, np.ndarray, np.generic)):
        return x
    return eager(tensor(x))


def _matching(x: Any, spec: Any) -> Any:
    held = eager(tensor(x, None if isinstance(x, Traced) else spec.dtype))
    if not spec.is_compatible_with(held):
        raise InvalidArgumentError(
            f"the argument {shown(x)} has shape {held.shape} and dtype {held.dtype.name}, and not {spec}"
        )
    return held


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
    """Make a function a program of NumPy calls, where TensorFlow makes a graph; see `tapemagic.function`.

    Its first two calls with arguments of some shapes and dtypes are traced, and others replay the program. What prints
    or draws random numbers runs as it stands at each call: so ``print`` happens each time, where TensorFlow has it once
    for each graph. Values and gradients are the same. Arrays are handed over as tensors, and numbers returned as
    tensors, as in TensorFlow.

    Parameters
    ----------
    func : callable, optional
        Without it, a decorator is returned.
    input_signature : sequence of TensorSpec, optional
        The shapes and dtypes of the arguments, which are checked.
    jit_compile : bool, optional
        True is refused: XLA is not here.
    autograph, reduce_retracing, experimental_implements : optional
        Accepted, and not used.

    Returns
    -------
    Function
        With `programs`, and `why_eager`: the reason for which calls run as they stand, if there is one.

    Raises
    ------
    FunctionError
        If the function is a generator or asynchronous.
    OptionError
        If `jit_compile` is True.

    Warns
    -----
    EagerWarning
        Once, if calls of a function cannot be a program.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> @tf.function
    ... def square(x):
    ...     return x * x
    >>> print(square(tf.constant(3.0)))
    tf.Tensor(9.0, shape=(), dtype=float32)
    """
    if jit_compile or experimental_compile:
        raise OptionError(
            "tf.function has no jit_compile=True: XLA is not here; leave it out, the values are the same"
        )
    unknown = options.keys() - {"experimental_relax_shapes", "experimental_follow_type_hints"}
    if unknown:
        raise TypeError(f"function() got an unexpected keyword argument {min(unknown)!r}")
    if func is None:
        return lambda function: globals()["function"](function, input_signature)
    require_function(func)
    if isinstance(func, Function):
        func = func.python_function
    return Function(replay.function(func), input_signature)


_eagerly = [False]


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Let functions run as they stand from now on, such as under a debugger; False for programs again."""
    _eagerly[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether functions run as they stand."""
    return _eagerly[0]
