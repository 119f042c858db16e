"""NumPy function -> how to differentiate it: a dict, and the few functions that fill and read it.

A rule is called ``rule(g, y, *inputs, **params)``, where ``g`` is dL/dy and ``y`` the result, and returns
dL/d(that input), in any shape that broadcasting could have come from: the sweep sums it back. A parameter
whose name starts with an underscore is not read by the rule; the tape then keeps only its shape and dtype.
``g`` may carry extra leading axes, so a rule counts its axes from the end.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from tapemagic.errors import UnsupportedArgumentError

Function = Callable[..., Any]
Rule = Callable[..., Any]
F = TypeVar("F", bound=Function)

HARMLESS = frozenset({"dtype", "casting", "subok", "like"})


class Operation:
    """A function that tapes record, with a rule for each of its array arguments.

    Attributes
    ----------
    function : callable
        Computes the value.
    on_arrays : callable
        The same for arrays alone, without looking for tensors among the arguments.
    number : int
        Its place in `NUMBERED`, by which records know it: a number, unlike an object, is nothing that
        Python's garbage collector would follow, and it need not look at the records of a long tape.
    name : str
        What pictures and messages call it.
    rules : tuple of callable or None
        One for each array argument; None where there is no derivative.
    joint_rule : callable or None
        For a function of any number of arrays: one rule ``joint_rule(argnums, g, y, *inputs, **params)``, which
        returns the gradients of the inputs at the positions `argnums`, in that order.
    inputs : tuple of str
        The names of the array arguments, for calls that give them by keyword; found out when needed.
    pointwise : bool
        Whether each element of the result depends on the elements at its own place alone.
    selects : callable or None
        For a function of one array, of which each result is a sum of few elements, multiplied with whole numbers, of
        the array: called as the function, with the numbers of the elements in their place, it returns a list of pairs,
        such a factor and, for each result, the number of the element, or 0 for none. Or None, if there are too many.
    spreads : bool
        Whether the rules do no more than lay out elements of the gradient, or zeros: each element of an input is
        added to one element of the result, or to none.
    accepts : frozenset of str
        The keyword arguments that the rules understand.
    ignores : frozenset of str
        Keyword arguments on which no derivative depends.
    """

    __slots__ = (
        "_leads",
        "_names",
        "_unread",
        "accepts",
        "function",
        "ignores",
        "inputs",
        "joint_rule",
        "name",
        "number",
        "on_arrays",
        "pointwise",
        "rules",
        "selects",
        "spreads",
    )

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
        self.accepts: frozenset[str] = frozenset()
        self.ignores: frozenset[str] = HARMLESS | ({"order"} if self.pointwise else set())
        self._names: tuple[str, ...] | None = None
        self._leads = True
        self._unread: dict[tuple[bool, ...], tuple[int, ...]] = {}

    def __repr__(self) -> str:
        return f"<operation {self.name}>"

    def rule_for(self, position: int) -> Rule | None:
        """The rule ``rule(g, y, *inputs, **params)`` of the array argument at `position`."""
        joint = self.joint_rule
        if joint is None:
            return self.rules[position]
        return lambda *args, **params: joint((position,), *args, **params)[0]

    def bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Sort the arguments of a call into array inputs and parameters by keyword."""
        if self.joint_rule is not None:
            return tuple(args), dict(kwargs)
        if self._leads and len(args) <= len(self.rules) and not kwargs:
            return tuple(args), {}
        names = self.names()
        if len(args) > len(names):
            raise TypeError(f"{self.name}() takes at most {len(names)} arguments, not {len(args)}")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        inputs = [given.pop(name, None) for name in self.inputs]
        while inputs and inputs[-1] is None:
            inputs.pop()
        return tuple(inputs), {name: value for name, value in given.items() if not _no_value(value)}

    def names(self) -> tuple[str, ...]:
        """The function's parameters, in the order in which they may be given by position."""
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
        """The parameters that the rules want to see.

        Raises
        ------
        UnsupportedArgumentError
            If one of `params` is neither understood by the rules nor without effect on them.
        """
        for name, value in params.items():
            if name not in self.accepts and name not in self.ignores and value is not None:
                if name not in self.names():
                    raise UnsupportedArgumentError(
                        f"{self.name}() has no argument {name!r}: it takes {', '.join(self.names())}"
                    )
                raise UnsupportedArgumentError(
                    f"{self.name}(..., {name}={value!r}) has no derivative here: leave {name!r} out, or compute "
                    f"knowingly outside the tape, with {self.name}(x.numpy(), {name}=...)"
                )
        return {name: value for name, value in params.items() if name in self.accepts}

    def unread(self, tracked: tuple[bool, ...]) -> tuple[int, ...]:
        """The positions of the inputs that no rule of a tracked input reads; -1 is the output."""
        if self.joint_rule is not None:
            read = _parameters_read(self.joint_rule, skip=2, count=len(tracked) + 1)
            return tuple(position - 1 for position, needed in enumerate(read) if not needed)
        known = self._unread.get(tracked)
        if known is None:
            count = len(tracked)
            read = [False] * (count + 1)
            for position in range(count):
                rule = self.rules[position]
                if tracked[position] and rule is not None:
                    names = _parameters_read(rule, skip=1, count=count + 1)
                    read = [a or b for a, b in zip(read, names, strict=True)]
            known = tuple(position - 1 for position, needed in enumerate(read) if not needed)
            self._unread[tracked] = known
        return known


def _no_value(value: Any) -> bool:
    return type(value).__name__ == "_NoValueType"


def _parameters_read(rule: Rule, skip: int, count: int) -> list[bool]:
    """For each of the `count` parameters after the first `skip`, whether a rule reads it, judged by its name."""
    code = rule.__code__
    reads = [not name.startswith("_") for name in code.co_varnames[skip : code.co_argcount]][:count]
    if len(reads) < count:
        star = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        reads += [not star.startswith("_")] * (count - len(reads))
    return reads


def _keywords(rule: Rule, skip: int) -> frozenset[str]:
    """The keyword arguments of a rule: those after its first `skip` parameters."""
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
"""The methods of ufuncs that have a name of their own."""


def operation(function: Function) -> Operation:
    """The operation of a function, made on first mention; its rules may come later."""
    if function not in OPERATIONS:
        OPERATIONS[function] = Operation(function)
    return OPERATIONS[function]


def constant_operation(function: Function) -> Operation:
    """The operation of a function without derivative: tapes record that a path ends there."""
    entry = _CONSTANT.get(function)
    if entry is None:
        entry = _CONSTANT[function] = Operation(function)
        entry.joint_rule = no_derivative
    return entry


def no_derivative(argnums: Sequence[int], _g: Any, _y: Any, *_inputs: Any) -> list[None]:
    """The rule of what is constant almost everywhere."""
    return [None] * len(argnums)


LATER: list[Callable[[], object]] = []
"""Fill the rest of the table, when a function is not found in it. One that fails stays, and is tried again."""

OPTIONAL: dict[str, Callable[[], object]] = {}
"""The same for modules which a program may import or not: filled once they are there."""

_lock = RLock()
_registered: list[set[Function]] = []
"""The functions that the running attempt to fill the table has registered; empty if none runs."""
_unfinished: set[Function] = set()
"""Those that failed attempts have registered: the next one may register them again."""


def complete() -> bool:
    """Fill the rest of the table; whether there was one, which another thread may have filled meanwhile.

    Raises
    ------
    Exception
        Whatever one of the modules that fill it raises; the table then still counts as incomplete.
    """
    if not LATER and OPTIONAL.keys().isdisjoint(sys.modules):
        return False
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
    """Run one of the functions that fill the table, and remember what it registered before it failed."""
    _registered.append(set())
    try:
        fill()
    except BaseException:
        _unfinished.update(_registered[0])
        raise
    finally:
        _registered.pop()


def known(function: Function) -> bool:
    """Whether the table has an entry for `function`."""
    entry = OPERATIONS.get(function)
    return (
        function in COMPOSITES
        or function in PLAIN
        or (entry is not None and bool(entry.rules or entry.joint_rule))
    )


def _new(function: Function) -> None:
    """Make sure that a function has no entry, in the whole table if it is not one of this package."""
    if not (getattr(function, "__module__", None) or "").startswith("tapemagic."):
        complete()
    if _registered:
        _registered[0].add(function)
    if known(function) and function not in _unfinished:
        raise ValueError(
            f"{operation(function).name} is in the table already: a second rule would hide the first"
        )


def vjp(
    function: Function, *rules: Rule | None, inputs: str = "", ignores: str = "", name: str = ""
) -> None:
    """Give `function` one rule for each array argument.

    Parameters
    ----------
    function : callable
        A NumPy function, or one of our own.
    *rules : callable or None
        ``rule(g, y, *inputs, **params)``; None for an argument without a derivative.
    inputs : str, optional
        The names of the array arguments, separated by spaces, where they are not the first ones.
    ignores : str, optional
        Names of keyword arguments on which no derivative depends.
    name : str, optional
        What pictures call it, where the function's own name does not say it.

    Raises
    ------
    ValueError
        If `function` has an entry already.
    """
    _new(function)
    entry = operation(function)
    entry.name = name or entry.name
    entry.inputs = tuple(inputs.split())
    entry._leads = not entry.inputs
    entry.accepts = frozenset().union(*(_keywords(rule, 2 + len(rules)) for rule in rules if rule))
    entry.ignores |= frozenset(ignores.split())
    entry._names = None
    entry.rules = rules  # last, since other threads may read them


def vjp_argnums(function: Function, rule: Rule, name: str = "", ignores: str = "") -> None:
    """Give a `function` of any number of arrays one rule for all of them.

    Parameters
    ----------
    function : callable
        A function whose positional arguments are arrays.
    rule : callable
        ``rule(argnums, g, y, *inputs, **params)``, which returns a gradient, or None, for each of the positions
        `argnums`. One call for all of them, since a call for each would cost their number squared.
    name, ignores : str, optional
        As for `vjp`.

    Raises
    ------
    ValueError
        If `function` has an entry already.
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
    """Say of functions which are no ufuncs that they compute each element by itself."""
    for function in functions:
        operation(function).pointwise = True


def selects(*functions: Function) -> None:
    """Say of functions of one array that each element of the result is one of the array, or zero."""
    for function in functions:
        operation(function).selects = partial(_once, function)


def _once(function: Function, *args: Any, **params: Any) -> list[tuple[int, Any]]:
    """The numbers that a function selects, with the factor 1."""
    return [(1, function(*args, **params))]


def spreads(*functions: Function) -> None:
    """Say of functions that their rules lay out elements of the gradient, and zeros, and compute nothing."""
    for function in functions:
        operation(function).spreads = True


def composite(function: Function) -> Callable[[F], F]:
    """Decorate what computes `function` out of other functions, which are then recorded in its place."""

    def register(replacement: F) -> F:
        _new(function)
        COMPOSITES[function] = replacement
        return replacement

    return register


def not_differentiable(*functions: Function) -> None:
    """Name functions whose results are constant: plain arrays where they are whole numbers or truth values."""
    for function in functions:
        _new(function)
        PLAIN.add(function)
