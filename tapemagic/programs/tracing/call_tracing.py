"""A traced call: symbols replace its arrays and all reachable ones until it returns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from tapemagic.engine.nest import ordered, pack
from tapemagic.engine.tensor.tensor import Tensor, id_of, put_id, put_value, unwrap, with_value
from tapemagic.engine.tensor.variable import (
    Slice,
    Variable,
    exchange,
    exchange_if,
    living,
    value_of,
)
from tapemagic.programs.changes import parameter_of
from tapemagic.programs.code_names import site_of_parameter, site_of_return
from tapemagic.programs.driver import Reached
from tapemagic.programs.entries import Location
from tapemagic.programs.guards import Guards
from tapemagic.programs.object_kinds import is_leaf
from tapemagic.programs.passes.layout import MIN_CHECKED_BYTES
from tapemagic.programs.program import Program, arguments_of, nodes_in
from tapemagic.programs.signature import LEAF, Call, is_contiguous, is_data, is_single, taken_apart
from tapemagic.programs.text.naming import identifier, name_inputs, name_results
from tapemagic.programs.tracing.stand_ins import put_values, references, survivors
from tapemagic.programs.tracing.symbol import Symbol, concrete, set_concrete
from tapemagic.programs.tracing.trace import Trace

ARRAYS = (Tensor, np.ndarray)
VALUES = (*ARRAYS, np.generic)
NESTED = (list, tuple, dict)
PLAIN = (list, tuple)


class TracedCall:
    """A traced call of a function.

    - `call`: The arguments, taken apart.

    - `function`: The traced function.
    - `lifted`: The Variables that were made `outside`: the trace has no symbols for them.
    - `nbytes`: After the call: the bytes of the reachable arrays that were replaced by symbols.
    """

    def __init__(self, trace: Trace, guards: Guards, call: Call) -> None:
        self._trace = trace
        self.guards = guards
        self._call = call
        self._originals: dict[int, tuple[str, Any]] = {}
        self._symbols: dict[int, tuple[Any, Any]] = {}
        self.function: Any = None
        self._copies: list[tuple[Any, Any, list[Any]]] = []
        self._copied: dict[int, Any] = {}
        self._stand_ins: dict[int, Any] = {}
        # Keeps stand-ins alive, because the dicts below and above refer to objects by id.
        self._kept: list[Any] = []
        self._variables: list[tuple[Variable, Symbol, Any, Any, bool]] = []
        self._places: list[tuple[Location, Any, Any]] = []
        self._ours: set[int] = set()
        self.nbytes = 0
        self.lifted: list[Variable] = []

    def run(
        self, function: Callable[..., Any], finish: Callable[[Any], Any] | None = None
    ) -> tuple[Program, Any]:
        """Run the call, and return its program and result, which `finish` converts."""
        self._prepare()
        self.function = function
        args, kwargs = self._call.args, self._call.kwargs
        stand_ins = [self._argument(k, x) for k, x in enumerate(self._call.leaves)]
        remaining = iter(stand_ins)
        call_args = self._rebuilt(args, remaining)
        call_kwargs = self._rebuilt(kwargs, remaining) if kwargs else {}
        done = False
        try:
            self._enter()
            result = function(*call_args, **call_kwargs)
            result = result if finish is None else finish(result)
            done = True
        finally:
            assigned = self._restored(done)
            self._write_back()
            # A traceback keeps this frame alive, and symbols with it.
            del stand_ins, remaining, call_args, call_kwargs
        program, outside = self._program(function, result, assigned)
        if self._trace.named:
            name_inputs(program, function, args, kwargs)
            name_results(program)
        return program, outside

    def changed_nothing(self) -> bool:
        """Return True if a failed call changed none of its array, list and dict arguments."""
        for _, copy, before in self._copies:
            if not same_contents(copy, before):
                return False
        replaced = {id(x) for x, _ in self._symbols.values()}
        arrays = (x for x in self._call.leaves if isinstance(x, np.ndarray))
        return not self._trace.exposed and all(id(x) in replaced for x in arrays)

    # Before the call.

    def _prepare(self) -> None:
        """Make a symbol for every Variable, and for every reachable array and tensor."""
        data, arguments = self.guards.data, {id(x) for x in self._call.leaves}
        variables = {id(x): x for x in self._call.leaves if isinstance(x, Variable)}
        variables |= {i: x for i, x in self.guards.objects.items() if isinstance(x, Variable)}
        # All Variables: a library or an object outside the guards may read them. `unreachable_variable`
        # refuses such a program, whose driver could not find them.
        variables |= {id(x): x for x in living()}
        for variable in variables.values():
            reached = data.get(id(variable))
            value = value_of(variable)
            if type(value) is Symbol:
                continue
            name = reached[1] if reached else variable.name
            symbol = self._trace.input(variable, value, identifier(name))
            node = self._trace.inputs[-1]
            node.contiguous = value.nbytes >= MIN_CHECKED_BYTES and is_contiguous(value)
            ours = reached is not None or id(variable) in arguments
            self._variables.append((variable, symbol, node, value, ours))
        for place in self.guards.places:
            x = place.get()
            stand_in = self._stand_in(x)
            if stand_in is not x:
                self._places.append((place, stand_in, x))

    def _enter(self) -> None:
        """Put symbols into Variables, which another thread may have assigned just now, and all stand-ins."""
        for variable, symbol, *_ in self._variables:
            while not exchange_if(variable, concrete(symbol), symbol):
                set_concrete(symbol, value_of(variable))
        for place, stand_in, _ in self._places:
            place.store(stand_in)

    def _stand_in(self, x: Any) -> Any:
        """Return the replacement of a reachable array or tensor, or of a tuple that contains some."""
        if id(x) in self._stand_ins:
            return self._stand_ins[id(x)]
        if type(x) is tuple:
            stand_in = tuple(map(self._stand_in, x))
            if all(a is b for a, b in zip(stand_in, x, strict=True)):
                stand_in = x
            else:
                self._symbols[id(stand_in)] = x, stand_in
        elif isinstance(x, ARRAYS) and id(x) in self.guards.data:
            value = unwrap(x)
            if type(value) is Symbol or not is_data(value) or value.dtype.kind not in "biufc":
                return x
            local, path = self.guards.data[id(x)]
            origin = Reached(path, local, type(x), isinstance(x, np.ndarray))
            stand_in = self._with_symbol(x, self._trace.input(origin, value, identifier(path)))
            self._originals[id(stand_in)] = "reached", local
            self._symbols[id(stand_in)] = x, stand_in
        else:
            return x
        self._kept.append(stand_in)
        self._stand_ins[id(x)] = stand_in
        return stand_in

    @staticmethod
    def _with_symbol(x: Any, symbol: Symbol) -> Any:
        return with_value(x, symbol) if isinstance(x, Tensor) else symbol

    def _argument(self, k: int, x: Any) -> Any:
        """Return the replacement of a leaf of the arguments."""
        if isinstance(x, Variable):
            self._originals.setdefault(id(x), ("argument", k))
            return x
        bears = isinstance(x, ARRAYS)
        if bears:
            existing = self._stand_ins.get(id(x))
            if existing is not None:
                return existing
        if isinstance(x, np.ndarray) and self.guards.is_reachable(x):
            self._trace.mark_exit_at(
                "an array that is an argument, and read under another name,", None
            )
            return x
        if not isinstance(x, Tensor) and not (is_data(x) and x.dtype.kind in "biufc"):
            return x
        value = unwrap(x)
        symbol = self._trace.input(k, value)
        self._trace.inputs[-1].contiguous = is_contiguous(value)
        stand_in = self._with_symbol(x, symbol)
        if bears:
            self._stand_ins[id(x)] = stand_in
        self._kept.append(stand_in)
        self._originals[id(stand_in)] = "argument", k
        self._symbols[id(stand_in)] = x, stand_in
        return stand_in

    def _rebuilt(self, x: Any, leaves: Iterator[Any]) -> Any:
        """Rebuild nested arguments with stand-ins; lists and dicts without arrays stay the same objects."""
        if is_single(x):
            return next(leaves)
        kind = type(x)
        if kind is not tuple and isinstance(x, Mapping):
            parts = {key: self._rebuilt(x[key], leaves) for key in ordered(x)}
            same = all(x[key] is part for key, part in parts.items())
            rebuilt = x if same else pack(x, [parts[key] for key in ordered(x)], is_part(x))
        else:
            parts = [self._rebuilt(part, leaves) for part in x]  # type: ignore[assignment]
            rebuilt = x
            if not all(map(operator.is_, x, parts)):
                rebuilt = kind(parts) if kind in PLAIN else pack(x, parts, is_part(x))
        if rebuilt is not x:
            self._symbols[id(rebuilt)] = x, rebuilt
            if not isinstance(x, tuple):
                self._copies.append((x, rebuilt, contents_of(rebuilt)))
                self._copied[id(rebuilt)] = x
        return rebuilt

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Give Variables their values inside the block, and what it assigns to them to the trace."""
        existing = {id(variable) for variable in living()}
        kept = [(variable, value_of(variable), symbol) for variable, symbol, *_ in self._variables]
        for variable, value, symbol in kept:
            if value is not symbol:
                self._trace.mark_exit("tf.init_scope after the assignment of a Variable")
            exchange(variable, concrete(value))
        try:
            with self._trace.paused():
                yield
        finally:
            for variable, value, _ in kept:
                if type(value) is Symbol:
                    set_concrete(value, value_of(variable))
                    exchange(variable, value)
            self.lifted += [x for x in living() if id(x) not in existing]

    # After the call.

    def _restored(self, done: bool) -> list[tuple[Variable, Any]]:
        """Restore all values, and return the assigned Variables with their new values."""
        assigned = []
        try:
            for variable, symbol, node, before, _ in self._variables:
                value = value_of(variable)
                mine = type(value) is Symbol
                if mine and self._trace.node(value) is node and value is symbol:
                    exchange_if(variable, symbol, concrete(symbol))
                elif not mine and not self._trace.is_assigned(variable, value):
                    continue  # another thread assigned it
                elif done:
                    assigned.append((variable, value))
                    exchange(variable, concrete(value))
                else:
                    exchange(variable, before)
            for place, stand_in, original in self._places:
                if place.get() is stand_in:
                    place.store(original)
        # An interrupt here must not leave symbols in Variables: restore all of them again.
        except KeyboardInterrupt:
            self._restored(done=False)
            raise
        return assigned

    def _write_back(self) -> None:
        """Change the caller's lists and dicts as the function changed their copies."""
        for original, copy, before in self._copies:
            if same_contents(copy, before):
                continue
            name = parameter_of(self.function, self._call.args, self._call.kwargs, original)
            how = f"a change of its {type(original).__name__} argument{' ' * bool(name)}{name}"
            self._trace.mark_exit_at(how, site_of_parameter(self.function, name))
            if isinstance(original, list):
                original[:] = [self._outside(x) for x in copy]
            else:
                items = {key: self._outside(x) for key, x in copy.items()}
                original.clear()
                original.update(items)

    def _outside(self, x: Any) -> Any:
        """Return a value without symbols: the original object for a stand-in."""
        pair = self._symbols.get(id(x))
        if pair is not None and pair[1] is x:
            return pair[0]
        return without_symbols(x)

    def _program(self, function: Any, result: Any, assigned: Any) -> tuple[Program, Any]:
        trace = self._trace
        values: list[Any] = []
        try:
            structure = taken_apart(result, values)
        except RecursionError:
            self._leave("a result that contains itself")
            structure, values = LEAF, []
        self._check_structure(result, structure, set())
        leaves = self._leaves(values)
        results = [self._result_node(x, *leaf) for x, leaf in zip(values, leaves, strict=True)]
        ends = [(variable, trace.node(value)) for variable, value in assigned]
        name = getattr(function, "__name__", None) or type(function).__name__
        program = Program([], trace.body, results, ends, name)
        program.notes["given"] = {
            id(x): k
            for k, x in reversed([*enumerate(self._call.leaves)])
            if isinstance(x, Variable)
        }
        program.inputs = self._inputs(program)
        places = {id(x.origin): k for k, x in enumerate(program.inputs)}
        program.assigned.sort(key=lambda end: places.get(id(end[0]), len(places)))
        if trace.named:
            trace.names.finish(trace.constant)
        program.notes |= {
            "statements": trace.names.texts, "times": trace.names.times,
            "functions": trace.names.functions, "errstate": trace.errstate, "structure": structure, "leaves": leaves,
        }  # fmt: skip
        return program, result if structure == LEAF and not values else self._result(result)

    def _leave(self, how: str) -> None:
        """Record that a program cannot return this result."""
        self._trace.mark_exit_at(how, site_of_return(self.function))

    def _result(self, x: Any) -> Any:
        """Return a result without symbols; lists and dicts stay the same objects."""
        if id(x) in self._copied:
            return self._copied[id(x)]
        kind = type(x)
        if kind is list:
            x[:] = map(self._result, x)
        elif kind is dict:
            x.update({key: self._result(part) for key, part in x.items()})
        elif kind is tuple or (isinstance(x, tuple) and hasattr(x, "_fields")):
            parts = [self._result(part) for part in x]
            same = all(a is b for a, b in zip(parts, x, strict=True))
            return x if same else pack(x, parts, is_part(x))
        else:
            return self._outside(x)
        return x

    def _check_structure(self, x: Any, structure: Any, seen: set[int]) -> None:
        """Refuse a result that contains an earlier list, the same list twice, or a custom class."""
        if structure == LEAF:
            return
        kind = type(x)
        plain = kind in (list, tuple, dict) or (isinstance(x, tuple) and hasattr(x, "_fields"))
        if not plain:
            self._leave(f"a result of type {kind.__name__}")
            return
        is_argument = any(x is copy or x is original for original, copy, _ in self._copies)
        if kind is not tuple and id(x) in seen:
            self._leave(f"a {kind.__name__} that occurs twice in the result")
            return
        seen.add(id(x))
        if kind is not tuple and (is_argument or self.guards.is_reachable(x)):
            self._leave(f"a {kind.__name__} as a result that already existed before the call")
        values = x.values() if isinstance(x, dict) else x
        parts = [part for part in values if isinstance(part, NESTED)]
        for part in parts:
            self._check_structure(part, None, seen)

    def _leaves(self, values: list[Any]) -> list[tuple[str, Any]]:
        """Describe how a driver makes the leaves of the result: a leaf that occurs twice is made once."""
        leaves: list[tuple[str, Any]] = []
        first: dict[int, int] = {}
        for k, x in enumerate(values):
            leaf = self._leaf(x)
            place = first.setdefault(id(x), k)
            is_new = leaf[0] in ("tensor", "copy")
            leaves.append(("again", place) if is_new and place != k else leaf)
        return leaves

    def _leaf(self, x: Any) -> tuple[str, Any]:
        """Describe how a driver makes one leaf of the result."""
        original = self._originals.get(id(x))
        if original is not None and self._is_unchanged(x):
            return original
        if isinstance(x, Variable):
            if id(x) in self.guards.data:
                return "reached", self.guards.data[id(x)][0]
            self._leave("a Variable as a result that is not among its arguments")
        elif isinstance(x, Slice):
            self._leave("a part of a Variable as a result (add 0 to it)")
        elif isinstance(x, Tensor):
            return "tensor", type(x)
        elif type(x) is Symbol:
            return "array", None
        elif isinstance(x, np.ndarray):
            return "copy", None
        elif is_leaf(x):
            return "fixed", x
        elif self.guards.is_reachable(x):
            return "reached", self.guards.local(x)
        else:
            self._leave(f"a result of type {type(x).__name__}")
        return "fixed", None

    def _is_unchanged(self, x: Any) -> bool:
        return type(x) is not Symbol or self._trace.node(x).function is None

    def _result_node(self, x: Any, how: str, what: Any) -> Any:
        numbers = type(x) is Symbol or isinstance(x, VALUES)
        if numbers and how != "fixed" and not isinstance(x, Variable):
            return self._trace.result(x)
        plain = how == "fixed" and type(what) in (bool, int, float, str)
        return x if plain else None

    def _inputs(self, program: Program) -> list[Any]:
        """Order the inputs: arguments, then Variables, then other arrays that the program reads."""
        if all(isinstance(x.origin, int) for x in self._trace.inputs):
            return self._trace.inputs  # in the order of the arguments
        ends = nodes_in([program.results, [node for _, node in program.assigned]])
        read = chain.from_iterable(map(arguments_of, program.body))
        used = {node: k for k, node in enumerate(dict.fromkeys([*read, *ends]))}
        argument_places = program.notes["given"]

        def place(x: Any) -> tuple[int, int]:
            if isinstance(x.origin, int):
                return 0, x.origin
            if id(x.origin) in argument_places:
                return 0, argument_places[id(x.origin)]
            return 1 if isinstance(x.origin, Variable) else 2, used[x]

        inputs = [x for x in self._trace.inputs if isinstance(x.origin, int) or x in used]
        return sorted(inputs, key=place)

    def unreachable_variable(self, program: Program) -> Variable | None:
        """Return a Variable that the program uses, but that no name in its code leads to."""
        read = [x.origin for x in program.inputs if isinstance(x.origin, Variable)]
        variable: Variable
        for variable in (*read, *(variable for variable, _ in program.assigned)):
            if id(variable) not in self._ours:
                return variable
        return None

    def remove_symbols(self, after: Guards) -> None:
        """Remove symbols from Variables and from all reachable places, and forget the stand-ins."""
        for x, stand_in in self._symbols.values():
            if isinstance(x, Tensor):
                put_id(x, id_of(stand_in))  # as a tape that lives on knows it
        replaced = {id(variable) for variable, *_ in self._variables}
        for variable in living():
            if id(variable) not in replaced and type(value_of(variable)) is Symbol:
                exchange(variable, concrete(value_of(variable)))
        for place in after.places:
            x = place.get()
            plain = self._outside(x)
            if plain is not x:
                place.store(plain)
        arrays = (x for x, stand_in in self._symbols.values() if type(stand_in) is Symbol)
        self.nbytes = sum(x.nbytes for x in arrays if id(x) in self.guards.data)
        self._ours = {id(variable) for variable, *_, ours in self._variables if ours}
        lists = self._variables, self._places, self._copies, self._kept
        for collection in (*lists, self._stand_ins):
            collection.clear()

    def references(self) -> float:
        """Count the references to the trace, which each symbol adds to."""
        return references(self._trace)

    def put_values(self, before: float) -> None:
        """Replace the symbols that are left; `before` is the count of references to the trace before the call."""
        self._trace.release()
        # `put_values` asks the garbage collector about all objects of the process (1 ms for 24,000), so
        # only if needed.
        left = survivors(self._symbols)
        if left or self.references() != before:
            put_values(self._trace, left)


def without_symbols(x: Any) -> Any:
    """Return a value with arrays and NumPy scalars instead of symbols."""
    if type(x) is Symbol:
        return concrete(x)
    if isinstance(x, Tensor) and type(unwrap(x)) is Symbol:
        put_value(x, concrete(unwrap(x)))
    elif type(x) is tuple:
        parts = tuple(map(without_symbols, x))
        return x if all(a is b for a, b in zip(parts, x, strict=True)) else parts
    return x


def contents_of(x: Any) -> list[Any]:
    """Return the contents of a list, or the keys and values of a dict."""
    return [*x, *x.values()] if isinstance(x, Mapping) else list(x)


def same_contents(x: Any, before: list[Any]) -> bool:
    """Return True if a list or dict still contains the same objects."""
    after = contents_of(x)
    return len(after) == len(before) and all(map(operator.is_, after, before))


def is_part(x: Any) -> Callable[[Any], bool]:
    """Return a test for the parts of a list or dict, so that it is packed one level deep."""
    return lambda part: part is not x
