"""tm.function: a function that is traced for each signature, and then replayed as a program."""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import FunctionError, OptionError
from tapemagic.programs.miss import Miss
from tapemagic.programs.program import Program
from tapemagic.programs.program_cache import ProgramCache
from tapemagic.programs.tracing.trace import is_followed

P = ParamSpec("P")
T = TypeVar("T")
Rest = ParamSpec("Rest")

INTERNAL = frozenset({"_programs", "_bound", "_warned", "_object", "max_programs"})


class Replayed(Generic[P, T]):
    """A function or method whose calls replay programs.

    Attributes
    ----------
    python_function : callable
        The function itself.
    """

    __slots__ = ()

    python_function: Callable[P, T]
    _programs: ProgramCache

    @property
    def programs(self) -> list[Program]:
        """The programs that calls so far have led to."""
        return self._programs.list()

    @property
    def programs_cache(self) -> ProgramCache:
        """The store of the programs."""
        return self._programs

    @property
    def why_eager(self) -> str:
        """The reasons why calls stay eager, with their lines; an empty string if all calls have a program."""
        return self._programs.why_eager

    def source(self, *args: Any, as_run: bool = False, **kwargs: Any) -> str:
        """Return the program for these kinds of arguments as NumPy source, or all programs without arguments.

        Several programs, such as those of both branches of an ``if``, are functions ``f``, ``f_2`` and so on in one
        text. A comment above each describes its arguments and branches; with others, it raises `Retrace` or computes
        something else. Raises FunctionError if there is no program for such arguments; the message says why.

        Parameters
        ----------
        *args, **kwargs
            Arguments of shapes and dtypes with which the function was called twice before.
        as_run : bool, optional
            Whether to show the program as it runs. Where elementwise calls on arrays of a megabyte or more follow each
            other, they run in a loop over blocks that fit the processor's cache. By default the source has the same
            calls without blocks. Both agree to the bit, except for sums, means and products over the axis that is cut
            into blocks, and values computed from these, which are rounded in another order.

        Returns
        -------
        str
        """
        name = getattr(self, "__name__", "the function")
        return self._programs.source(name, args, kwargs, as_run)

    def __repr__(self) -> str:
        # Not the repr of the function, whose address would differ at each run of a notebook.
        name: str = getattr(self, "__qualname__", type(self.python_function).__name__)
        return self._programs.text(name.rpartition("<locals>.")[2])


class Function(Replayed[P, T]):
    """A function that is traced on its first two calls with a signature, and then replayed as a program.

    Made by `function`.

    Attributes
    ----------
    python_function : callable
        The function itself.
    max_programs : int
        The maximum number of programs; further kinds of calls stay eager.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> f = tm.function(lambda x: x * x)
    >>> [f(tm.constant(x)) for x in (1.0, 2.0, 3.0)]
    [Tensor(1.0), Tensor(4.0), Tensor(9.0)]
    >>> isinstance(f, tm.Function), len(f.programs), f.why_eager
    (True, 1, '')
    """

    __tape_unwatched__ = INTERNAL

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
            """Replay the program for these arguments, or trace the function."""

    else:
        __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(
        self, python_function: Callable[P, T], max_programs: int = 8, warns: bool = True
    ) -> None:
        update_wrapper(self, python_function)
        self.python_function = python_function
        self.max_programs = max_programs
        self._programs = self.new_cache(warns)
        self._programs.serve(self)
        self._bound: dict[int, tuple[Any, ProgramCache]] = {}

    @overload
    def __get__(self, owner: None, kind: Any = None) -> Self: ...
    @overload
    def __get__(
        self: Function[Concatenate[Any, Rest], T], owner: object, kind: Any = None
    ) -> BoundFunction[Rest, T]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Return the function as a method, with separate programs for each object."""
        if owner is None:
            return self
        return BoundFunction(self, owner)  # type: ignore[arg-type] # of a method

    def new_cache(self, warns: bool) -> ProgramCache:
        """Return an empty store of programs."""
        return ProgramCache(self.max_programs, warns)

    def programs_of(self, owner: Any) -> ProgramCache:
        """The programs of the function as a method of an object; they are deleted with the object."""
        entry = self._bound.get(id(owner))
        if entry is not None and entry[0]() is owner:
            return entry[1]
        programs = self.new_cache(self._programs.warns)
        bound, i = self._bound, id(owner)

        def forget(_: Any) -> None:
            bound.pop(i, None)

        try:
            bound[i] = weakref.ref(owner, forget), programs
        except TypeError:
            programs.disable(
                f"objects of the class {type(owner).__name__} cannot be referred to weakly: "
                "add '__weakref__' to its __slots__"
            )
        return programs

    def reset(self) -> None:
        """Forget all programs."""
        self._programs.reset()
        self._bound.clear()

    def of(self, python_function: Callable[P, T]) -> Function[P, T]:
        """Return another function with the same options."""
        return Function(python_function, self.max_programs)

    def __copy__(self) -> Function[P, T]:
        return self.of(self.python_function)

    def __deepcopy__(self, memo: Any) -> Function[P, T]:
        from copy import deepcopy

        return self.of(deepcopy(self.python_function, memo))

    def __reduce__(self) -> Any:
        module, name = getattr(self, "__module__", None), getattr(self, "__qualname__", "")
        importable: Any = sys.modules.get(module or "")
        for part in name.split("."):
            importable = getattr(importable, part, None)
        return name if importable is self else (Function, (self.python_function, self.max_programs))


class BoundFunction(Replayed[P, T]):
    """A `Function` as a method of an object.

    - `python_function`: The method itself.
    """

    __slots__ = ("__self__", "__weakref__", "_programs", "python_function")

    def __init__(self, function: Function[Concatenate[Any, P], T], owner: Any) -> None:
        self.python_function = MethodType(function.python_function, owner)
        self.__self__ = owner
        self._programs = function.programs_of(owner)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Replay the program for these arguments; without a matching program, trace the function."""
        if is_followed():
            return self.python_function(*args, **kwargs)
        result = self._programs.driver(*args, **kwargs)
        if result.__class__ is Miss:
            result = self._programs.call(self.python_function, args, kwargs, result)
        return result  # type: ignore[no-any-return]

    def reset(self) -> None:
        """Forget all programs of this object."""
        self._programs.reset()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.python_function, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundFunction) and self.python_function == other.python_function

    def __hash__(self) -> int:
        return hash(self.python_function)

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.python_function.__name__)


@overload
def function(f: Callable[P, T], *, max_programs: int = 8) -> Function[P, T]: ...
@overload
def function(
    f: None = None, *, max_programs: int = 8
) -> Callable[[Callable[P, T]], Function[P, T]]: ...
def function(f: Callable[..., Any] | None = None, *, max_programs: int = 8) -> Any:
    """Trace a function twice, then replay it as a program of NumPy calls.

    The program computes the same to the bit, without any tape. It holds for arguments of the same structure, shapes and
    dtypes, and the same Python numbers; for others the function is traced again. What cannot be a program runs as it is
    written: `why_eager` says why. Raises FunctionError if `f` is a generator or asynchronous; OptionError if `f` isn't
    callable, or `max_programs` isn't a positive integer.

    Parameters
    ----------
    f : callable
        It may use nested tapes, read and assign Variables, and call optimizers. If omitted, a decorator is returned.
    max_programs : int, optional
        The maximum number of programs; further kinds of calls stay eager.

    Returns
    -------
    Function

    Warns
    -----
    EagerWarning
        Once, if calls cannot be a program.

    Notes
    -----
    A function becomes a program if everything that it depends on can be seen:

    - it reads global names, variables around it, defaults, attributes and items that are Variables, tensors, arrays,
      numbers, strings, enums, lists, tuples, dicts, or your own functions, classes, objects and modules. Arrays may be
      replaced and written into between calls; everything else is compared at each call.
    - it calls NumPy, tapemagic, `math`, `operator`, `itertools`, `functools`, `collections`, `copy`, `dataclasses`,
      `re`, `string`, and `special`, `linalg`, `fft`, `ndimage` and `signal` of SciPy.
    - it changes nothing but Variables, by `assign`. Up to three calls may change something else, as the first call of a
      model builds its layers.

    Layers that draw random numbers, such as `Dropout`, the functions of `tf.random`, `tf.print` and the checks of
    `tf.debugging` are calls of the program: they draw, print and check at each call, in order.

    Otherwise it stays eager: if it prints, draws numbers by `np.random` or `random`, sets a seed, opens a file, catches
    errors (``try``, ``contextlib``), calls ``type(x)``, ``id``, ``eval`` or another library, or reads a set, an
    iterator, an object with ``__getattr__``, or a bound method that is kept under a name (``add = items.append``). Not
    watched are assignments to ``__bases__`` of a class, and patches of libraries and of built-in functions.

    Variables are assigned after the last line of the function: if it raises an error, they keep their values.
    Under a tape that is recording already, the function runs eagerly, and the tape records it.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> @tm.function
    ... def slope(x):
    ...     with tm.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = x * np.sin(x)
    ...     return tape.gradient(y, x)
    >>> [slope(tm.constant(k / 2)) for k in range(3)]
    [Tensor(0.0), Tensor(0.91821682), Tensor(1.3817733)]
    >>> len(slope.programs), slope.why_eager
    (1, '')
    """
    limit: Any = max_programs
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise OptionError(
            f"max_programs must be a positive integer, not {shown(max_programs)}: write max_programs=8"
        )
    if f is None:
        return lambda decorated: function(decorated, max_programs=max_programs)
    return Function(checked_function(f), max_programs)


def checked_function(f: Callable[..., Any], decorator: str = "tm.function") -> Callable[..., Any]:
    """Return a function that can be traced, or raise an error that names the decorator."""
    if isinstance(f, Function):
        f = f.python_function
    candidate: Any = f
    if isinstance(candidate, classmethod | staticmethod):
        name = type(f).__name__
        raise OptionError(
            f"{decorator} takes a function, not a {name}: write @{name} above @{decorator}"
        )
    if not callable(candidate) or isinstance(candidate, type):
        raise OptionError(f"{decorator} takes a function, not {shown(f)}: write {decorator}(f)")
    inner = inspect.unwrap(getattr(f, "func", f))
    odd = (
        (inspect.isgeneratorfunction, "a generator: return a list"),
        (inspect.iscoroutinefunction, "asynchronous: call a plain function inside of it"),
        (inspect.isasyncgenfunction, "asynchronous: call a plain function inside of it"),
    )
    for test, what in odd:
        if test(inner):
            raise FunctionError(f"{decorator} takes no function that is {what}")
    return f
