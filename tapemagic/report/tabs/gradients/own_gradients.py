"""The gradients that the program itself took, of whatever tape: values, or the reason for each None."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tapemagic.engine.events import Place
from tapemagic.engine.tape.observer import GradientCall
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.explain.causes import why_none
from tapemagic.explain.formatting import derivative_symbol, format_value
from tapemagic.explain.program_text import text_of
from tapemagic.explain.query import Program, Question
from tapemagic.explain.snapshot import snapshot_of
from tapemagic.report.subject import Subject

LONGEST = 24
"""The number of characters up to which an expression of the program serves as a name."""


@dataclass(frozen=True)
class OwnGradient:
    """A gradient that the program took itself.

    Attributes
    ----------
    name : str
        The name that the program gave it; empty if it has none.
    target, source : str
    text : str or None
        The value in one line; None if there is no gradient.
    reason : str
        The reason for a None; empty if there is a gradient.
    method : {'gradient', 'jacobian', 'batch_jacobian'}
    tape : str
        The program's name for the tape; empty if that cannot be told.
    line : int or None
        The line of the cell that asked.
    count : int
        The number of times that it was taken there; this is the last.
    remark : str
        The weights or the sum that it is the gradient of; empty if it is none.
    """

    name: str
    target: str
    source: str
    text: str | None
    reason: str = ""
    method: str = "gradient"
    tape: str = "tape"
    line: int | None = None
    count: int = 1
    remark: str = ""

    @property
    def symbol(self) -> str:
        """The symbol of the derivative: dy/dx."""
        return derivative_symbol(self.target, self.source, 1)

    @property
    def origin(self) -> str:
        """The tape, the line, and how often, as in ``taken by inner (line 5, the last of 100)``."""
        method = "" if self.method == "gradient" else f".{self.method}"
        tape = f"taken by {self.tape or 'a tape'}{method}"
        where = [f"line {self.line}"] if self.line else []
        where += [f"the last of {self.count:,}"] if self.count > 1 else []
        more = f"; {self.remark}" if self.remark else ""
        return tape + (f" ({', '.join(where)})" if where else "") + more

    def __str__(self) -> str:
        """The gradient as an equation, with its origin."""
        given = f"{self.name} = {self.symbol}" if self.name else self.symbol
        reason = f": {self.reason}" if self.text is None else ""
        return f"{given} = {self.text}, {self.origin}{reason}"


def own_gradients(subject: Subject) -> tuple[OwnGradient, ...]:
    """The gradients that the program took, in the order of the calls; of one in a loop the last."""
    rows: list[OwnGradient] = []
    for call in subject.gradient_calls:
        rows += _rows(subject, call)
    return tuple(rows)


def target_names(call: GradientCall) -> Sequence[str]:
    """The targets of a call as the program writes them."""
    return _names(written_call(call).target, call.targets, {}, "the target", {})


def _rows(subject: Subject, call: GradientCall) -> Iterator[OwnGradient]:
    """A row for each source of a call."""
    written = written_call(call)
    namespace = subject.context.program.namespace
    known = {**subject.known_names, **_held(call, namespace)}
    targets = _names(written.target, call.targets, known, "the target", namespace)
    sources = _names(written.sources, call.sources, known, "a source", namespace)
    target = targets[0] if len(targets) == 1 else f"({' + '.join(targets)})"
    if len(target) > 2 * LONGEST:
        target = "the target" if len(targets) == 1 else "the targets"
    remark = "weighted by output_gradients" if call.weighted else ""
    if call.method == "gradient" and not call.weighted:
        arrays = [name for name, x in zip(targets, call.targets, strict=True) if x.size != 1]
        remark = f"the gradient of the sum of {arrays[0]}" if arrays else ""
    results = _results(written.results, len(sources))
    for name, source, x, value in zip(results, sources, call.sources, call.results, strict=True):
        reason = "" if value is not None else _reason(call, targets, source, x, written.tape, known)
        text = None if value is None else format_value(unwrap(value))
        yield OwnGradient(
            name,
            target,
            source,
            text,
            reason,
            call.method,
            written.tape,
            call.line,
            call.times,
            remark if text else "",
        )


def _reason(
    call: GradientCall, targets: Sequence[str], source: str, x: Any, tape: str, names: Any
) -> str:
    """The reason for a None, by what the tape that gave it still knows."""
    snapshot = snapshot_of(call.tape)
    if not snapshot.times or snapshot.times[0] > call.time:
        return f"{tape or 'the tape'} has been used again since, so the reason is gone."
    place = Place(call.code.co_filename, written_call(call).line, "")
    program = Program(place, {}, tape or "tape")
    reasons = (
        why_none(Question(snapshot, target, x, y, source, names, program=program)).text
        for y, target in zip(targets, call.targets, strict=True)
    )
    return next(reasons)


def _held(call: GradientCall, namespace: Any) -> dict[int, str]:
    """The names in the notebook of targets and sources, by id."""
    wanted = {id_of(x) for x in (*call.targets, *call.sources)}
    found: dict[int, str] = {}
    for name, value in namespace.items():
        if not name.startswith("_") and isinstance(value, Traced) and id_of(value) in wanted:
            found.setdefault(id_of(value), name)
    return found


# -- the text of the call ---------------------------------------------------------------------------


@dataclass(frozen=True)
class WrittenCall:
    """The text of a call that takes gradients: the tape, the expressions given, and what the result is bound to."""

    tape: str = ""
    target: ast.expr | None = None
    sources: ast.expr | None = None
    results: ast.expr | None = None
    line: int = 1


def written_call(call: GradientCall) -> WrittenCall:
    """The text of a call; empty parts where the program's text is not known."""
    line, *end = list(call.code.co_positions())[call.offset // 2][:4]
    tree, _ = text_of(Place(call.code.co_filename, 1, ""))
    return _written(tree, line or 1, (end[0], end[2]))


@lru_cache(512)
def _written(tree: ast.Module, line: int, end: tuple[int | None, int | None]) -> WrittenCall:
    found = WrittenCall(line=line)
    bound: ast.expr | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _end(node) != end:
            continue
        given = dict(zip(("target", "sources"), node.args, strict=False))
        given |= {word.arg or "": word.value for word in node.keywords}
        given.setdefault("sources", given.get("source", given.get("sources")))  # type: ignore[arg-type]
        owner = getattr(node.func, "value", None)
        tape = ast.unparse(owner) if owner is not None else ""
        found = WrittenCall(
            tape if len(tape) <= LONGEST else "",
            given.get("target"),
            given.get("sources"),
            line=line,
        )
    for statement in ast.walk(tree):
        match statement:
            case ast.Assign([target], value) | ast.AnnAssign(target, _, value) if (
                isinstance(value, ast.Call) and _end(value) == end
            ):
                bound = target
            case ast.NamedExpr(target, ast.Call() as value) if _end(value) == end:
                bound = target
    return WrittenCall(found.tape, found.target, found.sources, bound, line)


def _end(node: ast.expr) -> tuple[int | None, int | None]:
    return node.end_lineno, node.end_col_offset


def _results(bound: ast.expr | None, count: int) -> Sequence[str]:
    """The names of the results of a call, by what it is assigned to; empty where they have none."""
    if count == 1 and isinstance(bound, ast.Name | ast.Attribute | ast.Subscript):
        return [_short(bound)]
    parts = getattr(bound, "elts", [])
    if len(parts) == count and not any(isinstance(part, ast.Starred) for part in parts):
        return list(map(_short, parts))
    return [""] * count


def _names(
    node: ast.expr | None,
    values: Sequence[Any],
    known: Mapping[int, str],
    default: str,
    namespace: Mapping[str, Any],
) -> Sequence[str]:
    """The names of targets or sources.

    They are as the call writes them, unless that is now the name of something else, and the notebook has another name.
    """
    elements: Sequence[ast.expr | None] = [node]
    if isinstance(node, ast.List | ast.Tuple):
        elements = node.elts
    elif isinstance(node, ast.Dict):  # whose values a tape takes in the order of its keys
        elements = []
    if len(elements) != len(values) or any(isinstance(x, ast.Starred) for x in elements):
        whole = _short(node)
        return [
            known.get(id_of(x)) or (f"{whole}[{i}]" if whole else default)
            for i, x in enumerate(values)
        ]
    names = []
    for element, x in zip(elements, values, strict=True):
        written, other = _short(element), known.get(id_of(x), "")
        is_other = isinstance(element, ast.Name) and namespace.get(written) is not x
        names.append((other if is_other else written) or written or other or default)
    return names


def _short(node: ast.expr | None) -> str:
    """An expression as text if it is short and no literal; empty otherwise."""
    if node is None or isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Constant):
        return ""
    text = ast.unparse(node)
    return text if len(text) <= LONGEST else ""
