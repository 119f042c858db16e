"""The driver of a program: code which checks that the program holds, runs it, and gives the results their classes."""

from __future__ import annotations

from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.nest import ordered, pack
from tapemagic.engine.recording import clock, live
from tapemagic.engine.tensor.tensor import Tensor, Traced, new, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.replay.closure import Closure, contents, is_empty
from tapemagic.replay.driver_function import code_of, count_of, is_plain, parameters
from tapemagic.replay.kinds import NUMBERS, same_leaf
from tapemagic.replay.miss import CHANGED, MISS, STALE, failure
from tapemagic.replay.signature import LEAF, Call, is_data, strides_of, taken_apart
from tapemagic.replay.trace import current, open_traces

FEW = 4
"""The number of tensors among the arguments up to which all pairs of them are compared."""


class Driver:
    """Writes the driver of a program.

    A driver has the parameters of the user's function, if these are as many tensors, numbers or structures, each with
    its own name; then Python itself finds what is wrong with a call. Any other has ``*args`` and ``**kwargs``.

    Parameters
    ----------
    function : callable
        The user's.
    call : Call
        The arguments with which the program was traced.
    closure : Closure
    program : Program
    run : callable
        The program's own function.
    single : bool
        Whether it returns a value that is no tuple.
    compiled : Compiled
        The program made ready, for a `Miss`.
    """

    def __init__(
        self,
        function: Any,
        call: Call,
        closure: Closure,
        program: Any,
        run: Any,
        single: bool,
        compiled: Any,
    ) -> None:
        self.namespace: dict[str, Any] = {
            "MISS": MISS, "STALE": STALE, "CHANGED": CHANGED, "failure": failure,
            "same_leaf": same_leaf, "new": new, "tensor": (Tensor,),
            "clock": clock, "run": run, "program": compiled, "contents": contents,
            "is_empty": is_empty, "pack": pack, "taken_apart": taken_apart, "ndarray": np.ndarray,
            "live": live, "current": current, "open_traces": open_traces,
        }  # fmt: skip
        self.namespace |= closure.namespace
        self._call = call
        self._closure = closure
        self._program = program
        self._values: dict[int, str] = {}
        self._variables: dict[int, str] = {}
        self.lines: list[str] = []
        self._names = parameters(function, call)
        self._parameters, self._passed, self._given = (
            "*args, **kwargs",
            "*args, **kwargs",
            "args, kwargs",
        )
        self._take_arguments()
        self._check_leaves()
        self._checks, self.lines = tuple(self.lines), []
        self._check_aliases()
        self._run(single)

    def code(self) -> CodeType:
        """The code of the driver; its free variables are the user's function, and `miss`."""
        heads = self._parameters, self._passed, self._given
        code = code_of(*heads, self._checks, tuple(self._closure.lines), tuple(self.lines))
        if self._names is None:
            return code
        names = *self._names, *code.co_varnames[len(self._names) :]
        return code.replace(co_varnames=names)

    def _constant(self, value: Any) -> str:
        name = f"q_{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def _require(self, condition: str) -> None:
        self.lines.append(f"if {condition}: return miss({self._given}, MISS)")

    # The arguments.

    def _take_arguments(self) -> None:
        structure = self._call.structure
        if not is_plain(structure):
            found = self._constant(structure)
            self.lines += ["found = []", "structure = taken_apart(args, found)"]
            if len(structure) == 2 and isinstance(structure[0], tuple):
                self.lines.append("structure = structure, taken_apart(kwargs, found)")
            else:
                self._require("kwargs")
            self._require(f"structure != {found}")
            self.lines += [f"x{k} = found[{k}]" for k in range(len(self._call.leaves))]
            return
        self._next = 0
        if self._names is not None:
            self._take_parameters(structure[1:])
        elif isinstance(structure[0], tuple):
            self._take(structure[0], "args", known=True)
            self._take(structure[1], "kwargs", known=True)
        else:
            self._require("kwargs")
            self._take(structure, "args", known=True)

    def _take_parameters(self, parts: Any) -> None:
        """Give the leaves of the arguments local names: an argument that is one has its parameter's."""
        names, place = [], 0
        for k, part in enumerate(parts):
            names.append(f"x{place}" if part == LEAF else f"p{k}")
            place += count_of(part)
        self._parameters = self._passed = ", ".join(names)
        self._given = f"({self._passed}{',' * (len(names) == 1)}), {{}}"
        for part, name in zip(parts, names, strict=True):
            if part == LEAF:
                self._next += 1
            else:
                self._take(part, name)

    def _take(self, structure: Any, expression: str, known: bool = False) -> None:
        """Give the leaves of one list, tuple or dict local names."""
        kind = structure[0]
        if not known:
            self._require(f"{expression}.__class__ is not {self._constant(kind)}")
        if kind is dict:
            keys = self._constant(list(structure[1]))
            self._require(f"[*{expression}] != {keys}")
            parts = structure[2:]
            inner = [f"{expression}[{key!r}]" for key in ordered(dict.fromkeys(structure[1]))]
        else:
            parts = structure[1:]
            self._require(f"len({expression}) != {len(parts)}")
            inner = [f"{expression}[{k}]" for k in range(len(parts))]
        if kind is not dict and len(parts) > 1 and all(part == LEAF for part in parts):
            names = [f"x{self._next + k}" for k in range(len(parts))]
            self.lines.append(f"{', '.join(names)} = {expression}")
            self._next += len(parts)
            return
        for part, each in zip(parts, inner, strict=True):
            if part == LEAF:
                self.lines.append(f"x{self._next} = {each}")
                self._next += 1
            else:
                local = f"part_{len(self.lines)}"
                self.lines.append(f"{local} = {each}")
                self._take(part, local)

    def _check_leaves(self) -> None:
        places: dict[Any, int] = {}
        bearing = []
        for k, x in enumerate(self._call.leaves):
            name = f"x{k}"
            if isinstance(x, Traced | np.ndarray):
                first = places.setdefault(id(x), k)
                if first != k:
                    self._require(f"{name} is not x{first}")
                    self._values[k] = self._values[first]
                    continue
                bearing.append(k)
            if isinstance(x, Traced):
                self._require(f"{name}.__class__ is not {self._constant(type(x))}")
                if isinstance(x, Variable):
                    self._require(f"{name}._trainable is not {x.trainable}")
                    self.lines.append(f"a{k} = {name}._handle._value")
                else:
                    self.lines.append(f"a{k} = {name}._value")
                self._check_value(f"a{k}", unwrap(x))
                self._values[k] = f"a{k}"
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
        condition = f"type({name}) is not ndarray or {name}.shape != {value.shape}"
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
            self._require(f"{name} is not {self._constant(self._closure.arguments[place][0])}()")
        elif type(x) in NUMBERS and type(x) not in (float, complex):
            k = self._constant(x)
            other = f"{name}.__class__ is not {k}.__class__ or {name} != {k}"
            self._require(f"{name} is not {k} and ({other})")
        else:
            k = self._constant(x)
            self._require(f"{name} is not {k} and not same_leaf({name}, {k})")

    def _check_distinct(self, bearing: list[int]) -> None:
        """Require that the tensors among the arguments are different objects, and have different ids on tapes."""
        leaves = self._call.leaves
        tensors = [k for k in bearing if isinstance(leaves[k], Tensor)]
        if len(bearing) > FEW:
            whole = ", ".join(f"id(x{k})" for k in bearing)
            self._require(f"len({{{whole}}}) != {len(bearing)}")
            ids = ", ".join(f"x{k}._id" for k in tensors)
            if tensors:
                self.lines.append(f"ids = [i for i in ({ids},) if i > 0]")
                self._require("len(ids) != len(set(ids))")
            return
        for n, k in enumerate(bearing):
            for other in bearing[:n]:
                if type(leaves[k]) is type(leaves[other]):
                    self._require(f"x{k} is x{other}")
                    if k in tensors:
                        self._require(f"x{k}._id > 0 and x{k}._id == x{other}._id")

    def _check_aliases(self) -> None:
        """Require that arguments are objects that the function closes over where they were, and nowhere else."""
        reached = {self._closure.local(x): type(x) for x in self._closure.objects.values()}
        for k, x in enumerate(self._call.leaves):
            if isinstance(x, Traced | np.ndarray):
                known = self._closure.data.get(id(x))
                if known is not None:
                    self._require(f"x{k} is not {known[0]}")
                    continue
                same = [f"x{k} is {local}" for local, kind in reached.items() if kind is type(x)]
                if same:
                    self._require(" or ".join(same))

    def _place(self, variable: Variable) -> int | None:
        """The place of a variable among the arguments."""
        return next((k for k, x in enumerate(self._call.leaves) if x is variable), None)

    def _local(self, variable: Variable) -> str:
        """The local name of a variable."""
        place = self._place(variable)
        return self._closure.data[id(variable)][0] if place is None else f"x{place}"

    # The program, and its results.

    def _value(self, origin: Any) -> str:
        """The expression for a value that is given to the program."""
        if isinstance(origin, int):
            return self._values[origin]
        if isinstance(origin, Reached):
            return origin.local if origin.is_array else f"{origin.local}._value"
        return self._variables.get(id(origin)) or f"{self._local(origin)}._handle._value"

    def _check_variables(self) -> None:
        """Require that Variables lie in memory as the program takes for granted."""
        for k, node in enumerate(self._program.inputs):
            variable = node.origin
            if isinstance(variable, Variable) and node.contiguous:
                place = self._place(variable)
                if place is not None:  # checked with the arguments
                    self._variables[id(variable)] = self._values[place]
                    continue
                self.lines.append(f"v{k} = {self._value(variable)}")
                self._require(f"not v{k}.flags.c_contiguous")
                self._variables[id(variable)] = f"v{k}"

    def _run(self, single: bool) -> None:
        program, notes = self._program, self._program.notes
        self._check_variables()
        given = ", ".join(self._value(node.origin) for node in program.inputs)
        count = len(program.results)
        names = [f"r{k}" for k in range(count + len(program.assigned))]
        target = names[0] if single else ", ".join(names) + "," * (len(names) == 1)
        self.lines += [
            "try:",
            f"    {target or 'nothing'} = run({given})",
            "except Exception as error:",
            "    missed = failure(error, program)",
            "    break",
        ]
        for (variable, _), name in zip(program.assigned, names[count:], strict=True):
            self._assign(self._local(variable), name)
        leaves = [self._result(k, *each) for k, each in enumerate(notes["leaves"])]
        self.lines.append(f"return {self._packed(notes['structure'], iter(leaves))}")

    def _assign(self, variable: str, value: str) -> None:
        """Make a value that of a Variable, as `exchange` does: its handle is another one with the same id."""
        self.lines += ["h = new(*tensor)", f"h._value = {value}"]
        self.lines += [f"h._id = {variable}._handle._id", f"{variable}._handle = h"]

    def _result(self, k: int, how: str, what: Any) -> str:
        """The expression for one leaf of the results."""
        if how == "argument":
            return f"x{what}"
        if how == "reached":
            return str(what)
        if how == "fixed":
            return self._constant(what)
        if how == "again":
            return f"t{what}"
        if how == "copy":
            self.lines.append(f"t{k} = r{k}.copy()")
            return f"t{k}"
        if how == "tensor":
            kind = self._constant((what,))
            if "now = clock[0]" not in self.lines:
                self.lines.append("now = clock[0]")
            self.lines += [f"t{k} = new(*{kind})", f"t{k}._value = r{k}", f"t{k}._id = now"]
            return f"t{k}"
        return f"r{k}"

    def _packed(self, structure: Any, leaves: Any) -> str:
        """The expression that puts the results together."""
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
    """The origin of an input of a program: an array or tensor that the function closes over.

    Attributes
    ----------
    path, local : str
        How the user's program finds it, and the local name in the checks of the closure.
    kind : type
    is_array : bool
    """

    path: str
    local: str
    kind: type
    is_array: bool
