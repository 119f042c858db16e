"""Traces: recorders of the NumPy calls that a function makes while it runs."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import fields
from functools import partial
from threading import get_ident
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tapemagic.engine.effects import performed
from tapemagic.engine.laziness import LAZY, is_lazy
from tapemagic.engine.recording import Absent, live, open_blocks
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.engine.tracing import trace_into
from tapemagic.programs.object_kinds import may_run_user_code
from tapemagic.programs.program import (
    SINGLE,
    Back,
    Constant,
    Guard,
    Input,
    Kind,
    Node,
    Site,
    kind_of,
)
from tapemagic.programs.reasons import a_or_an
from tapemagic.programs.text.naming import Names
from tapemagic.programs.tracing.calls import ARRAYS_AT_ONCE, user_frame
from tapemagic.programs.tracing.symbol import Symbol, concrete, has_symbol, shaped_by_data

INDEX = np.dtype(np.intp)
TRUTH = kind_of(False)

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), np.dtype, type, range)
"""The types of arguments that a program contains unchanged."""

PLAIN_NUMBERS = frozenset({type(None), bool, int, float})

ARRAYS = (np.ndarray, np.generic)

NUMBERS = (*ARRAYS, bool, int, float, complex)

CAUGHT = (ArithmeticError, LookupError, ValueError, Warning)
"""Errors that depend on numbers: a function that catches one takes a branch without a guard."""

MAX_NODES = 20_000
"""Maximum number of nodes; a longer function stays eager."""

READS_MORE = (
    "a Python function that reads or assigns more than its arguments: pass them, and return results"
)
"""The reason if a Python function that a program would call touches values of the traced function."""

MAX_REASONS = 8
"""The number of reasons that a trace keeps: the first ones."""

_current: ContextVar[Trace | None] = ContextVar("trace", default=None)
current = _current.get
"""Return the trace that is open on this thread, or None."""

# Without reference counts, each call returns a new nan, which is in no set: operations in place
# then stop the trace.
_count = getattr(sys, "getrefcount", lambda _: float("nan"))


def _references(symbol: Symbol) -> tuple[float, float]:
    """Count the references to a symbol's array, and to the array whose memory it views."""
    array = symbol._concrete
    return _count(array), 0.0 if array.base is None else _count(array.base)


UNSHARED_REFCOUNTS = frozenset(
    {_references(Symbol(None, None, np.zeros(2)[k:])) for k in (0, 1)}
) | {_references(Symbol(None, None, np.zeros(2)))}
"""Reference counts of arrays without other names, measured at import: they differ by version of Python."""


def _errstate_reader() -> Callable[[], Any]:
    """Return a function whose result changes with np.errstate, and which is faster than np.geterr.

    NumPy keeps its error handling in a context variable: the one that np.errstate changes.
    """
    before = copy_context()
    with np.errstate(all="ignore"):
        inside = copy_context()
    changed = [variable for variable, value in inside.items() if before.get(variable) is not value]
    # A NumPy without this variable: a new object at each call says that it may have changed.
    return partial(changed[0].get, None) if len(changed) == 1 else object


errstate_token = _errstate_reader()
"""Returns a different object after each change of NumPy's error handling."""


class Trace:
    """The recorded computation of a function.

    - `reasons`: List of (str, Site or None). What stopped the trace, with the lines; any reason keeps the function
      eager.
    - `names`: The names of values in user code, and its lines.
    - `named`: Whether they are noted, and the parts of reverse sweeps.
    - `first_draw_site`: The first line on which a layer of `tapemagic.nn` draws random numbers.
    - `exposed`: Whether the function may write into an array that it did not make.
    - `raised`: The last error of a recorded call.
    - `errstate`: What NumPy did with floating-point errors when the trace began.
    """

    def __init__(self, named: bool = True) -> None:
        self.named = named
        self.inputs: list[Input] = []
        self.body: list[Any] = []
        self.reasons: list[tuple[str, Site | None]] = []
        self.names = Names()
        self.back: Back | None = None
        self._constants: dict[int, tuple[Any, Constant]] = {}
        self._assigned: dict[int, Any] = {}
        self._adjoints: dict[int, tuple[Any, dict[Node, Back]]] = {}
        self.first_draw_site: Site | None = None
        self.exposed = False
        self.raised: BaseException | None = None
        self.errstate: Any = np.geterr()
        self._raises = "raise" in self.errstate.values()
        self._errstate_token = errstate_token()
        self._filters = warnings.filters
        self._thread = get_ident()
        self._open = True
        self._sweeping: Any = None
        self._sweeping_at: Site | None = None
        self._in_effect = False
        self._new_sources: list[Any] = []

    def input(self, origin: Any, value: Any, name: str = "") -> Symbol:
        """Return a symbol for an input of the program."""
        node = Input(origin, kind_of(value), name)
        self.inputs.append(node)
        return Symbol(self, node, value)

    def reference(self, array: Any, name: str = "") -> None:
        """Register an array that the program reads again at each call."""
        self._constants[id(array)] = array, Constant(array, True, name)

    @property
    def is_recording(self) -> bool:
        """Return True if calls are recorded: the trace is open, and this is its thread."""
        return self._open and get_ident() == self._thread

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing inside the block."""
        was_open, self._open = self._open, False
        try:
            with trace_into(None):
                yield
        finally:
            self._open = was_open

    def close(self) -> None:
        """Stop recording; the remaining symbols compute like their values."""
        self._open = False

    def release(self) -> None:
        """Release the computed values; the recorded calls stay."""
        self._constants.clear()
        self._assigned.clear()
        self._adjoints.clear()
        self.raised = None
        self.names.forget()

    def value(self, args: Any) -> Any:
        """Replace symbols by their values in nested arguments."""
        return concrete(args)

    def reads(self, args: Any) -> bool:
        """Return True if a symbol is among nested arguments."""
        return has_symbol(args)

    def owned_copy(self, x: Any) -> Any:
        """Copy an array for a caller that writes into it; in the program it is the same value."""
        if type(x) is not Symbol or x._trace is not self or x.__class__ is not np.ndarray:
            return np.copy(x)
        return Symbol(self, x._node, np.copy(x._concrete))

    def call(
        self, function: Any, args: Sequence[Any], kwargs: dict[str, Any], compute: Any = None
    ) -> Any:
        """Call a function with the values of symbols, and record the call.

        `compute`, if passed, is called instead and computes the same.
        """
        values = []
        for x in args:
            values.append(x._concrete if type(x) is Symbol else concrete(x))  # noqa: PERF401 (quicker)
        compute = compute or function
        try:
            result = compute(*values, **concrete(kwargs)) if kwargs else compute(*values)
        except CAUGHT as error:
            self.mark_exit(f"{a_or_an(type(error).__name__)} that the function catches")
            self.raised = error
            raise
        if not self._open or get_ident() != self._thread:
            return result
        if function is operator.getitem and shaped_by_data(args[1]):
            self.mark_exit("x[mask]")
            return result
        if len(self.body) >= MAX_NODES:
            self.mark_exit(f"more than {MAX_NODES:,} operations")
            self.close()
            return result
        node = self.node
        nodes = []
        for x in args:
            mine = type(x) is Symbol and x._trace is self
            nodes.append(x._node if mine else node(x))
        node_kwargs = {name: node(x) for name, x in kwargs.items()} if kwargs else {}
        kind = SINGLE.get(type(result))
        if kind is None:
            return self._result(function, tuple(nodes), node_kwargs, result)
        return Symbol(self, self._written(function, nodes, node_kwargs, kind), result)

    def effect(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Perform an effect with the values of symbols, and record it as a call that always happens.

        Arguments that are neither values nor structures of values, such as generators, are kept by identity. A keyword
        that is None must mean the same as no keyword.
        """
        if self._in_effect or not self.is_recording:
            return performed(function, concrete(tuple(args)), concrete(kwargs))
        if any(x is source for source in self._new_sources for x in (*args, *kwargs.values())):
            self.mark_exit("a random generator that the function makes")
        before = self._progress()
        self._in_effect = True
        try:
            try:
                result = performed(function, concrete(tuple(args)), concrete(kwargs))
            except Exception as error:
                self.mark_exit(f"{a_or_an(type(error).__name__)} that the function catches")
                self.raised = error
                raise
            if self._progress() != before or has_symbol(result):
                self.mark_exit(READS_MORE)
                return concrete(result)
            if len(self.body) >= MAX_NODES:
                self.mark_exit(f"more than {MAX_NODES:,} operations")
                self.close()
                return result
            nodes = tuple(map(self.node, args))
            node_kwargs = {name: self.node(x) for name, x in kwargs.items() if x is not None}
        finally:
            self._in_effect = False
        if result is None:
            self._written(function, nodes, node_kwargs, ())
            return None
        return self._result(function, nodes, node_kwargs, result)

    def _progress(self) -> tuple[int, int, int]:
        """Return how much was recorded, which the code of an effect must not change."""
        return len(self.body), len(self.reasons), len(self._assigned)

    def _result(self, function: Any, args: Any, kwargs: Any, result: Any) -> Any:
        """Return the symbol of a result with an unusual class, or the symbols of several results."""
        if isinstance(result, NUMBERS):
            node = self._written(function, args, kwargs, kind_of(result))
            return Symbol(self, node, result)
        if isinstance(result, tuple | list) and all(isinstance(x, NUMBERS) for x in result):
            node = self._written(function, args, kwargs, tuple(map(kind_of, result)))
            parts = [
                self._result(operator.getitem, (node, k), {}, part) for k, part in enumerate(result)
            ]
            return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
        self.mark_exit(f"{getattr(function, '__name__', function)}()")
        self.exposed = True
        return result

    def _written(self, function: Any, args: Any, kwargs: Any, kind: Any) -> Node:
        changed = self._raises or errstate_token() is not self._errstate_token
        state = self._changed_errstate() if changed else None
        # warnings.catch_warnings replaces the list.
        if warnings.filters is not self._filters:
            self.mark_exit("warnings.catch_warnings()")
        site = self.site(4) if self.named else None
        back = self.back
        if back is not None and self.is_own(site):
            back = back._replace(own=True)
        node = Node(function, args, kwargs, kind, site, back, "", state)
        self.body.append(node)
        return node

    def _changed_errstate(self) -> dict[str, str] | None:
        """Return NumPy's error handling if the traced function has changed it, or if it raises errors."""
        state: Any = np.geterr()
        if state == self.errstate and not self._raises:
            return None
        if "call" in state.values() or "log" in state.values():
            self.mark_exit("np.errstate(...) that calls a function")
        return state  # type: ignore[no-any-return]

    def call_in_place(self, function: Any, inputs: Any, kwargs: Any, out: Symbol) -> Any:
        """Call a function with ``out=``, and record that the array is now the result."""
        how = self._why_not_in_place(kwargs, out)
        if how:
            self.mark_exit(how)
        if how or not self.is_recording or not out._concrete.flags.writeable:
            self.exposed = True
            function(*concrete(inputs), **concrete(kwargs), out=out._concrete)
            return out
        try:
            # Nothing else refers to the array, so in the program its new value is a new array.
            computed = self.call(function, inputs, kwargs)
        except CAUGHT:
            self._written_into_copy(function, inputs, kwargs, out)
            raise
        if computed.shape != out.shape or computed.dtype != out.dtype:
            self._written_into_copy(function, inputs, kwargs, out)
        if computed.shape != out.shape:
            computed = self.call(np.broadcast_to, (computed, out.shape), {})
        if computed.dtype != out.dtype:
            computed = computed.astype(out.dtype)
        if computed.__class__ is not np.ndarray or computed.strides != out.strides:
            if not (out.flags.c_contiguous or out.flags.f_contiguous):
                self.mark_exit(
                    "an operation in place on an array whose axes are permuted in memory"
                )
                self.exposed = True
                out._concrete[...] = concrete(computed)
                return out
            order = "F" if out.flags.f_contiguous and not out.flags.c_contiguous else "C"
            computed = self.call(np.array, (computed,), {"order": order})
        if type(computed) is not Symbol:  # the trace was closed meanwhile
            self.exposed = True
            out._concrete[...] = computed
            return out
        out._node, out._concrete = computed._node, computed._concrete
        return out

    @staticmethod
    def _written_into_copy(function: Any, inputs: Any, kwargs: Any, out: Symbol) -> None:
        """Let NumPy raise the error of an operation in place."""
        function(*concrete(inputs), **concrete(kwargs), out=np.copy(out._concrete))

    @staticmethod
    def _why_not_in_place(kwargs: Any, out: Symbol) -> str:
        """Return the obstacle to an operation in place, or '' if no other array shares the memory."""
        array: Any = out._concrete
        if array.__class__ is not np.ndarray or kwargs.get("where", True) is not True:
            return "an operation in place with where=..."
        is_input = isinstance(out._node, Input)
        if is_input and isinstance(out._node.origin, Variable):
            return ""
        del array
        if is_input or _references(out) not in UNSHARED_REFCOUNTS:
            return "an operation in place on an array that has other names"
        return ""

    def guard(self, x: Symbol) -> bool:
        """Return the bool of a symbol, and record a guard for the rest of the program."""
        expected = bool(x._concrete)
        if self.is_recording:
            self.body.append(Guard(x._node, expected, self.site() if self.named else None))
        return expected

    def require_kind(self, result: Any) -> None:
        """Guard the shape of each result, and whether it is complex."""
        for x in result if isinstance(result, tuple) else (result,):
            if type(x) is not Symbol:
                continue
            shape = self._written(np.shape, (x._node,), {}, Kind((x.ndim,), INDEX, False))
            equal = self._written(np.array_equal, (shape, x.shape), {}, TRUTH)
            self.body.append(Guard(equal, True, equal.site))
            if x.dtype.kind in "fc":
                is_complex = self._written(np.iscomplexobj, (x._node,), {}, TRUTH)
                self.body.append(Guard(is_complex, x.dtype.kind == "c", is_complex.site))

    def record_creation(self, variable: Variable) -> None:
        """Record that this thread has made a Variable; a trace that is compared with another one needn't know."""

    def record_assignment(self, variable: Variable, value: Any) -> None:
        """Record that this thread assigned a value to a Variable."""
        self._assigned[id(variable)] = value

    def is_assigned(self, variable: Variable, value: Any) -> bool:
        """Return True if this thread has assigned a value to a variable."""
        return self._assigned.get(id(variable)) is value

    def record_draw(self) -> None:
        """Record the line on which a layer draws random numbers."""
        if self.is_recording and not self._in_effect and self.first_draw_site is None:
            self.first_draw_site = self.site()

    def record_new_source(self, source: Any) -> None:
        """Record that the function has made a source of random numbers: a program would not begin it again."""
        if not self._in_effect:
            self._new_sources.append(source)

    def mark_exit(self, how: str) -> None:
        """Record that no program can contain the running line."""
        if self.is_recording and len(self.reasons) < MAX_REASONS:
            self.mark_exit_at(how, self.site())

    def mark_exit_at(self, how: str, site: Site | None) -> None:
        """Record that no program can contain a line, or what happens before or after the call."""
        if (
            self.is_recording
            and len(self.reasons) < MAX_REASONS
            and (how, site) not in self.reasons
        ):
            self.reasons.append((how, site))

    def node(self, x: Any) -> Any:
        """Return an argument as the program contains it: a node, a constant or a plain value."""
        kind = type(x)
        if kind is Symbol:
            if x._trace is self:
                return x._node
            return self._constant(x._concrete)
        if kind in PLAIN_NUMBERS:
            return x
        if isinstance(x, Traced):
            return self.node(unwrap(x))
        if is_lazy(x):
            self.mark_exit(LAZY)
            return x
        if isinstance(x, ARRAYS):
            return self._constant(x)
        if kind is tuple or kind is list:
            return kind([self.node(part) for part in x])
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*map(self.node, x))
        if kind is dict:
            return {key: self.node(part) for key, part in x.items()}
        if kind is slice:
            return slice(self.node(x.start), self.node(x.stop), self.node(x.step))
        if not isinstance(x, PLAIN):
            self._look_at(x)
        return x

    def _look_at(self, x: Any) -> None:
        """Stop the trace for an argument that runs user code or whose changes are not recorded."""
        if self._in_effect:
            return
        if may_run_user_code(x):
            self.mark_exit(f"a function that NumPy calls: {ARRAYS_AT_ONCE}")
        elif not callable(x) and not is_plain(x):
            self.mark_exit(f"an argument of type {type(x).__name__}")

    def constant(self, value: Any) -> Constant | None:
        """Return the constant of the program for an array or NumPy scalar that some call read, or None otherwise."""
        entry = self._constants.get(id(value))
        return entry[1] if entry else None

    def _constant(self, value: Any) -> Constant:
        entry = self._constants.get(id(value))
        if entry is not None and (entry[1].by_reference or _equal(entry[1].value, value)):
            return entry[1]
        # A copy, because user code may write into the array after the call.
        constant = Constant(value if is_fixed(value) else _copy(value), from_user=self.back is None)
        self._constants[id(value)] = value, constant
        return constant

    def site(self, own: int = 1) -> Site | None:
        """Return the running line of user code, skipping the last `own` frames."""
        frame = user_frame(own)
        if frame is None:
            return None
        if frame is not self._sweeping:
            return self.names.site(frame)
        if self._sweeping_at is None:
            self._sweeping_at = self.names.site(frame)
        return self._sweeping_at

    def is_own(self, site: Site | None) -> bool:
        """Return True for a line of user code that a sweep runs, rather than the line that began the sweep."""
        return site is not None and site is not self._sweeping_at

    def sweep(self, records: Any, grads: dict[int, Any]) -> Iterator[Any]:
        """Yield the records of a reverse sweep backwards, and mark the nodes that it computes."""
        return self._noted(records, grads) if self.named else reversed(records)

    def _noted(self, records: Any, grads: dict[int, Any]) -> Iterator[Any]:
        before, order = (self.back, self._sweeping, self._sweeping_at), 1
        self._sweeping, self._sweeping_at = user_frame(), None
        sources: dict[int, Input] = {}
        try:
            for record in reversed(records):
                # Tapes store plain tuples, without the fields of `Record`.
                output = record[4]
                of = _first_node(output) if output.__class__ is tuple else _node_of(output)
                if of is not None and of.back and _any_in(record[5], grads):
                    order = max(order, 1 + of.back.order)
                self.back = Back(of, order)
                yield record
                for value, i in zip(record[1], record[2], strict=True):
                    node = _node_of(value)
                    if node is None or i.__class__ is not int:
                        continue
                    if isinstance(node, Input):
                        sources[i] = node
                    g = grads.get(i)
                    if type(g) is not Symbol:
                        g = unwrap(g)
                    if type(g) is not Symbol:
                        self._note_adjoint(g, node)
                    elif g._node.back is not None:
                        g._node.back = g._node.back.reaching(node)
            for i, source in sources.items():
                node = _node_of(unwrap(grads.get(i)))
                if node is not None and node.back is not None:
                    node.back = node.back.of_source(source)
        finally:
            self.back, self._sweeping, self._sweeping_at = before

    def _note_adjoint(self, g: Any, node: Node) -> None:
        """Record that an array is the adjoint of a possible source, unchanged by any call."""
        if g is not None and self.back is not None and (node.name or isinstance(node, Input)):
            _, backs = self._adjoints.setdefault(id(g), (g, {}))
            backs[node] = self.back._replace(to=node)

    def result(self, x: Any) -> Any:
        """Return a result as the program contains it: a node or a constant."""
        node = self.node(x)
        _, backs = self._adjoints.get(id(unwrap(x)), (None, {}))
        if backs and isinstance(node, Constant):
            node.from_user = False
            if len(backs) == 1:  # several values may share one array
                (node.back,) = backs.values()
        return node


def _node_of(value: Any) -> Node | None:
    """Return the node of a value in a record, or None if it has no symbol."""
    return value._node if type(value) is Symbol or type(value) is Absent else None


def _first_node(values: tuple[Any, ...]) -> Node | None:
    """Return the first node among several values, if any."""
    return next(filter(None, map(_node_of, values)), None)


def _any_in(output_id: Any, grads: dict[int, Any]) -> bool:
    """Return True if any result of a record has a gradient."""
    return any(i in grads for i in (output_id if output_id.__class__ is tuple else (output_id,)))


def is_plain(x: Any) -> bool:
    """Return True for a plain value, and for a frozen set or dataclass of plain values.

    Examples
    --------
    >>> is_plain(frozenset({1})), is_plain([1])
    (True, False)
    """
    if isinstance(x, PLAIN):
        return True
    if isinstance(x, frozenset):
        return all(map(is_plain, x))
    parameters = getattr(type(x), "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        return False
    return all(is_plain(getattr(x, field.name)) for field in fields(x))


def is_fixed(value: Any) -> bool:
    """Return True for a NumPy scalar, and for an array whose memory is read-only.

    Examples
    --------
    >>> is_fixed(np.float64(1)), is_fixed(np.ones(2))
    (True, False)
    """
    while isinstance(value, np.ndarray):
        if value.flags.writeable or value.base is None:
            return False
        value = value.base
    return isinstance(value, np.generic | bytes)


def _copy(array: Any) -> Any:
    """Copy an array with its memory layout, on which the rounding of sums and products depends."""
    if array.flags.forc:
        # order="K" drops gaps between elements, overlaps and negative strides.
        copy = np.copy(array, order="K")
        if copy.strides == array.strides or not copy.size:
            return copy
    low, high = byte_bounds(array)
    buffer = np.zeros(high - low, np.uint8)
    start = array.__array_interface__["data"][0] - low
    copy = np.ndarray(array.shape, array.dtype, buffer, start, array.strides)
    np.copyto(copy, array)
    return copy


def _equal(copy: Any, value: Any) -> bool:
    """Return True if a copy still has the bits of its array."""
    return copy is value or (
        copy.shape == value.shape
        and copy.strides == value.strides
        and bool(np.array_equal(_bits(copy), _bits(value)))
    )


def _bits(array: Any) -> Any:
    """Return the bytes of an array's elements."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def is_followed() -> bool:
    """Return True if tapes or a trace record here: then a function runs eagerly."""
    return bool(live()) or current() is not None


@contextmanager
def tracing(trace: Trace | None = None) -> Iterator[Trace]:
    """Open a trace on this thread inside the block."""
    trace = trace or Trace()
    token = _current.set(trace)
    open_blocks.append(None)
    try:
        with trace_into(trace):
            yield trace
    finally:
        open_blocks.remove(None)  # the last item may be another thread's tape
        _current.reset(token)
        trace.close()
