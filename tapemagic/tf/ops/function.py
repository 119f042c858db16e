"""``tf.function``: functions that are traced once for each signature, as in TensorFlow, and then replayed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, NoReturn

import numpy as np

from tapemagic.engine.nest import is_leaf, leaves, ordered, pack, parts_of
from tapemagic.engine.recording import live
from tapemagic.engine.tensor.messages import require_function, shown
from tapemagic.engine.tensor.tensor import Tensor, Traced, unwrap
from tapemagic.engine.tensor.variable import Slice, Variable
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.programs.function import checked_function
from tapemagic.programs.traced_once import TracedOnce
from tapemagic.tf.core.convert import PYTHON_NUMBERS, tensor
from tapemagic.tf.core.dtype import as_dtype
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.errors import invalid_argument
from tapemagic.tf.ops.creation import TensorSpec

RESOURCE = "TensorSpec(shape=(), dtype=tf.resource, name=None)"
"""TensorFlow's description of a Variable that a trace reads."""

ANY_ARGUMENTS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
"""The flags of code that takes any number of arguments."""


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
        self.input_signature = None if signature is None else _specs(signature)
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
        args, kwargs = self._converted(args, kwargs)
        # Asked at each call, so that run_functions_eagerly also affects functions that were decorated before.
        if functions_run_eagerly():
            return _finished(self.python_function(*args, **kwargs))
        before = self._traced.programs_cache.traces
        result = _finished(self._traced(*args, **kwargs))
        if self._traced.programs_cache.traces > before:
            described = self._described(args, kwargs, result)
            self._traced.programs_cache.signatures.append(described)
        return result

    def experimental_get_tracing_count(self) -> int:
        """Return how often the function was traced, which runs its Python code."""
        return int(self._traced.programs_cache.traces)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Describe the arguments and results of each trace."""
        return "\n\n".join(self._traced.programs_cache.signatures)

    def _described(self, args: Any, kwargs: Any, result: Any) -> str:
        """Describe a trace in TensorFlow's words."""
        parameters = self.parameters()
        given = {} if parameters is None else parameters.bind(*args, **kwargs).arguments
        lines = ["Input Parameters:"]
        for name, value in given.items():
            kind = parameters.parameters[name].kind.name  # type: ignore[union-attr]
            lines.append(f"  {name} ({kind}): {_kind_of(value)}")
        captures = [f"  {i}: {RESOURCE}" for i in self._traced.programs_cache.captures] or [
            "  None"
        ]
        return "\n".join([*lines, "Output Type:", f"  {_kind_of(result)}", "Captures:", *captures])

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
            args, kwargs = self._bound(args, kwargs) if kwargs else (args, kwargs)
            args = self._signed(args)
        elif kwargs or len(args) != self._count_of_parameters():
            # Default values and keywords lead to the same trace as positional arguments.
            args, kwargs = self._bound(args, kwargs)
        return pack((args, kwargs), _told_apart([*map(_argument, leaves((args, kwargs)))]))

    def _count_of_parameters(self) -> int:
        """Count the parameters of a plain function or method, or return -1 if some need more than counting."""
        code = getattr(self.python_function, "__code__", None)
        if code is None or code.co_kwonlyargcount or code.co_flags & ANY_ARGUMENTS:
            return -1
        return int(code.co_argcount - inspect.ismethod(self.python_function))

    def _bound(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return all arguments, with defaults, by position where possible."""
        parameters = self.parameters()
        try:
            bound = None if parameters is None else parameters.bind(*args, **kwargs)
        except TypeError:  # raised again by the call, with the function's name
            bound = None
        if bound is None:
            return args, kwargs
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def parameters(self) -> inspect.Signature | None:
        """Return the parameters, or None for a function written in C that has no signature."""
        try:
            return inspect.signature(self.python_function)
        except (TypeError, ValueError):
            return None

    def _signed(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Convert arguments to tensors and check them against the input signature."""
        specs = self.input_signature or ()
        if len(args) != len(specs):
            name: str = self.__name__  # type: ignore[attr-defined]
            raise TypeError(
                f"{name}() has an input_signature for {len(specs)} argument{'s' * (len(specs) != 1)}, "
                f"and received {len(args)}"
            )
        return tuple(
            pack(spec, map(_matching, _parts(x, spec), leaves(spec)))
            for x, spec in zip(args, specs, strict=True)
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the function for one kind of arguments: examples, TensorSpecs, and Python values, which are fixed.

        It is traced at its first call.
        """
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        return ConcreteFunction(self, args, kwargs)


class ConcreteFunction:
    """A traced function for tensors of certain shapes and dtypes, and certain other arguments.

    Parameters
    ----------
    function : Function
    args, kwargs : tuple, dict
        Examples or TensorSpecs for tensors; other values are fixed.
    """

    def __init__(self, function: Function, args: Any, kwargs: Any) -> None:
        self.function = function
        self.name = function.python_function.__name__
        given = self._arguments(args, kwargs, function.parameters())
        self._fixed = {name: x for name, x in given.items() if not _has_tensors(x)}
        self._specs = {
            name: pack(x, map(_spec, leaves(x))) for name, x in given.items() if _has_tensors(x)
        }
        self._names = list(given)

    def _arguments(
        self, args: Any, kwargs: Any, parameters: inspect.Signature | None
    ) -> dict[str, Any]:
        """Return the arguments by name, numbering those of ``*args``."""
        names = [f"arg{k}" for k in range(len(args))]
        if parameters is not None:
            try:
                bound = parameters.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{self.name}(): {error}") from None
            args, kwargs = bound.args, bound.kwargs
            names = [
                name
                for name, x in parameters.parameters.items()
                if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)
            ]
            names += [f"args_{k}" for k in range(len(args) - len(names))]
        self._count = len(args)
        return {**dict(zip(names, args, strict=False)), **kwargs}

    @property
    def structured_input_signature(self) -> Any:
        """The specifications of the arguments, by position and by name."""
        return tuple({**self._specs, **self._fixed}.values()), {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with tensors of the kind for which it was made.

        Other arguments may be passed as well, with their fixed values.
        """
        names = [*self._specs] if len(args) <= len(self._specs) else self._names[: self._count]
        passed = {**dict(zip(names, args, strict=False)), **kwargs}
        if (
            passed.keys() - set(self._names)
            or self._specs.keys() - passed.keys()
            or len(passed) < len(args) + len(kwargs)
        ):
            raise TypeError(
                f"{self.name}(...) takes {', '.join(self._specs) or 'no arguments'}; received {len(args)} positional "
                f"arguments and {sorted(kwargs)}"
            )
        for name, fixed in self._fixed.items():
            if name in passed and (_has_tensors(passed[name]) or passed[name] != fixed):
                raise TypeError(
                    f"{self.name}(...) was made for {name}={shown(fixed)}, and received {shown(passed[name])}: "
                    "call get_concrete_function with the other value"
                )
        for name, spec in self._specs.items():
            passed[name] = pack(spec, map(_matching, _parts(passed[name], spec), leaves(spec)))
        values = [{**self._fixed, **passed}[name] for name in self._names]
        by_name = dict(zip(self._names[self._count :], values[self._count :], strict=True))
        return self.function(*values[: self._count], **by_name)

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name}({', '.join(self._specs)})>"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedArgumentError(
            f"there are no graphs here, so a concrete function has no .{name}: call it with tensors"
        )


def _specs(signature: Any) -> tuple[Any, ...]:
    """Return an input_signature as a tuple, or raise TypeError unless it consists of TensorSpecs."""
    if not isinstance(signature, list | tuple) or not all(
        isinstance(x, TensorSpec) for x in leaves(signature)
    ):
        raise TypeError(
            f"an input_signature is a list with a TensorSpec, or a structure of them, for each argument, not "
            f"{shown(signature)}: write input_signature=[tf.TensorSpec([None], tf.float32)]"
        )
    return tuple(signature)


def _has_tensors(x: Any) -> bool:
    return any(
        isinstance(part, Traced | np.ndarray | np.generic | TensorSpec) for part in leaves(x)
    )


class VariableSpec(TensorSpec):
    """Shape and dtype of a Variable that a concrete function takes, and may assign."""


def _spec(x: Any) -> Any:
    if isinstance(x, Variable):
        return VariableSpec(x.shape, x.dtype)
    return (
        x if isinstance(x, TensorSpec) else TensorSpec(tensor(x).shape, as_dtype(tensor(x).dtype))
    )


def _kind_of(x: Any) -> str:
    """Describe an argument or a result as TensorFlow does."""
    if isinstance(x, Traced | np.ndarray):
        return f"TensorSpec(shape={tuple(tensor(x).shape)}, dtype=tf.{as_dtype(tensor(x).dtype).name}, name=None)"
    if isinstance(x, list | tuple):
        kind = "List" if isinstance(x, list) else "Tuple"
        return f"{kind}[{', '.join(map(_kind_of, x))}]"
    if isinstance(x, Mapping):
        return f"Dict[{', '.join(f'[{key!r}, {_kind_of(part)}]' for key, part in x.items())}]"
    return f"Literal[{x!r}]"


def _told_apart(arguments: list[Any]) -> list[Any]:
    """Copy a tensor that is passed twice: f(x, x) has the trace of f(x, y), as in TensorFlow."""
    if len(arguments) < 2 or live():  # a tape knows a tensor by its object
        return arguments
    seen: set[int] = set()
    for k, x in enumerate(arguments):
        if isinstance(x, Tensor) and (id(x) in seen or seen.add(id(x))):  # type: ignore[func-returns-value]
            arguments[k] = eager(tensor(np.copy(unwrap(x))))
    return arguments


def _argument(x: Any) -> Any:
    # Arrays only: Python numbers stay constants of the trace, as in TensorFlow, and may control ranges and branches.
    return eager(tensor(x)) if isinstance(x, np.ndarray) and x.dtype.kind in "biufc" else x


def _finished(result: Any) -> Any:
    """Convert the numbers, arrays and Variables in a result to tensors."""
    return pack(result, map(_result, leaves(result)))


def _result(x: Any) -> Any:
    if isinstance(x, Variable | Slice):
        return eager(np.copy(x))
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
    if isinstance(spec, VariableSpec):
        if not isinstance(x, Variable):
            raise TypeError(
                f"the argument {shown(x)} is no Variable, for which the function was made"
            )
        x_tensor = x
    else:
        x_tensor = eager(tensor(x, None if isinstance(x, Traced) else spec.dtype))
    if not spec.is_compatible_with(x_tensor):
        # A TypeError for a function with input_signature, InvalidArgumentError for a concrete function: it's both.
        raise invalid_argument(
            TypeError(
                f"the argument {shown(x)} has shape {x_tensor.shape} and dtype {x_tensor.dtype.name}, and not {spec}"
            )
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
    """Turn a function into a program of NumPy calls, by TensorFlow's contract (TensorFlow builds a graph).

    The function is traced once for each signature: the shapes and dtypes of tensors, the values of Python numbers and
    strings, the identity of other objects. Python's side effects, such as ``print``, happen while it is traced. What it
    reads outside, except Variables, is a constant of the trace. Later calls replay the program: in order, they draw by
    `tf.random` and Dropout, print by `tf.print`, check by `tf.debugging` and call `tf.py_function` again.

    What cannot be a program runs eagerly at each call, and `why_eager` says why: a function that draws by ``np.random``
    or ``random``, sets a seed, or takes numbers out of tensors. While a tape records, the function also runs eagerly.
    ``if`` and ``while`` on tensors are traced once for each path. `tapemagic.function` also notices changed Python
    values.

    Parameters
    ----------
    func : callable, optional
        If omitted, a decorator is returned.
    input_signature : sequence of TensorSpec, optional
        Shapes and dtypes that the arguments are checked against.
    autograph, jit_compile, reduce_retracing, experimental_implements : optional
        Accepted without effect: they don't change values. Each shape has a trace, even if the signature has None.

    Returns
    -------
    Function
        With `programs`, and `why_eager`: why calls run eagerly, if they do.

    Raises
    ------
    FunctionError
        If the function is a generator or asynchronous.
    ValueError
        If a later trace than the first one makes Variables.

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
    >>> square.experimental_get_tracing_count()
    1
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
    return Function(TracedOnce(checked_function(func, "tf.function"), _finished), input_signature)


# A list, so that run_functions_eagerly changes it without a `global` statement.
_eagerly = [False]


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Make later calls of traced functions run eagerly, for example under a debugger, or undo that with False."""
    _eagerly[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Return True if functions run eagerly."""
    return _eagerly[0]
