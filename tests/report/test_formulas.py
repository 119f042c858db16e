"""Every formula is evaluated and compared with the tape's own rule; and how formulas are written."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.drawing.elements import escape_text
from tapemagic.drawing.tex import tex
from tapemagic.engine.operations.exponentials import log_softmax, softmax
from tapemagic.engine.operations.logistic import sigmoid
from tapemagic.engine.recording import SMALL, Record
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tape.sweep import unbroadcast
from tapemagic.explain.formatting import bars_as_text
from tapemagic.explain.snapshot import snapshot_of
from tapemagic.report.tabs.trace.formulas import (
    CHOSEN,
    FORMULAS,
    INPUTS,
    LAST_AXIS,
    adjoint_formula,
    formula_of,
    index_text,
)
from tapemagic.report.tabs.trace.notation import Symbol, bar, rendered, symbol_of
from tapemagic.report.tabs.trace.sweep import passed_on
from tests.rules import harness

pytestmark = pytest.mark.thorough

CASES = harness.collect("CASES")

MORE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "power 3": (lambda x: x**3, (np.array([-1.5, 0.5]),)),
    "power -2": (lambda x: x**-2, (np.array([1.5, 0.5]),)),
    "dot": (np.dot, (np.array([1.0, 2.0]), np.array([3.0, -1.0]))),
    "outer products": (np.matmul, (np.array([1.0, 2.0]), np.array([[3.0, -1.0], [0.5, 2.0]]))),
}


class Wheres(ast.NodeTransformer):
    """Choices between numbers as np.where, comparisons of three as two."""

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """A choice."""
        parts = [self.visit(x) for x in (node.test, node.body, node.orelse)]
        return ast.Call(ast.Name("where", ast.Load()), parts, [])

    def visit_Compare(self, node: ast.Compare) -> Any:
        """A comparison."""
        left: ast.expr = node.left
        found: ast.expr | None = None
        for op, right in zip(node.ops, node.comparators, strict=True):
            one = ast.Compare(left, [op], [right])
            found = one if found is None else ast.BinOp(found, ast.BitAnd(), one)
            left = right
        return found


def evaluated(expression: str, record: Record, g: Any = None) -> Any:
    """The value of a formula."""
    default = -1 if record.name in LAST_AXIS else None
    axis = (record.params or {}).get("axis", default)
    axis = tuple(axis) if isinstance(axis, list) else axis
    keeps = (record.params or {}).get("keepdims", False)
    x = record.values[0]

    def spread(v: Any) -> Any:
        everywhere: Any = tuple(range(np.ndim(x))) if np.ndim(v) < np.ndim(x) else ()
        along: Any = everywhere if axis is None else axis
        if record.name.endswith("cross_entropy"):
            return np.expand_dims(v, axis)
        return np.broadcast_to(v if keeps else np.expand_dims(v, along), x.shape)

    def total(v: Any) -> Any:
        if record.name in {"sum", "mean"}:
            return np.sum(v, axis=axis, keepdims=keeps)
        return np.sum(v, axis=axis, keepdims=True)

    names = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    names |= {
        "ln": np.log,
        "max": np.maximum,
        "min": np.minimum,
        "inv": np.linalg.inv,
        "solve": np.linalg.solve,
        "sigmoid": sigmoid,
        "softmax": lambda v: softmax(v, axis),
        "log_softmax": lambda v: log_softmax(v, axis),
        "one_hot": lambda v: np.eye(record.values[1].shape[-1])[np.asarray(v).astype(int)],
        "mean": lambda v: np.mean(v, axis=axis, keepdims=keeps),
        "total": total,
        "spread": spread,
        "y": record.output,
        "g": g,
        "n": np.size(x) / max(1, np.size(record.output)),
        **dict(zip(INPUTS, record.values, strict=False)),
    }
    tree = ast.fix_missing_locations(Wheres().visit(ast.parse(expression, mode="eval")))
    with np.errstate(all="ignore"):
        return eval(compile(tree, expression, "eval"), names)  # noqa: S307


def records() -> Iterator[tuple[str, Record]]:
    """Every operation on real numbers in the cases of the table of rules."""
    cases = {name: (case.call, case.inputs) for name, case in CASES.items()} | MORE
    for name, (call, inputs) in cases.items():
        values = [x if isinstance(x, tm.Variable) else tm.constant(x) for x in inputs]
        with Observer() as observer:
            observer.watch([x for x in values if not isinstance(x, tm.Variable)])
            call(*values)
        for record in map(Record._make, snapshot_of(observer).records):
            if not any(
                isinstance(x, np.ndarray | np.generic) and x.dtype.kind == "c"
                for x in (*record.values, record.output)
            ):
                yield name, record


def test_every_formula_is_that_of_the_rule() -> None:
    """What the formula of an adjoint says, and what the tape computes, are the same."""
    seen: set[tuple[str, int]] = set()
    rng = np.random.default_rng(0)
    for name, record in records():
        formula = formula_of(record)
        if formula is None or isinstance(record.output, tuple):
            continue
        names = [symbol_of(c) for c in "abcdefgh"[: len(record.values)]]
        for k, expression in enumerate(formula.adjoints):
            if expression is None or k >= len(record.values) or record.ids[k] <= 0:
                continue
            g = rng.normal(size=record.output.shape)[()]
            piece = adjoint_formula(record, k, names, symbol_of("y"), symbol_of("g"))
            if piece is None or record.values[k].nbytes > SMALL:
                continue
            mine, x = np.asarray(evaluated(expression, record, g)), record.values[k]
            if mine.shape != x.shape:
                assert piece.text.startswith(("Σ", "sum(")) or mine.size in (0, 1), (name, piece)
                mine = unbroadcast(mine, x.shape)
            expected = passed_on(record, k, g)
            np.testing.assert_allclose(
                mine, expected, rtol=1e-9, atol=1e-12, err_msg=f"{name} {expression}"
            )
            seen.add((record.name, k))
    known = {(n, k) for n, f in FORMULAS.items() for k, x in enumerate(f.adjoints) if x}
    assert known - seen == set()
    assert set(CHOSEN) - {n for n, _ in seen} == set()


def test_every_formula_gives_the_value() -> None:
    """What the formula of an operation says is its result."""
    seen: set[str] = set()
    for name, record in records():
        formula = formula_of(record)
        if formula is None or formula.value is None or isinstance(record.output, tuple):
            continue
        try:
            value = evaluated(formula.value, record)
        except NameError:
            continue
        np.testing.assert_allclose(
            value, record.output, rtol=1e-9, atol=1e-12, err_msg=f"{name} {formula.value}"
        )
        seen.add(record.name)
    assert {n for n, f in FORMULAS.items() if f.value} - seen == set()


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("a - (b - c)", "x - (-2.0 - w₁)"),
        ("a + b", "x + (-2.0)"),
        ("a * b / c", "x · (-2.0) / w₁"),
        ("b * a", "-2.0 · x"),
        ("c - b * a", "w₁ - (-2.0 · x)"),
        ("a / (b * c)", "x / (-2.0 · w₁)"),
        ("(a + c)**3", "(x + w₁)³"),
        ("b**a", "(-2.0)^x"),
        ("-(a + c)", "-(x + w₁)"),
        ("sqrt(a + c) * abs(b)", "√(x + w₁) · |-2.0|"),
        ("a if a > c else 0", "x if x > w₁, else 0"),
        ("a @ c.T", "x @ w₁ᵀ"),
    ],
)
def test_brackets(expression: str, text: str) -> None:
    """There are brackets where a formula would say something else without them, and nowhere else."""
    symbols = {"a": symbol_of("x"), "b": Symbol("-2.0", "-2.0"), "c": symbol_of("w₁")}

    assert text == rendered(expression, symbols).text


@pytest.mark.parametrize(
    ("name", "text", "latex"),
    [
        ("x1", "x̄1", r"\bar{x}_{1}"),
        ("w₁₂", "w̄₁₂", r"\bar{w}_{12}"),
        ("loss", "bar(loss)", r"\overline{\mathrm{loss}}"),
        ("λ", "bar(λ)", r"\bar{\lambda}"),
        ("h_out", "bar(h_out)", r"\overline{\mathrm{h\_out}}"),
        ("a", "ā", r"\bar{a}"),
        ("dy/dx", "bar(dy/dx)", r"\overline{\mathrm{dy/dx}}"),
    ],
)
def test_adjoints(name: str, text: str, latex: str) -> None:
    """An adjoint has a bar over its whole name, which plain text has room for over a single letter only."""
    symbol = bar(symbol_of(name))

    assert (text, latex) == (bars_as_text(symbol.text), symbol.latex)
    # In the page and in other text of LaTeX, too, one line goes over the name.
    assert f"<u style=text-decoration:overline>{name}</u> · " == escape_text(f"{symbol.text} · ")
    assert f"$\\overline{{\\mbox{{{tex(name)}}}}}$ = 1" == tex(f"{symbol.text} = 1")
    # A product needs no brackets around it.
    assert f"{symbol.text} · b" == rendered("g * b", {"g": symbol, "b": symbol_of("b")}).text


@pytest.mark.parametrize(
    "name", ["<b>", "two  words", "a'b\"c", "x̄", "ā", "é", "x\u0305", "😀", "$x_1$"]
)
def test_bars_over_any_name(name: str) -> None:
    """A Variable may have any name: it is escaped under its bar, and nothing next to it gets one."""
    words = f"{bar(symbol_of(name)).text} · {bar(symbol_of('w')).text}"

    assert escape_text(words).endswith(" · <u style=text-decoration:overline>w</u>")
    assert escape_text(words).count("<u ") == 2
    assert escape_text(words).count("<") == 4 == escape_text(words).count(">")
    assert bars_as_text(words).endswith(" · w̄")


def test_indices() -> None:
    """An index is written as the user wrote it."""
    index = (0, slice(None), slice(1, None, 2), ..., None, np.array([0, 2]))

    assert "0, :, 1::2, ..., None, [0, 2]" == index_text(index)
