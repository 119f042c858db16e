"""Trace: the writing down of what a function computes, while it computes it."""

from __future__ import annotations

import operator
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from tapemagic.engine.events import origin_of
from tapemagic.engine.recording import sweep_reader
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.replay.naming import Names
from tapemagic.replay.program import Back, Constant, Guard, Input, Node, Site, kind_of
from tapemagic.replay.symbol import Symbol, held

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), np.dtype, type)
"""The types of arguments that stand in a program as they are."""

MOST_NODES = 20_000
"""The number of nodes above which a function stays eager."""

_current: ContextVar[Trace | None] = ContextVar("trace", default=None)
current = _current.get


class Trace:
    """What a function computes, written down call by call.

    Attributes
    ----------
    body : list of Node and Guard
    reasons : list of (str, Site or None)
        By what, and on which lines, values left the trace: if there are any, it is no program.
    names : Names
        The user's names for values, and his lines.
    """

    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.body: list[Any] = []
        self.reasons: list[tuple[str, Site | None]] = []
        self.names = Names()
        self.back: Back | None = None
        self._constants: dict[int, tuple[Any, Constant]] = {}
        self._symbols: list[weakref.ref[Symbol]] = []
        self._thread = threading.get_ident()
        self._open = True

    def input(self, origin: Any, value: Any, name: str = "") -> Symbol:
        """A symbol for a value that is given at each call."""
        node = Input(origin, kind_of(value), name)
        self.inputs.append(node)
        return self._symbol(node, value)

    def reference(self, array: Any, name: str = "") -> None:
        """Make an array known that the program shall read anew at each call."""
        self._constants[id(array)] = array, Constant(array, True, name)

    @property
    def writes(self) -> bool:
        """Whether calls are written down: the trace is open, and this is its thread."""
        return self._open and threading.get_ident() == self._thread

    def close(self) -> None:
        """Write nothing down any more; symbols that are left compute as their values do."""
        self._open = False

    def call(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function with the values of symbols, and write the call down."""
        result = function(*held(tuple(args)), **held(dict(kwargs)))
        if not self.writes:
            return result
        if len(self.body) >= MOST_NODES:
            self.leave(f"more than {MOST_NODES:,} operations")
            return result
        node_args = tuple(self.node(x) for x in args)
        node_kwargs = {name: self.node(x) for name, x in kwargs.items()}
        return self._result(function, node_args, node_kwargs, result)

    def _result(self, function: Any, args: Any, kwargs: Any, result: Any) -> Any:
        if isinstance(result, (bool, int, float, complex)):
            result = np.asarray(result)[()]
        if isinstance(result, tuple | list):
            kinds = tuple(kind_of(np.asarray(part)) for part in result)
            node = self._add(Node(function, args, kwargs, kinds, self.site(), self.back))
            parts = [
                self._result(operator.getitem, (node, k), {}, part) for k, part in enumerate(result)
            ]
            return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
        if not isinstance(result, np.ndarray | np.generic):
            if result is not None:
                self.leave(f"{getattr(function, '__name__', function)}()")
            return result
        node = Node(function, args, kwargs, kind_of(result), self.site(), self.back)
        return self._symbol(self._add(node), result)

    def call_in_place(self, function: Any, inputs: Any, kwargs: Any, out: Symbol) -> Any:
        """Call a function that writes its result into an array, and write down that the array is now the result."""
        if not self.writes or self._is_shared(out):
            self.leave("an operation in place, on an array that has other names,")
            return function(*held(inputs), **held(kwargs), out=out._held)
        computed = self.call(function, inputs, kwargs)
        if computed.shape != out.shape:
            computed = np.copy(np.broadcast_to(computed, out.shape))
        if computed.dtype != out.dtype:
            computed = computed.astype(out.dtype, casting="same_kind")
        if type(computed) is not Symbol:  # the trace was left meanwhile
            out._held[...] = computed
            return out
        if out._held.__class__ is np.ndarray and computed._held.__class__ is not np.ndarray:
            computed = self.call(np.asarray, (computed,), {})
        out._node, out._held = computed._node, computed._held
        return out

    def _is_shared(self, out: Symbol) -> bool:
        """Whether an array is the caller's own, or other symbols are views of it."""
        if isinstance(out._node, Input) and isinstance(out._node.origin, int):
            return True
        alive = (ref() for ref in self._symbols)
        return any(
            s is not None and s is not out and np.may_share_memory(s._held, out._held)
            for s in alive
        )

    def guard(self, x: Symbol) -> bool:
        """The truth value of a symbol, on which the program depends from here on."""
        found = bool(x._held)
        if self.writes:
            self.body.append(Guard(x._node, found, self.site()))
        return found

    def leave(self, how: str) -> None:
        """Note that a value leaves the trace."""
        if self.writes:
            self.reasons.append((how, self.site()))

    def node(self, x: Any) -> Any:
        """What an argument is in the program."""
        kind = type(x)
        if kind is Symbol:
            if x._trace is self:
                return x._node
            return self._constant(x._held)
        if isinstance(x, Traced):
            return self.node(unwrap(x))
        if isinstance(x, np.ndarray | np.generic):
            return self._constant(x)
        if kind is tuple or kind is list:
            return kind([self.node(part) for part in x])
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*map(self.node, x))
        if kind is dict:
            return {key: self.node(part) for key, part in x.items()}
        if kind is slice:
            return slice(self.node(x.start), self.node(x.stop), self.node(x.step))
        if not isinstance(x, PLAIN) and not callable(x):
            self.leave(f"an argument of type {kind.__name__}")
        return x

    def constant(self, value: Any) -> Constant | None:
        """What an array or NumPy scalar is in the program, if it was read and is the same at each call."""
        known = self._constants.get(id(value))
        return known[1] if known else None

    def _constant(self, value: Any) -> Constant:
        known = self._constants.get(id(value))
        if known is not None and (known[1].by_reference or not isinstance(value, np.ndarray)):
            return known[1]
        made = Constant(np.copy(value) if isinstance(value, np.ndarray) else value)
        self._constants[id(value)] = value, made
        return made

    def _add(self, node: Node) -> Node:
        self.body.append(node)
        return node

    def _symbol(self, node: Node, value: Any) -> Symbol:
        symbol = Symbol(self, node, value)
        self._symbols.append(weakref.ref(symbol))
        return symbol

    def site(self) -> Site | None:
        """The user's line that is running."""
        frame: Any = sys._getframe(1)
        while frame is not None and origin_of(frame.f_code.co_filename) != "":
            frame = frame.f_back
        if frame is None:
            return None
        return self.names.site(frame)

    def sweep(self, records: Any, grads: dict[int, Any], nested: bool) -> Iterator[Any]:
        """The records of a reverse sweep, backwards; what is computed meanwhile is known to be a part of it."""
        before, order = self.back, 1
        try:
            for record in reversed(records):
                outputs = record[4] if record[4].__class__ is tuple else (record[4],)
                of = next((y._node for y in outputs if type(y) is Symbol), None)
                if of is not None and of.back and _any_in(record[5], grads):
                    order = max(order, 1 + of.back.order)
                self.back = Back(of, order)
                yield record
                for value, i in zip(record[1], record[2], strict=True):
                    g = unwrap(grads.get(i)) if i.__class__ is int else None
                    if type(g) is Symbol and type(value) is Symbol and g._node.back is not None:
                        g._node.back = g._node.back._replace(to=value._node)
        finally:
            self.back = before


def _any_in(output_id: Any, grads: dict[int, Any]) -> bool:
    """Whether a record's result, or one of its results, has a gradient."""
    return any(i in grads for i in (output_id if output_id.__class__ is tuple else (output_id,)))


@contextmanager
def tracing() -> Iterator[Trace]:
    """A trace that is open inside the block, on this thread."""
    trace = Trace()
    token, reading = _current.set(trace), sweep_reader.set(trace.sweep)
    try:
        yield trace
    finally:
        sweep_reader.reset(reading)
        _current.reset(token)
        trace.close()
