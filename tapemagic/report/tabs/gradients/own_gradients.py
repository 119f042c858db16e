"""The gradients that the program took itself, from any tape: values, or None with its reason."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.events import Place
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import silence
from tapemagic.engine.tape.observer import GradientCall
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.explain.caller import parts
from tapemagic.explain.causes import why_none
from tapemagic.explain.formatting import derivative_symbol, format_value, mixed_derivative_symbol
from tapemagic.explain.program_text import text_of
from tapemagic.explain.query import Program, Question
from tapemagic.explain.snapshot import Named, snapshot_of
from tapemagic.report.derivatives import MAX_SEPARATE
from tapemagic.report.subject import Subject
from tapemagic.report.summary import summarise
from tapemagic.report.tabs.gradients.check_result import Check
from tapemagic.report.tabs.gradients.derivative_checks import Checker
from tapemagic.report.tabs.gradients.matrices import axis_of
from tapemagic.report.tabs.gradients.numeric_check import UNCOMPUTED, Claim

MAX_EXPRESSION_LENGTH = 24
"""Maximum number of characters of an expression that serves as a name."""

MAX_ENTRIES = 10**6
"""Maximum number of entries of a Jacobian that is compared with finite differences."""

SAME = 1e-4
"""The relative difference within which two sweeps give the same, in any precision."""

WEIGHTED = "the weights (output_gradients) that it was taken with are not known"
OTHER_TAPE = "the tape that took it recorded other operations than the cell"
TOO_LARGE = f"it has more than {MAX_ENTRIES:,} entries"


@dataclass(frozen=True)
class OwnGradient:
    """A gradient that the program took itself.

    Attributes
    ----------
    name : str
        Its name in the program, or ''.
    target, source : str
    text : str or None
        The value in one line, or None if there is no gradient.
    reason : str
        The reason for a None, or '' if there is a gradient.
    method : {'gradient', 'jacobian', 'batch_jacobian'}
    tape : str
        The program's name for the tape, or '' if it is unknown.
    line : int or None
        The line of the cell that asked.
    count : int
        The number of times that it was taken there; this is the last.
    remark : str
        The weights, or the sum that it is the gradient of, or ''.
    higher : str
        The symbol of a gradient of a gradient, such as d²y/dx²; '' for others.
    check : Check or None
        The check by finite differences.
    brief : str
        Like `text`, but for a sentence.
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
    higher: str = ""
    check: Check | None = None
    brief: str = ""

    @property
    def symbol(self) -> str:
        """The symbol of the derivative: dy/dx."""
        return self.higher or derivative_symbol(self.target, self.source, 1)

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
        left = f"{self.name} = {self.symbol}" if self.name else self.symbol
        reason = f": {self.reason}" if self.text is None else ""
        check = f"; {self.check.text}" if self.check else ""
        return f"{left} = {self.text}, {self.origin}{reason}{check}"


def own_gradients(subject: Subject) -> tuple[OwnGradient, ...]:
    """The gradients that the program took, in the order of the calls; of one in a loop the last."""
    if subject.request.check:
        return checked_own_gradients(subject.shared(Checker))
    return tuple(row for row, _ in subject.shared(_taken_gradients))


def checked_own_gradients(checker: Checker) -> tuple[OwnGradient, ...]:
    """The gradients that the program took, compared with finite differences."""
    taken = checker.subject.shared(_taken_gradients)
    count = sum(isinstance(claim, Claim) for _, claim in taken) or 1
    return tuple(replace(row, check=_checked(checker, claim, count)) for row, claim in taken)


def _checked(checker: Checker, claim: Claim | str, count: int) -> Check | None:
    """Compare a gradient with finite differences; instead of a claim, there may be a reason why that is impossible."""
    if isinstance(claim, str):
        return Check("not checked", note=claim) if claim else None
    result = checker.check(claim, count)
    if result.outcome == "differs" and not _is_of_the_cell(checker.subject, claim):
        return Check("not checked", note=OTHER_TAPE)
    return result


def _is_of_the_cell(subject: Subject, claim: Claim) -> bool:
    """Return True if the recording of the cell gives the same derivative.

    A tape of the program may have begun later, or have watched other values, than the tape of the cell, whose
    operations are repeated for a check.
    """
    tape, goals = subject.whole.tape(), claim.targets
    try:
        with silence():
            for xs in claim.chain:
                with tape:
                    goals = tape.gradient(goals, list(xs), unconnected_gradients="zero")
            if claim.is_matrix:
                found = tape.jacobian(goals[0], claim.sources[0], unconnected_gradients="zero")
            else:
                found = tape.gradient(goals, claim.sources[0], unconnected_gradients="zero")
    except Exception:  # noqa: BLE001 -- a rule may call anything
        return False
    value = np.asarray(unwrap(found)).reshape(claim.value.shape)
    largest = float(np.max(np.abs(value), initial=0.0))
    return np.allclose(value, claim.value, SAME, SAME * largest, equal_nan=True)


def _taken_gradients(subject: Subject) -> Sequence[tuple[OwnGradient, Claim | str]]:
    """The gradients that the program took, each as a claim, or with the reason why it can't be one; '' for a None."""
    rows: list[tuple[OwnGradient, Claim | str]] = []
    taken: dict[int, _Taken] = {}
    lower: dict[int, tuple[Sequence[Any], Sequence[Any]]] = {}
    for call in subject.gradient_calls:
        new = list(_rows(subject, call))
        number = id_of(call.targets[0]) if len(call.targets) == 1 else 0
        before = taken.get(number)
        goals, chain = lower.get(number, (call.targets, ()))
        for k, (row, result) in enumerate(zip(new, call.results, strict=True)):
            now: _Taken | None = _Taken(row.target, row.source, 1)
            if before is not None and result is not None and call.method == "gradient":
                symbol, now = before.differentiated(row.source)
                new[k] = replace(row, higher=symbol)
            # The gradient of a sum, or a weighted one, is no derivative of the target alone.
            if result is not None and now and call.method == "gradient" and not row.remark:
                taken[id_of(result)] = now
            if result is not None and call.method == "gradient" and not call.weighted:
                lower[id_of(result)] = goals, (*chain, call.sources[k])
            rows.append((new[k], _claim(call, k, row, goals, [[x] for x in chain])))
    return rows


def _claim(
    call: GradientCall,
    k: int,
    row: OwnGradient,
    goals: Sequence[Any],
    chain: Sequence[Sequence[Any]],
) -> Claim | str:
    """A gradient as a claim, or the reason why it can't be one; '' for a None."""
    result, source = call.results[k], call.sources[k]
    if result is None:
        return ""
    if call.weighted:
        return WEIGHTED
    value = unwrap(result)
    if call.method == "gradient":
        return Claim(goals, chain, [source], value)
    if is_lazy(value):
        return UNCOMPUTED
    target = call.targets[0]
    if target.size * source.size > MAX_ENTRIES:
        return TOO_LARGE
    if call.method == "batch_jacobian":
        value = _block_diagonal(value, target.shape, source.shape)
    table = value.reshape(target.size, source.size)
    labels = axis_of((row.target, target)).label, axis_of((row.source, source)).label
    return Claim(goals, chain, [source], table, True, labels)


def _block_diagonal(blocks: Any, target: tuple[int, ...], source: tuple[int, ...]) -> Any:
    """Return the Jacobian of a batch, in which the results of an example depend only on that example."""
    count, rows, columns = target[0], math.prod(target[1:]), math.prod(source[1:])
    table = np.zeros((count, rows, count, columns), blocks.dtype)
    examples = np.arange(count)
    # Advanced indices on both sides of a slice: the axis of examples comes first.
    table[examples, :, examples, :] = blocks.reshape(count, rows, columns)
    return table


class _Taken(NamedTuple):
    """A gradient that the program took: of what, with respect to what, and its order."""

    target: str
    source: str
    order: int

    def differentiated(self, source: str) -> tuple[str, _Taken | None]:
        """Return the symbol of its gradient, and that gradient, if it has a symbol."""
        if source == self.source:
            symbol = derivative_symbol(self.target, source, self.order + 1)
            return symbol, self._replace(order=self.order + 1)
        if self.order == 1:
            return mixed_derivative_symbol(self.target, self.source, source), None
        return "", None


def target_names(call: GradientCall) -> Sequence[str]:
    """Return the targets of a call as written in the program."""
    return _names(written_call(call).target, call.targets, {}, "the target", {})


def written_sources(call: GradientCall, namespace: Mapping[str, Any]) -> Sequence[Named]:
    """Return the sources of a call, each with its expression in the program, if that is short."""
    names = _names(written_call(call).sources, call.sources, {}, "", namespace)
    return [pair for pair in zip(names, call.sources, strict=True) if pair[0]]


def _rows(subject: Subject, call: GradientCall) -> Iterator[OwnGradient]:
    """A row for each source of a call."""
    written = written_call(call)
    namespace = subject.context.program.namespace
    names = {**subject.known_names, **_namespace_names(call, namespace)}
    targets = _names(written.target, call.targets, names, "the target", namespace)
    sources = _names(written.sources, call.sources, names, "a source", namespace)
    # A list of many targets has one name, as it has as the target of a report.
    is_list = len(targets) > MAX_SEPARATE and bool(container := _short(written.target))
    target = container if is_list else " + ".join(targets)
    if len(target) > 2 * MAX_EXPRESSION_LENGTH:
        target = "the target" if len(targets) == 1 else "the targets"
    remark = "weighted by output_gradients" if call.weighted else ""
    if call.method == "gradient" and not call.weighted:
        arrays = [name for name, x in zip(targets, call.targets, strict=True) if x.size != 1]
        arrays = [target] if is_list else arrays
        remark = f"the gradient of the sum of {arrays[0]}" if arrays else ""
    results = _results(written.results, len(sources))
    for name, source, x, value in zip(results, sources, call.sources, call.results, strict=True):
        reason = "" if value is not None else _reason(subject, call, targets, source, x, names)
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
            brief="" if value is None else summarise(unwrap(value)).brief,
        )


def _reason(
    subject: Subject,
    call: GradientCall,
    targets: Sequence[str],
    source: str,
    x: Any,
    names: Mapping[int, str],
) -> str:
    """The reason for a None, by what the tape that gave it still knows."""
    snapshot, tape = snapshot_of(call.tape), written_call(call).tape
    # Entering a tape again clears its records, and with them what they say about the earlier gradient.
    if not snapshot.times or snapshot.times[0] > call.time:
        return f"{tape or 'the tape'} has been used again since, so the reason is gone."
    place = Place(call.code.co_filename, written_call(call).line, "")
    context = subject.context
    program = Program(place, {}, tape or "tape", variables=context.program.variables)
    bindings = context.bindings.get(source, ())
    reasons = (
        why_none(Question(snapshot, target, x, y, source, names, bindings, program)).text
        for y, target in zip(targets, call.targets, strict=True)
    )
    return next(reasons)


def _namespace_names(call: GradientCall, namespace: Any) -> dict[int, str]:
    """The names in the notebook of targets and sources, by id."""
    numbers = {id_of(x) for x in (*call.targets, *call.sources)}
    names: dict[int, str] = {}
    for name, value in [*namespace.items()]:
        if not name.startswith("_") and isinstance(value, Traced) and id_of(value) in numbers:
            names.setdefault(id_of(value), name)
    return names


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
    # co_positions (PEP 657) has an entry for each code unit, which has two bytes.
    line, *end = list(call.code.co_positions())[call.offset // 2][:4]
    tree, _ = text_of(Place(call.code.co_filename, 1, ""))
    return _written(tree, line or 1, (end[0], end[2]))


@lru_cache(512)
def _written(tree: ast.Module, line: int, end: tuple[int | None, int | None]) -> WrittenCall:
    call = WrittenCall(line=line)
    bound: ast.expr | None = None
    # The end of a call identifies it: a(b)(c) and a(b) begin at the same column, and end elsewhere.
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _end(node) != end:
            continue
        arguments = dict(zip(("target", "sources"), node.args, strict=False))
        arguments |= {word.arg or "": word.value for word in node.keywords}
        arguments.setdefault("sources", arguments.get("source", arguments.get("sources")))  # type: ignore[arg-type]
        owner = getattr(node.func, "value", None)
        tape = ast.unparse(owner) if owner is not None else ""
        call = WrittenCall(
            tape if len(tape) <= MAX_EXPRESSION_LENGTH else "",
            arguments.get("target"),
            arguments.get("sources"),
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
    return WrittenCall(call.tape, call.target, call.sources, bound, line)


def _end(node: ast.expr) -> tuple[int | None, int | None]:
    return node.end_lineno, node.end_col_offset


def _results(bound: ast.expr | None, count: int) -> Sequence[str]:
    """Return the names that the results of a call are assigned to, or '' for a result without a name."""
    if count == 1 and isinstance(bound, ast.Name | ast.Attribute | ast.Subscript):
        return [_short(bound)]
    parts = getattr(bound, "elts", [])
    if len(parts) == count and not any(isinstance(part, ast.Starred) for part in parts):
        return list(map(_short, parts))
    return [""] * count


def _names(
    node: ast.expr | None,
    values: Sequence[Any],
    names_by_id: Mapping[int, str],
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
    several = isinstance(node, ast.Name) and isinstance(namespace.get(node.id), list | tuple | dict)
    unpacked = any(isinstance(x, ast.Starred) for x in elements)
    if several or unpacked or len(elements) != len(values):
        steps = _steps(node, len(values), namespace)
        return [
            names_by_id.get(id_of(x)) or step or default
            for step, x in zip(steps, values, strict=True)
        ]
    names = []
    for element, x in zip(elements, values, strict=True):
        written, named = _short(element), names_by_id.get(id_of(x), "")
        is_other = isinstance(element, ast.Name) and namespace.get(written) is not x
        names.append((named if is_other else written) or written or named or default)
    return names


def _steps(node: ast.expr | None, count: int, namespace: Mapping[str, Any]) -> Sequence[str]:
    """Return the expressions for the elements of a structure: params['w'], or params[0] if its keys aren't known."""
    container = _short(node)
    if isinstance(node, ast.Name) and (value := namespace.get(node.id)) is not None:
        named = [name for name, _ in parts(node, value)]
        if len(named) == count:
            return named
    return [f"{container}[{i}]" if container else "" for i in range(count)]


def _short(node: ast.expr | None) -> str:
    """An expression as text if it is short and no literal; empty otherwise."""
    if node is None or isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Constant):
        return ""
    text = ast.unparse(node)
    return text if len(text) <= MAX_EXPRESSION_LENGTH else ""
