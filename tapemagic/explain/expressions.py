"""Taint of expressions: which parts of a value come from a plain number, if some names, attributes and items do."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

STEPS = (
    "all allclose any argmax argmin argpartition argsort array_equal bool ceil count_nonzero digitize fix flatnonzero "
    "floor format id int isclose isfinite isinf isinstance isnan len nonzero print range repr rint round searchsorted "
    "sign signbit stop_gradient str trunc type zeros_like ones_like"
)
FLAT = frozenset(STEPS.split())
"""Functions whose result doesn't change, or isn't meant to, if their arguments change slightly."""

TEXT = ".__str__"
"""The part of a value that is tainted as text, which matters only if the text is parsed into numbers again."""

WRITING_TEXT = {"str", "repr", "format", "ascii", "bytes", "join", "dumps", "array2string", "array_str"}  # fmt: skip
PARSING = {
    "float", "complex", "eval", "literal_eval", "loads", "load", "fromstring", "float64", "Decimal", "Fraction"
}  # fmt: skip
COEFFICIENTS = {"coef", "coeffs", "coefficients", "roots"}
"""Attributes of `numpy.poly1d` that are arrays."""

SIZES = {"shape", "ndim", "size", "dtype"}
Parts = set[str]
"""The tainted parts of a value: ``"[1]"``, ``".log"``, or ``""`` for the value itself."""


def path_of(node: ast.AST) -> str:
    """Return a name, an attribute, a constant subscript or a call as text, or '' for other expressions.

    Examples
    --------
    >>> [path_of(ast.parse(text, mode="eval").body) for text in ("model.log", "d['a'].b", "f(x)[0]", "x + 1")]
    ['model.log', "d['a'].b", 'f()[0]', '']
    """
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(inner, name):
            end = f".{name}"
        case ast.Subscript(inner, ast.Constant(key)):
            end = f"[{key!r}]"
        case ast.Call(inner):
            end = "()"
        case _:
            return ""
    path = path_of(inner)
    return path and path + end


def root_of(path: str) -> str:
    """Return the name that a path begins with."""
    return path.replace("[", ".").replace("(", ".").partition(".")[0]


def _below(path: str, prefix: str) -> bool:
    """Return True if a path equals `prefix`, or names a part of the value there."""
    return path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in ("", ".", "[", "(")


def on(node: ast.expr | ast.stmt, line: int) -> bool:
    """Return True if an expression or statement covers a line."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


@dataclass
class Expressions:
    """The paths that come from a converted value, updated while a program is read."""

    line: int  # the line of the conversion
    exact: Sequence[
        ast.Call
    ]  # the calls that may have converted the value; if empty, any call on the line
    source: str  # the source: results bound to its name are no loss
    tainted: set[str]  # paths that come from the value
    steps: bool = False  # count results that change in steps, and attributes of objects that may not be arrays
    text: bool = False  # the value was converted to text
    objects: bool = False  # count attributes of objects that may not be arrays, but no other steps

    def bind(self, target: ast.expr, parts: Parts) -> None:
        """Bind an assignment target to a value with tainted parts."""
        if isinstance(target, ast.Tuple | ast.List):
            for k, element in enumerate(target.elts):
                if isinstance(element, ast.Starred):
                    self.bind(element.value, _all_if(parts))
                else:
                    self.bind(element, _part(parts, f"[{k}]"))
            return
        path = path_of(target)
        if path:
            self.tainted = {
                tainted_path for tainted_path in self.tainted if not _below(tainted_path, path)
            }
        elif isinstance(target, ast.Subscript):
            path, parts = path_of(target.value), _all_if(parts)
        if path and not _below(path, self.source):
            self.tainted |= {path + part for part in parts}

    def hit(self, call: ast.Call) -> bool:
        """Return True if a call converted the value: a call of that name, or else any call on the line."""
        # Conversions to text, such as an f-string, aren't calls that return the number.
        if self.text:
            return False
        if self.exact:
            return call in self.exact
        words = [word.arg for word in call.keywords]
        # A call with `key=`, such as sorted(), only compares.
        return on(call, self.line) and bool(call.args or words) and "key" not in words

    def carries(self, node: ast.AST) -> bool:
        """Return True if a value is tainted itself. Tainted attributes of an object don't count."""
        return any(not part.startswith(".") for part in self.parts(node))

    def parts(self, node: ast.AST | None) -> Parts:
        """Return the tainted parts of a value."""
        inner, smooth = _inner(node), not self.steps
        if inner is not None:
            return {f"[{key!r}]{part}" for key, element in inner for part in self.parts(element)}
        match node:
            case ast.JoinedStr(values) if smooth:
                tainted = any(map(self.parts, values)) or (self.text and on(node, self.line))
                return {TEXT} if tainted else set()
            case ast.Compare() | ast.UnaryOp(ast.Not()) | ast.BinOp(_, ast.FloorDiv()) if smooth:
                for walrus in ast.walk(node):
                    if isinstance(walrus, ast.NamedExpr):
                        self.parts(walrus)
                return set()
            case ast.IfExp(test, part, other):
                chosen = _all_if(self.steps and self.parts(test))
                return chosen | self.parts(part) | self.parts(other)
            case ast.Compare() | ast.BinOp() if not (self.exact or self.text) and on(
                node, self.line
            ):  # the other operand computed, such as data of pandas
                return {""}
            case ast.NamedExpr(target, value):
                value_parts = self.parts(value)
                self.bind(target, value_parts)
                return value_parts
            case ast.Lambda(_, body):
                return {"()"} if self.parts(body) else set()
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.comprehended(node)
            case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
                return self.reached(node)
            case ast.AST():
                return _all_if(any(map(self.carries, ast.iter_child_nodes(node))))
        return set()

    def reached(self, node: ast.Name | ast.Attribute | ast.Subscript | ast.Call) -> Parts:
        """Return the tainted parts of a name, an attribute, a subscript or a call."""
        if isinstance(node, ast.Attribute) and node.attr in SIZES:
            return set()
        if self.steps and isinstance(node, ast.Subscript) and self.parts(node.slice):
            return {""}
        path = path_of(node)
        tainted = {
            tainted_path[len(path) :]
            for tainted_path in self.tainted
            if path and _below(tainted_path, path)
        }
        if any(self.passes(path, tainted_path) for tainted_path in self.tainted if path):
            return {""}
        if isinstance(node, ast.Call):
            return tainted | self.result_parts(node)
        if isinstance(node, ast.Name):
            return tainted
        if isinstance(node, ast.Attribute):
            tainted |= _part(self.tainted, f".{node.attr}")
        if "(" in path and self.passes(path, owner_path := path_of(node.value)):
            tainted |= _part(self.parts(node.value), path.removeprefix(owner_path))
        return tainted if path or not self.carries(node.value) else {""}

    def passes(self, path: str, tainted_path: str) -> bool:
        """Return True if a part is tainted because its owner is. An attribute that arrays don't have isn't."""
        name = root_of(path.removeprefix(tainted_path)[1:])
        counts = self.steps or self.objects or name in COEFFICIENTS or hasattr(np.ndarray, name)
        return _below(path, tainted_path) and (
            counts or path[len(tainted_path) : len(tainted_path) + 1] != "."
        )

    def result_parts(self, call: ast.Call) -> Parts:
        """Return the tainted parts of a call's result: its arguments are tainted, or it converts the value."""
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        # The condition of np.where only chooses.
        arguments = call.args[name == "where" and not self.steps :]
        arguments += [word.value for word in call.keywords]
        texts = any(TEXT in self.parts(argument) for argument in arguments)
        if name in WRITING_TEXT and not self.steps:
            written = texts or any(map(self.carries, arguments))
            return {TEXT} if written or (self.text and on(call, self.line)) else set()
        if name in FLAT and not self.steps:
            return set()
        if name in PARSING and texts:
            return {""}
        if self.hit(call) or any(map(self.carries, arguments)):
            return {""}
        if isinstance(call.func, ast.Attribute):
            if TEXT in self.parts(call.func.value):
                return {TEXT}
            own = self.parts(call.func.value)
            tainted = any(not part.startswith((".", "(")) for part in own)  # "()": if it is called
            return _all_if(tainted) | _part(self.tainted, f".{name}()")
        return self.parts(call.func) and _all_if(isinstance(call.func, ast.Lambda))

    def elements(self, reach: ast.expr) -> Parts:
        """Return the tainted parts of the elements of an iterable."""
        match reach:
            case ast.Call(ast.Name("zip"), arguments):
                return {f"[{k}]" for k, item in enumerate(arguments) if self.parts(item)}
            case ast.Call(ast.Name("enumerate"), [item, *_]):
                return {"[1]"} if self.parts(item) else set()
        return _all_if(self.carries(reach))

    def comprehended(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Parts:
        """Return the tainted parts of a comprehension."""
        before = set(self.tainted)  # the names that a comprehension binds exist only inside it
        for part in node.generators:
            self.bind(part.target, self.elements(part.iter))
        tainted = self.carries(node.value if isinstance(node, ast.DictComp) else node.elt)
        self.tainted = before
        return _all_if(tainted)


def _inner(node: ast.AST | None) -> list[tuple[Any, ast.expr]] | None:
    """List the items of a list, tuple or dict display with their keys, or return None for other expressions."""
    match node:
        case ast.Tuple(items) | ast.List(items):
            starred = any(isinstance(item, ast.Starred) for item in items)
            return None if starred else list(enumerate(items))
        case ast.Dict(keys, items):
            named = [key.value for key in keys if isinstance(key, ast.Constant)]
            return list(zip(named, items, strict=True)) if len(named) == len(items) else None
        case ast.Call(ast.Name("dict"), [], words) if all(word.arg for word in words):
            return [(word.arg, word.value) for word in words]
    return None


def _all_if(tainted: object) -> Parts:
    return {""} if tainted else set()


def _part(parts: Iterable[str], path: str) -> Parts:
    """Return the tainted parts of the part at `path`. All parts of a tainted value are tainted."""
    inner = {part[len(path) :] for part in parts if _below(part, path)}
    return inner | _all_if("" in parts)
