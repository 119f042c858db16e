"""The driver of a program: code that checks the arguments and guards, runs the program and wraps its results."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.effects import Attempt, has_effect
from tapemagic.engine.nest import ordered
from tapemagic.engine.recording import clock, open_blocks
from tapemagic.engine.tensor.tensor import Tensor, Traced, new, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.driver_function import code_of, count_of, is_plain, lines_of, parameters
from tapemagic.programs.entries import contents, is_empty
from tapemagic.programs.guards import Guards
from tapemagic.programs.miss import MISS, STALE, miss_from_error
from tapemagic.programs.object_kinds import NUMBERS, Keys, keys_changed_code, same_leaf
from tapemagic.programs.program import Loop, Node, Program
from tapemagic.programs.signature import LEAF, Call, is_data, strides_of, taken_apart
from tapemagic.programs.text.source import Retrace
from tapemagic.programs.text.writer import Writer
from tapemagic.programs.tracing.trace import is_followed
from tapemagic.programs.warned_once import warned_once

MAX_PAIRWISE = 4
"""The maximum number of tensors among the arguments whose pairs are all compared; more are compared as a set."""


class Driver:
    """Write the driver of a program.

    A driver has the parameters of the function itself, if each argument has its own name; then Python reports a
    wrong call. Otherwise it has ``*args`` and ``**kwargs``.

    - `function`: The traced function.
    - `call`: The arguments with which the program was traced.
    - `statements`: The lines of the program, which become lines of the driver: calling another function would take as
      long as calling NumPy.
    - `compiled`: The compiled program, for a `Miss`.
    """

    def __init__(
        self,
        function: Any,
        call: Call,
        guards: Guards,
        program: Program,
        statements: Writer,
        compiled: Any,
    ) -> None:
        self.namespace: dict[str, Any] = {
            "q_MISS": MISS, "q_STALE": STALE, "q_miss_from_error": miss_from_error,
            "q_same_leaf": same_leaf, "q_new": new, "q_tensor": (Tensor,),
            "q_clock": clock, "q_contents": contents, "q_is_empty": is_empty, "q_Keys": Keys,
            "q_taken_apart": taken_apart, "q_ndarray": np.ndarray,
            "q_open_blocks": open_blocks, "q_is_followed": is_followed,
            "q_warned_once": warned_once, "q_Attempt": Attempt, "np": np, "Retrace": Retrace,
            "__builtins__": builtins, "__name__": __name__,
        }  # fmt: skip
        self.namespace |= guards.namespace
        self.namespace |= statements.objects()
        self._call = call
        self._guards = guards
        self._program = program
        self._statements = statements
        self._named = list(zip(program.inputs, statements.parameters, strict=False))
        self._inputs = {
            node.origin: name for node, name in self._named if isinstance(node.origin, int)
        }
        self._values: dict[int, str] = {}
        self._results: list[str] = []
        self._variables: dict[int, str] = {}
        self._assigned = {id(variable) for variable, _ in program.assigned}
        self._handles: dict[int, str] = {}
        self.lines: list[str] = []
        self._names = parameters(function, call)
        self._parameters = self._passed = "*q_args, **q_kwargs"
        self._as_tuple_and_dict = "q_args, q_kwargs"
        self._take_arguments()
        self._check_leaves()
        checks, self.lines = self.lines, []
        self._check_aliases()
        self._check_variables()
        aliases, self.lines = self.lines, []
        self._run()
        runs, self.lines = self.lines, []
        self._return()
        parts = [
            ("q_MISS", checks),
            ("q_STALE", guards.lines),
            ("q_MISS", aliases),
            ("", runs),
            ("", self.lines),
        ]
        heads = self._parameters, self._passed, self._as_tuple_and_dict
        self.text, starts = lines_of(*heads, parts)
        running = MISS, STALE, MISS, compiled, None
        self.namespace["q_parts"] = [*zip(starts, running, strict=True)]

    def code(self, file: str) -> CodeType:
        """Compile the driver, whose free variables are the traced function and `miss`."""
        code = code_of(self.text, file)
        if self._names is None:
            return code
        # Bytecode refers to local variables by number, so they can be renamed. With the parameters' own
        # names, keyword arguments work, and Python reports wrong calls as for the function itself.
        names = *self._names, *code.co_varnames[len(self._names) :]
        return code.replace(co_varnames=names)

    def _constant(self, value: Any) -> str:
        name = f"q_{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def _require(self, condition: str) -> None:
        self.lines.append(f"if {condition}: break")

    # The arguments.

    def _take_arguments(self) -> None:
        structure = self._call.structure
        if not is_plain(structure):
            expected = self._constant(structure)
            self.lines += ["q_found = []", "q_structure = q_taken_apart(q_args, q_found)"]
            if len(structure) == 2 and isinstance(structure[0], tuple):
                self.lines.append("q_structure = q_structure, q_taken_apart(q_kwargs, q_found)")
            else:
                self._require("q_kwargs")
            self._require(f"q_structure != {expected}")
            self.lines += [f"q_x{k} = q_found[{k}]" for k in range(len(self._call.leaves))]
            return
        self._next = 0
        if self._names is not None:
            self._take_parameters(structure[1:])
        elif isinstance(structure[0], tuple):
            self._take(structure[0], "q_args", is_checked=True)
            self._take(structure[1], "q_kwargs", is_checked=True)
        else:
            self._require("q_kwargs")
            self._take(structure, "q_args", is_checked=True)

    def _take_parameters(self, parts: Any) -> None:
        """Name the leaves of the arguments: an argument that is a leaf keeps the name of its parameter."""
        names, place = [], 0
        for k, part in enumerate(parts):
            names.append(f"q_x{place}" if part == LEAF else f"q_p{k}")
            place += count_of(part)
        self._parameters = self._passed = ", ".join(names)
        self._as_tuple_and_dict = f"({self._passed}{',' * (len(names) == 1)}), {{}}"
        for part, name in zip(parts, names, strict=True):
            if part == LEAF:
                self._next += 1
            else:
                self._take(part, name)

    def _take(self, structure: Any, expression: str, is_checked: bool = False) -> None:
        """Name the leaves of one list, tuple or dict."""
        kind = structure[0]
        if not is_checked:
            self._require(f"{expression}.__class__ is not {self._constant(kind)}")
        if kind is dict:
            self._require(keys_changed_code(expression, structure[1], self._constant))
            parts = structure[2:]
            inner = [f"{expression}[{key!r}]" for key in ordered(dict.fromkeys(structure[1]))]
        else:
            parts = structure[1:]
            self._require(f"len({expression}) != {len(parts)}")
            inner = [f"{expression}[{k}]" for k in range(len(parts))]
        if kind is not dict and len(parts) > 1 and all(part == LEAF for part in parts):
            names = [f"q_x{self._next + k}" for k in range(len(parts))]
            self.lines.append(f"{', '.join(names)} = {expression}")
            self._next += len(parts)
            return
        for part, each in zip(parts, inner, strict=True):
            if part == LEAF:
                self.lines.append(f"q_x{self._next} = {each}")
                self._next += 1
            else:
                local = f"q_part_{len(self.lines)}"
                self.lines.append(f"{local} = {each}")
                self._take(part, local)

    def _check_leaves(self) -> None:
        places: dict[Any, int] = {}
        bearing = []
        for k, x in enumerate(self._call.leaves):
            name = f"q_x{k}"
            if isinstance(x, Traced | np.ndarray):
                first = places.setdefault(id(x), k)
                if first != k:
                    self._require(f"{name} is not q_x{first}")
                    self._values[k] = self._values[first]
                    continue
                bearing.append(k)
            if isinstance(x, Traced):
                self._require(f"{name}.__class__ is not {self._constant(type(x))}")
                value = self._values[k] = self._inputs.get(k, f"q_a{k}")
                if isinstance(x, Variable):
                    self._require(f"{name}._trainable is not {x.trainable}")
                    self.lines.append(f"{value} = {self._read(x, name)}")
                else:
                    self.lines.append(f"{value} = {name}._value")
                self._check_value(value, unwrap(x))
            elif is_data(x) and x.dtype.kind in "biufc":
                self._check_value(name, x)
                self._values[k] = name
            else:
                self._check_static(name, x)
        self._check_distinct(bearing)

    def _check_value(self, name: str, value: Any) -> None:
        if value.__class__ is not np.ndarray:
            self._require(f"{name}.__class__ is not {self._constant(value.__class__)}")
            return
        dtype = self._constant(value.dtype)
        condition = f"type({name}) is not q_ndarray or {name}.shape != {value.shape}"
        # NumPy's built-in dtypes are singletons, except unpickled ones and ones with a byte order.
        condition += f" or ({name}.dtype is not {dtype} and {name}.dtype != {dtype})"
        if value.ndim > 1:
            strides = strides_of(value)
            condition += (
                f" or not {name}.flags.c_contiguous"
                if strides is None
                else f" or {name}.strides != {strides}"
            )
        self._require(condition)

    def _check_static(self, name: str, x: Any) -> None:
        if any(x is each for each in self._call.objects):
            place = next(k for k, each in enumerate(self._call.objects) if each is x)
            self._require(f"{name} is not {self._constant(self._guards.arguments[place][0])}()")
        elif type(x) in NUMBERS and type(x) not in (float, complex):
            k = self._constant(x)
            differs = f"{name}.__class__ is not {k}.__class__ or {name} != {k}"
            self._require(f"{name} is not {k} and ({differs})")
        else:
            # `same_leaf` distinguishes 0.0 from -0.0, and finds nan equal to nan.
            k = self._constant(x)
            self._require(f"{name} is not {k} and not q_same_leaf({name}, {k})")

    def _check_distinct(self, bearing: list[int]) -> None:
        """Require that the tensors among the arguments are different objects with different ids on tapes."""
        leaves = self._call.leaves
        tensors = [k for k in bearing if isinstance(leaves[k], Tensor)]
        # All pairs of n tensors are n (n - 1) / 2 comparisons; from five tensors on, one set of identities is shorter.
        if len(bearing) > MAX_PAIRWISE:
            identities = ", ".join(f"id(q_x{k})" for k in bearing)
            self._require(f"len({{{identities}}}) != {len(bearing)}")
            ids = ", ".join(f"q_x{k}._id" for k in tensors)
            if tensors:
                self.lines.append(f"q_ids = [i for i in ({ids},) if i > 0]")
                self._require("len(q_ids) != len(set(q_ids))")
            return
        for n, k in enumerate(bearing):
            for earlier in bearing[:n]:
                if type(leaves[k]) is type(leaves[earlier]):
                    self._require(f"q_x{k} is q_x{earlier}")
                    if k in tensors:
                        self._require(f"q_x{k}._id > 0 and q_x{k}._id == q_x{earlier}._id")

    def _check_aliases(self) -> None:
        """Require that an argument is also a reachable object only if it was in the traced call."""
        reached = {self._guards.local(x): type(x) for x in self._guards.objects.values()}
        for k, x in enumerate(self._call.leaves):
            if isinstance(x, Traced | np.ndarray):
                reached_data = self._guards.data.get(id(x))
                if reached_data is not None:
                    self._require(f"q_x{k} is not {reached_data[0]}")
                    continue
                same = [f"q_x{k} is {local}" for local, kind in reached.items() if kind is type(x)]
                if same:
                    self._require(" or ".join(same))

    def _place(self, variable: Variable) -> int | None:
        """Find the place of a Variable among the arguments."""
        return next((k for k, x in enumerate(self._call.leaves) if x is variable), None)

    def _local(self, variable: Variable) -> str:
        """Return the local name of a Variable."""
        place = self._place(variable)
        return self._guards.data[id(variable)][0] if place is None else f"q_x{place}"

    # The program, and its results.

    def _value(self, origin: Any) -> str:
        """Return the expression for an input of the program."""
        if isinstance(origin, int):
            return self._values[origin]
        if isinstance(origin, Reached):
            return origin.local if origin.is_array else f"{origin.local}._value"
        return self._variables.get(id(origin)) or self._read(origin, self._local(origin))

    def _read(self, variable: Variable, name: str) -> str:
        """Return the expression for the value of a Variable; keep the handle if the program assigns the Variable."""
        if id(variable) not in self._assigned:
            return f"{name}._handle._value"
        if id(variable) not in self._handles:
            handle = self._handles[id(variable)] = f"q_before{len(self._handles)}"
            self.lines.append(f"{handle} = {name}._handle")
        return f"{self._handles[id(variable)]}._value"

    def _check_variables(self) -> None:
        """Require that Variables have the memory layout for which the program was compiled."""
        for k, node in enumerate(self._program.inputs):
            variable = node.origin
            if isinstance(variable, Variable) and node.contiguous:
                place = self._place(variable)
                if place is not None:  # checked with the arguments
                    self._variables[id(variable)] = self._values[place]
                    continue
                self.lines.append(f"q_v{k} = {self._value(variable)}")
                self._require(f"not q_v{k}.flags.c_contiguous")
                self._variables[id(variable)] = f"q_v{k}"

    def _run(self) -> None:
        """Write the lines of the program."""
        program = self._program
        for node, name in self._named:
            value = self._value(node.origin)
            if name != value:
                self.lines.append(f"{name} = {value}")
        # The writer indents the lines as the body of a function.
        body = [line.text[4:] for line in self._statements.body]
        for text in self._statements.returned:
            self._results.append(text if text.isidentifier() else f"q_r{len(self._results)}")
            if text != self._results[-1]:
                body.append(f"{self._results[-1]} = {text}")
        if any(isinstance(entry, Loop) for entry in program.body):
            body = ["with q_warned_once():", *[f"    {line}" for line in body]]
        if any(isinstance(entry, Node) and has_effect(entry.function) for entry in program.body):
            body = ["with q_Attempt():", *[f"    {line}" for line in body]]
        self.lines += body

    def _return(self) -> None:
        """Write the lines that wrap the results of the program as tensors, lists and dicts."""
        program, notes = self._program, self._program.notes
        new_values = self._results[len(program.results) :]
        self._assign([self._local(variable) for variable, _ in program.assigned], new_values)
        leaves = [self._result(k, *each) for k, each in enumerate(notes["leaves"])]
        self.lines.append(f"return {self._packed(notes['structure'], iter(leaves))}")

    def _assign(self, variables: Sequence[str], values: Sequence[str]) -> None:
        """Assign values to Variables as `exchange` does: new handles with the same ids."""
        for k, (variable, value) in enumerate(zip(variables, values, strict=True)):
            self.lines += [f"q_h{k} = q_new(*q_tensor)", f"q_h{k}._value = {value}"]
            self.lines.append(f"q_h{k}._id = {variable}._handle._id")
        # If another thread assigned a value meanwhile, all is computed again, or its update would be lost. From this
        # check to the last assignment there is no call, hence no thread switch.
        changed = [
            f"{self._local(variable)}._handle is not {self._handles[id(variable)]}"
            for variable, _ in self._program.assigned
            if id(variable) in self._handles
        ]
        if changed:
            self.lines.append(f"if {' or '.join(changed)}: continue")
        self.lines += [f"{variable}._handle = q_h{k}" for k, variable in enumerate(variables)]

    def _result(self, k: int, how: str, what: Any) -> str:
        """Return the expression for one leaf of the results."""
        if how == "argument":
            return f"q_x{what}"
        if how == "reached":
            return str(what)
        if how == "fixed":
            return self._constant(what)
        if how == "again":
            return f"q_t{what}"
        if how == "copy":
            self.lines.append(f"q_t{k} = {self._results[k]}.copy()")
            return f"q_t{k}"
        if how == "tensor":
            kind = self._constant((what,))
            if "q_now = q_clock[0]" not in self.lines:
                self.lines.append("q_now = q_clock[0]")
            self.lines += [
                f"q_t{k} = q_new(*{kind})",
                f"q_t{k}._value = {self._results[k]}",
                f"q_t{k}._id = q_now",
            ]
            return f"q_t{k}"
        return self._results[k]

    def _packed(self, structure: Any, leaves: Any) -> str:
        """Return the expression that packs the results."""
        if structure == LEAF:
            return str(next(leaves))
        kind = structure[0]
        if kind is dict:
            keys = structure[1]
            order = ordered(dict.fromkeys(keys))
            parts = [self._packed(part, leaves) for part in structure[2:]]
            inner = dict(zip(order, parts, strict=True))
            return "{" + ", ".join(f"{self._constant(key)}: {inner[key]}" for key in keys) + "}"
        parts = [self._packed(part, leaves) for part in structure[1:]]
        if kind is list:
            return f"[{', '.join(parts)}]"
        if kind is tuple:
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        return f"{self._constant(kind)}({', '.join(parts)})"


class Reached(NamedTuple):
    """The origin of a program input: an array or tensor that the function reads.

    - `path`, `local`: The expression in the function's code, and the local variable in the driver.
    """

    path: str
    local: str
    kind: type
    is_array: bool
