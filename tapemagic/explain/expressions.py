"""Taint of expressions: the parts that come from a certain value, where some names, attributes and items do."""

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
"""Functions whose result does not change with a small change of their arguments, or is not meant to."""

TEXT = ".__str__"
"""The part of a value that has what is looked for as text: of no use until the text is read as numbers again."""

WRITING_TEXT = {"str", "repr", "format", "ascii", "bytes", "join", "dumps", "array2string", "array_str"}  # fmt: skip
PARSING = {
    "float", "complex", "eval", "literal_eval", "loads", "load", "fromstring", "float64", "Decimal", "Fraction"
}  # fmt: skip
COEFFICIENTS = {"coef", "coeffs", "coefficients", "roots"}
"""Attributes of a `numpy.poly1d` that are arrays."""

SIZES = {"shape", "ndim", "size", "dtype"}
Parts = set[str]
"""The tainted parts of a value: ``"[1]"``, ``".log"``; ``""`` is the whole."""


def path_of(node: ast.AST) -> str:
    """A name, an attribute, a constant subscript, or what a function gives, as text; empty for anything else.

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
    """The name that a path begins with."""
    return path.replace("[", ".").replace("(", ".").partition(".")[0]


def _below(path: str, whole: str) -> bool:
    """Whether a path is a part of another, or the same."""
    return path.startswith(whole) and path[len(whole) : len(whole) + 1] in ("", ".", "[", "(")


def on(node: ast.expr | ast.stmt, line: int) -> bool:
    """Whether a line is one of those of an expression."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


@dataclass
class Expressions:
    """The paths that come from a value that left the tape, while a program is read."""

    line: int  # on which the value left the tape
    exact: Sequence[ast.Call]  # by which it did; if empty, any on the line may have
    source: str  # is differentiated with respect to: its own value is no loss
    tainted: set[str]  # paths that come from the value
    steps: bool = False  # count what changes in steps, too, and attributes of what may be no array
    text: bool = False  # the value was written as text on the line
    objects: bool = False  # count attributes of what may be no array, and nothing else in steps

    def bind(self, target: ast.expr, parts: Parts) -> None:
        """Bind a target to a value with some tainted parts."""
        if isinstance(target, ast.Tuple | ast.List):
            for k, one in enumerate(target.elts):
                if isinstance(one, ast.Starred):
                    self.bind(one.value, _all_if(parts))
                else:
                    self.bind(one, _part(parts, f"[{k}]"))
            return
        path = path_of(target)
        if path:
            self.tainted = {other for other in self.tainted if not _below(other, path)}
        elif isinstance(target, ast.Subscript):
            path, parts = path_of(target.value), _all_if(parts)
        if path and not _below(path, self.source):
            self.tainted |= {path + part for part in parts}

    def hit(self, call: ast.Call) -> bool:
        """Whether the value left by a call: the one that is named like that, or else any on the line."""
        if self.text:
            return False
        if self.exact:
            return call in self.exact
        words = [word.arg for word in call.keywords]
        return on(call, self.line) and bool(call.args or words) and "key" not in words

    def carries(self, node: ast.AST) -> bool:
        """Whether a value that is read as a whole is tainted; of an object, its attributes do not count."""
        return any(not part.startswith(".") for part in self.parts(node))

    def parts(self, node: ast.AST | None) -> Parts:
        """The tainted parts of a value."""
        inner, smooth = _inner(node), not self.steps
        if inner is not None:
            return {f"[{key!r}]{part}" for key, one in inner for part in self.parts(one)}
        match node:
            case ast.JoinedStr(values) if smooth:
                tainted = any(map(self.parts, values)) or (self.text and on(node, self.line))
                return {TEXT} if tainted else set()
            case ast.Compare() | ast.UnaryOp(ast.Not()) | ast.BinOp(_, ast.FloorDiv()) if smooth:
                for walrus in ast.walk(node):
                    if isinstance(walrus, ast.NamedExpr):
                        self.parts(walrus)
                return set()
            case ast.IfExp(test, one, other):
                chosen = _all_if(self.steps and self.parts(test))
                return chosen | self.parts(one) | self.parts(other)
            case ast.Compare() | ast.BinOp() if not (self.exact or self.text) and on(
                node, self.line
            ):  # the other operand computed, such as data of pandas
                return {""}
            case ast.NamedExpr(target, value):
                found = self.parts(value)
                self.bind(target, found)
                return found
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
        """The tainted parts of a name, an attribute, a subscript or a call."""
        if isinstance(node, ast.Attribute) and node.attr in SIZES:
            return set()
        if self.steps and isinstance(node, ast.Subscript) and self.parts(node.slice):
            return {""}
        path = path_of(node)
        found = {other[len(path) :] for other in self.tainted if path and _below(other, path)}
        if any(self.passes(path, other) for other in self.tainted if path):
            return {""}
        if isinstance(node, ast.Call):
            return found | self.given(node)
        if isinstance(node, ast.Name):
            return found
        if isinstance(node, ast.Attribute):
            found |= _part(self.tainted, f".{node.attr}")
        if "(" in path and self.passes(path, whole := path_of(node.value)):
            found |= _part(self.parts(node.value), path.removeprefix(whole))
        return found if path or not self.carries(node.value) else {""}

    def passes(self, path: str, whole: str) -> bool:
        """Whether a part is tainted as the whole is: not an attribute that arrays lack."""
        name = root_of(path.removeprefix(whole)[1:])
        counts = self.steps or self.objects or name in COEFFICIENTS or hasattr(np.ndarray, name)
        return _below(path, whole) and (counts or path[len(whole) : len(whole) + 1] != ".")

    def given(self, call: ast.Call) -> Parts:
        """The tainted parts of the result of a call, by its arguments, or since the value left by it."""
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
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
        """The tainted parts of the elements of an iterable."""
        match reach:
            case ast.Call(ast.Name("zip"), given):
                return {f"[{k}]" for k, one in enumerate(given) if self.parts(one)}
            case ast.Call(ast.Name("enumerate"), [one, *_]):
                return {"[1]"} if self.parts(one) else set()
        return _all_if(self.carries(reach))

    def comprehended(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Parts:
        """The tainted parts of a comprehension: the names in it are its own."""
        before = set(self.tainted)
        for part in node.generators:
            self.bind(part.target, self.elements(part.iter))
        tainted = self.carries(node.value if isinstance(node, ast.DictComp) else node.elt)
        self.tainted = before
        return _all_if(tainted)


def _inner(node: ast.AST | None) -> list[tuple[Any, ast.expr]] | None:
    """The parts of a list, a tuple or a dict that is written part by part, with their keys."""
    match node:
        case ast.Tuple(given) | ast.List(given):
            starred = any(isinstance(one, ast.Starred) for one in given)
            return None if starred else list(enumerate(given))
        case ast.Dict(keys, given):
            named = [key.value for key in keys if isinstance(key, ast.Constant)]
            return list(zip(named, given, strict=True)) if len(named) == len(given) else None
        case ast.Call(ast.Name("dict"), [], words) if all(word.arg for word in words):
            return [(word.arg, word.value) for word in words]
    return None


def _all_if(tainted: object) -> Parts:
    return {""} if tainted else set()


def _part(parts: Iterable[str], path: str) -> Parts:
    """The tainted parts of a part; where the whole is tainted, so is every part."""
    inner = {part[len(path) :] for part in parts if _below(part, path)}
    return inner | _all_if("" in parts)
