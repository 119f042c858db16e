"""The table of derivatives: a NumPy function -> the rules of its derivative.

A rule is called as ``rule(g, y, *inputs, **params)``, where ``g`` is dL/dy and ``y`` the result. It returns dL/d(that
input), in any shape from which broadcasting could have come, because the sweep sums it to the input's shape. A
parameter whose name starts with an underscore isn't read by the rule, so the tape keeps only its shape and dtype. ``g``
may have extra leading axes, so a rule counts its axes from the end.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from tapemagic.errors import UnsupportedArgumentError

Function = Callable[..., Any]
Rule = Callable[..., Any]
F = TypeVar("F", bound=Function)

NO_SLOPE = "no slope"
"""The name of the operation that marks a gradient without derivatives, at a kink. No user function can have it."""

# Keyword arguments of ufuncs that don't change derivatives: results are cast by the sweep, and
# tensors are never subclasses.
HARMLESS = frozenset({"dtype", "casting", "subok", "like"})


class Operation:
    """A function that tapes record, with a rule for each of its array arguments.

    - `function`: Computes the value.
    - `on_arrays`: Like `function`, but for arrays only: it doesn't look for tensors among the arguments.
    - `number`: Its position in `NUMBERED`, by which records identify it. Python's garbage collector doesn't track
      integers, so a long tape of records that hold only integers and arrays costs it less time.
    - `name`: What figures and messages call it.
    - `rules`: One for each array argument, or None if there is no derivative.
    - `joint_rule`: For a function of any number of arrays: one rule ``joint_rule(argnums, g, y, *inputs, **params)``,
      which returns the gradients of the inputs at the positions `argnums`, in that order.
    - `inputs`: The names of the array arguments, for calls that pass them by keyword; looked up at the first such call.
    - `pointwise`: Whether each element of the result depends only on the elements at the same position.
    - `selects`: For a function of one array whose results are sums of few elements of it, with integer factors: called
      like the function, with the numbers of the elements instead of their values, it returns a list of pairs of a
      factor and, for each result, the number of the element (0: no element). None if there are too many.
    - `spreads`: Whether the rules only copy elements of the gradient, or zeros, to new positions: each element of an
      input was added to at most one element of the result.
    - `suffices`: For a function of one array whose rule reads it only where the result has lost digits: returns True
      if a result has lost none.
    - `chooses`: Whether an exact 0 that a rule returns means that the operation didn't choose this element: for all
      inputs (True), or for the inputs at some positions.
    - `even_zeros`: Whether the zeros that the rules return are at the same places for all values of the inputs.
    - `uses_all`: Whether each element of an input has a part in the result, unless there is a parameter `where`.
    - `accepts`: The keyword arguments that the rules understand.
    - `ignores`: Keyword arguments on which no derivative depends.
    """

    __slots__ = (
        "_leads", "_names", "_unread", "accepts", "chooses", "even_zeros", "function", "ignores", "inputs",
        "joint_rule", "name", "number", "on_arrays", "pointwise", "rules", "selects", "spreads", "suffices", "uses_all",
)  # fmt: skip

    def __init__(self, function: Function) -> None:
        self.number = len(NUMBERED)
        NUMBERED.append(self)
        self.function = function
        self.on_arrays = getattr(function, "on_arrays", function)
        self.name: str = getattr(function, "__name__", str(function)).strip("_")
        self.rules: tuple[Rule | None, ...] = ()
        self.joint_rule: Rule | None = None
        self.inputs: tuple[str, ...] = ()
        self.pointwise = isinstance(function, np.ufunc) and function.signature is None
        self.selects: Callable[..., list[tuple[int, Any]] | None] | None = None
        self.spreads = False
        self.suffices: Callable[[Any], bool] | None = None
        self.chooses: bool | frozenset[int] = False
        self.even_zeros = False
        self.uses_all = False
        self.accepts: frozenset[str] = frozenset()
        self.ignores: frozenset[str] = HARMLESS | ({"order"} if self.pointwise else set())
        self._names: tuple[str, ...] | None = None
        self._leads = True
        self._unread: dict[tuple[bool, ...], tuple[int, ...]] = {}

    def __repr__(self) -> str:
        return f"<operation {self.name}>"

    def chooses_in(self, position: int) -> bool:
        """Return True if an exact 0 of the rule at `position` means that the element wasn't chosen."""
        return self.chooses is True or bool(self.chooses and position in self.chooses)

    def rule_for(self, position: int) -> Rule | None:
        """Return the rule ``rule(g, y, *inputs, **params)`` of the array argument at `position`."""
        joint = self.joint_rule
        if joint is None:
            return self.rules[position]
        return lambda *args, **params: joint((position,), *args, **params)[0]

    def bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Split the arguments of a call into array inputs and keyword parameters."""
        if self.joint_rule is not None:
            return tuple(args), dict(kwargs)
        if self._leads and len(args) <= len(self.rules) and not kwargs:
            return tuple(args), {}
        names = self.names()
        if len(args) > len(names):
            raise TypeError(f"{self.name}() takes at most {len(names)} arguments, not {len(args)}")
        arguments = {**dict(zip(names, args, strict=False)), **kwargs}
        inputs = [arguments.pop(name, None) for name in self.inputs]
        while inputs and inputs[-1] is None:
            inputs.pop()
        return tuple(inputs), {
            name: value for name, value in arguments.items() if not _no_value(value)
        }

    def names(self) -> tuple[str, ...]:
        """Return the function's parameters, in their positional order."""
        if self._names is None:
            try:
                self._names = tuple(inspect.signature(self.function).parameters)
            except ValueError:  # written in C: before NumPy 2.4 such a function has no signature
                count = getattr(self.function, "nin", 0)
                self._names = self.inputs or tuple(f"x{i + 1}" for i in range(count))
                self._names += ("out",)
            self.inputs = self.inputs or self._names[: len(self.rules)]
            self._leads = self.inputs == self._names[: len(self.inputs)]
        return self._names

    def check(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that the rules read.

        Raises UnsupportedArgumentError if one of `params` is neither read by the rules nor irrelevant to them.
        """
        for name, value in params.items():
            if name not in self.accepts and name not in self.ignores and value is not None:
                if name not in self.names():
                    raise UnsupportedArgumentError(
                        f"{self.name}() has no argument {name!r}: it takes {', '.join(self.names())}"
                    )
                raise UnsupportedArgumentError(
                    f"{self.name}(..., {name}={value!r}) has no derivative here. It has one without {name!r}, which "
                    f"may change the result. If you need no gradient, write {self.name}(x.numpy(), {name}=...)"
                )
        return {name: value for name, value in params.items() if name in self.accepts}

    def unread(self, tracked: tuple[bool, ...]) -> tuple[int, ...]:
        """Return the positions of the inputs that no rule of a tracked input reads; -1 is the output."""
        if self.joint_rule is not None:
            read = _parameters_read(self.joint_rule, skip=2, count=len(tracked) + 1)
            return tuple(position - 1 for position, needed in enumerate(read) if not needed)
        unread = self._unread.get(tracked)
        if unread is None:
            count = len(tracked)
            read = [False] * (count + 1)
            for position in range(count):
                rule = self.rules[position]
                if tracked[position] and rule is not None:
                    names = _parameters_read(rule, skip=1, count=count + 1)
                    read = [a or b for a, b in zip(read, names, strict=True)]
            unread = tuple(position - 1 for position, needed in enumerate(read) if not needed)
            self._unread[tracked] = unread
        return unread


# The default of many NumPy parameters, np._NoValue, is private, so it is recognized by its type.
def _no_value(value: Any) -> bool:
    return type(value).__name__ == "_NoValueType"


def _parameters_read(rule: Rule, skip: int, count: int) -> list[bool]:
    """Return whether a rule reads each of its `count` parameters after the first `skip`, judging by their names."""
    # Names starting with an underscore are a contract, not a convention: `lambda g, _y, x: ...`
    # says that y isn't read.
    code = rule.__code__
    reads = [not name.startswith("_") for name in code.co_varnames[skip : code.co_argcount]][:count]
    if len(reads) < count:
        # co_varnames lists positional parameters, keyword-only parameters, and then *args.
        star = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        reads += [not star.startswith("_")] * (count - len(reads))
    return reads


def _keywords(rule: Rule, skip: int) -> frozenset[str]:
    """Return the keyword arguments of a rule, which follow its first `skip` parameters."""
    code = rule.__code__
    return frozenset(code.co_varnames[skip : code.co_argcount + code.co_kwonlyargcount])


OPERATIONS: dict[Function, Operation] = {}
_CONSTANT: dict[Function, Operation] = {}
NUMBERED: list[Operation] = []
COMPOSITES: dict[Function, Function] = {}
PLAIN: set[Function] = set()
NAMED: dict[tuple[str, np.ufunc], Function] = {
    ("reduce", np.add): np.sum,
    ("reduce", np.multiply): np.prod,
    ("reduce", np.maximum): np.max,
    ("reduce", np.minimum): np.min,
    ("reduce", np.logical_and): np.all,
    ("reduce", np.logical_or): np.any,
    ("accumulate", np.add): np.cumsum,
    ("accumulate", np.multiply): np.cumprod,
}
"""Methods of ufuncs that NumPy also offers as a function."""


def operation(function: Function) -> Operation:
    """Return the operation of a function, created at the first call; its rules may be added later."""
    # Keyed by the function object: np.trace and np.linalg.trace share a name.
    if function not in OPERATIONS:
        OPERATIONS[function] = Operation(function)
    return OPERATIONS[function]


def constant_operation(function: Function) -> Operation:
    """Return the operation of a function without derivative, at which tapes record the end of a path."""
    entry = _CONSTANT.get(function)
    if entry is None:
        entry = _CONSTANT[function] = Operation(function)
        entry.joint_rule = no_derivative
    return entry


def no_derivative(argnums: Sequence[int], _g: Any, _y: Any, *_inputs: Any) -> list[None]:
    """The rule of functions that are constant almost everywhere."""
    return [None] * len(argnums)


LATER: list[Callable[[], object]] = []
"""Functions that fill the rest of the table when a function isn't in it. One that fails is tried again later."""

OPTIONAL: dict[str, Callable[[], object]] = {}
"""Functions that fill the table for optional modules, by module name: called once the program has imported it."""

_lock = RLock()
_registered: list[set[Function]] = []
"""The functions that the running attempt to fill the table has registered, or an empty list."""
_unfinished: set[Function] = set()
"""Functions that a failed attempt registered: only these may be registered twice."""


def complete() -> bool:
    """Fill the rest of the table; return False if it was already complete.

    Raises
    ------
    Exception
        Any error of a module that fills the table. The table then still counts as incomplete.
    """
    if not LATER and OPTIONAL.keys().isdisjoint(sys.modules):
        return False
    # Two threads may both find the table incomplete. The lock is reentrant, because modules
    # register rules.
    with _lock:
        if _registered:  # called by one of the modules that fill the table
            return False
        while LATER:
            _fill(LATER[0])
            del LATER[0]
        for module in OPTIONAL.keys() & sys.modules.keys():
            _fill(OPTIONAL[module])
            del OPTIONAL[module]
        _unfinished.clear()
    return True


def _fill(fill: Callable[[], object]) -> None:
    """Call a function that fills the table, and remember what it registered if it fails."""
    _registered.append(set())
    try:
        fill()
    except BaseException:
        _unfinished.update(_registered[0])
        raise
    finally:
        _registered.pop()


def is_known(function: Function) -> bool:
    """Return True if the table has an entry for `function`."""
    entry = OPERATIONS.get(function)
    return (
        function in COMPOSITES
        or function in PLAIN
        or (entry is not None and bool(entry.rules or entry.joint_rule))
    )


def _new(function: Function) -> None:
    """Check that a function has no entry yet; for functions of other packages, complete the table first."""
    if not (getattr(function, "__module__", None) or "").startswith("tapemagic."):
        complete()
    if _registered:
        _registered[0].add(function)
    if is_known(function) and function not in _unfinished:
        raise ValueError(
            f"{operation(function).name} is in the table already: a second rule would hide the first"
        )


def vjp(
    function: Function, *rules: Rule | None, inputs: str = "", ignores: str = "", name: str = ""
) -> None:
    """Give `function` one rule for each array argument.

    - `function`: A NumPy function, or a function of this package.
    - `*rules`: ``rule(g, y, *inputs, **params)``, or None for an argument without a derivative.
    - `inputs`: The names of the array arguments, separated by spaces, if other arguments precede them.
    - `ignores`: Names of keyword arguments on which no derivative depends.
    - `name`: The name in figures and messages, if the function's own name isn't suitable.

    Raises ValueError if `function` has an entry already.
    """
    _new(function)
    entry = operation(function)
    entry.name = name or entry.name
    entry.inputs = tuple(inputs.split())
    entry._leads = not entry.inputs
    entry.accepts = frozenset().union(*(_keywords(rule, 2 + len(rules)) for rule in rules if rule))
    entry.ignores |= frozenset(ignores.split())
    entry._names = None
    entry.rules = rules  # last, because other threads may read the entry


def vjp_argnums(function: Function, rule: Rule, name: str = "", ignores: str = "") -> None:
    """Give a `function` of any number of arrays a single rule for all arguments.

    - `function`: A function whose positional arguments are arrays.
    - `rule`: ``rule(argnums, g, y, *inputs, **params)``, which returns a gradient, or None, for each of the positions
      `argnums`. A single call for all positions: a call per position would take time proportional to their square.
    - `name`, `ignores`: See `vjp`.

    Raises ValueError if `function` has an entry already.
    """
    _new(function)
    entry = operation(function)
    entry.name = name or entry.name
    code = rule.__code__
    entry.accepts = frozenset(
        code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    )
    entry.ignores |= frozenset(ignores.split())
    entry.joint_rule = rule


def pointwise(*functions: Function) -> None:
    """Declare that functions other than ufuncs compute each element independently."""
    for function in functions:
        operation(function).pointwise = True


def selects(*functions: Function) -> None:
    """Declare that each result of functions of one array is an element of the array, or zero."""
    for function in functions:
        operation(function).selects = partial(_once, function)


def _once(function: Function, *args: Any, **params: Any) -> list[tuple[int, Any]]:
    """Return the numbers of the elements that a function selects, with the factor 1."""
    return [(1, function(*args, **params))]


def spreads(*functions: Function) -> None:
    """Declare that the rules of functions only copy elements of the gradient, and zeros, to new positions."""
    for function in functions:
        operation(function).spreads = True


def lean(function: Function, suffices: Callable[[Any], bool]) -> None:
    """Declare that a tape needn't keep the argument of a function if ``suffices(result)`` is true."""
    operation(function).suffices = suffices


def chooses(*functions: Function, inputs: Iterable[int] = ()) -> None:
    """Declare that rules give exactly 0 to elements that functions didn't choose, and to no others.

    `inputs` are the positions of the inputs with such rules, by default all.
    """
    for function in functions:
        operation(function).chooses = frozenset(inputs) or True


def even_zeros(*functions: Function, uses_all: bool = False) -> None:
    """Declare that the zeros of the rules of functions are at the same places for all values.

    With `uses_all`, each element of an input also has a part in the result.
    """
    for function in functions:
        operation(function).even_zeros = True
        operation(function).uses_all = uses_all


def composite(function: Function) -> Callable[[F], F]:
    """Decorate an implementation of `function` by other functions, which tapes record instead of `function`."""

    def register(replacement: F) -> F:
        _new(function)
        COMPOSITES[function] = replacement
        return replacement

    return register


def not_differentiable(*functions: Function) -> None:
    """Declare that results of functions are constant; integers and bools are returned as plain arrays."""
    for function in functions:
        _new(function)
        PLAIN.add(function)
