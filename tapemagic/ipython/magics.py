"""The magics."""

from __future__ import annotations

import re
import traceback
from keyword import iskeyword
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
    output_can_be_silenced,
)
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display
from traitlets import Int

from tapemagic.analysis.explain import Explanation
from tapemagic.analysis.findings import MATRICES, examine
from tapemagic.analysis.graph import MAX_NODES
from tapemagic.display.report import TapeReport
from tapemagic.engine.tensor import Traced
from tapemagic.ipython.check import CheckReport, check_gradient
from tapemagic.ipython.runcell import Cell, prepare
from tapemagic.ipython.session import Session, is_number
from tapemagic.ipython.targets import Asked, choose

EXPRESSION = re.compile(r"\A(?:(?:-o|--order)(?:[ =]+(\S+)|(\d+))(?:\s+|\Z))?(.*)\Z")
FEWEST = 20


@magics_class
class TapeMagics(Magics):
    """%%tape runs a cell on a tape and shows what it recorded; %tape an expression; %gradient and %why ask again."""

    max_nodes = Int(MAX_NODES, help="How many nodes a picture has room for: 20 or more.").tag(
        config=True
    )

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._last: Session | None = None
        self._shown: dict[str, TapeReport] = {}

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @argument("names", nargs="*", metavar="NAME", help="variables to watch")
    @argument("-t", "--target", nargs="+", default=[], metavar="NAME", help="what to differentiate")
    @argument(
        "-o", "--order", default="1", metavar="ORDER", help="the highest order of derivatives"
    )
    @argument(
        "-p", "--persistent", action="store_true", help="let tape.gradient be called more than once"
    )
    @argument("-n", "--name", default="tape", metavar="TAPE_NAME", help="what to call the tape")
    @argument("--no-auto-watch", action="store_true", help="do not watch Variables by themselves")
    @argument("--jacobian", action="store_true", help="show the derivatives of every element, too")
    @argument("--hessian", action="store_true", help="show the matrix of second derivatives, too")
    @line_cell_magic
    def tape(self, line: str, cell: str | None = None) -> TapeReport | None:
        """Run a cell of NumPy on a recording tape, and show variables, graph and gradients.

        ``%%tape x y`` above a cell watches ``x`` and ``y``, which are in the notebook already or are
        assigned in the cell. What the cell's last expression gives is differentiated, or what ``-t`` names.
        In the cell and after it, ``tape`` is the GradientTape. ``--jacobian`` and ``--hessian`` add the full
        matrices of first and second derivatives to the gradients.

        ``%tape EXPRESSION`` does the same for one expression: every number in it is watched.
        """
        __tracebackhide__ = True
        if cell is None:
            return self._expression(line)
        options = _parsed(self.tape, line)
        watch, targets = _split(options.names), _split(options.target)
        order = _order(options.order)
        _check_options(options, [*watch, *targets])
        ready = prepare(self.shell, [f"%%tape {line}".rstrip()], cell)
        _check_names(ready, [*watch, *targets])
        session = Session(ready, watch, options.persistent, not options.no_auto_watch)
        ready.namespace[options.name] = session.tape
        self._last = session
        asked = Asked(targets, order, [kind for kind in MATRICES if getattr(options, kind)])
        return self._run(session, asked, self._cell_id() or cell)

    def _run(self, session: Session, asked: Asked, key: str) -> TapeReport:
        """Run the cell; the report, which is also shown if the cell fails half-way."""
        __tracebackhide__ = True
        if key in self._shown:
            self._shown.pop(key).close()
        try:
            with session:
                value = session.cell.run(session.named)
        except BaseException as error:
            self._shown[key] = report = self._report(
                session, None, asked, _stopped(error, session.cell)
            )
            display(report)
            raise
        self._shown[key] = report = self._report(session, value, asked)
        return report

    def _report(self, session: Session, value: Any, asked: Asked, note: str = "") -> TapeReport:
        targets = choose(session, value, asked.targets)
        context = session.context(note or targets.problem)
        sources = session.all_sources()
        findings = examine(
            session.observer,
            targets.named,
            sources,
            asked.order,
            context,
            max(FEWEST, self.max_nodes),
            asked.matrices,
        )
        return TapeReport(findings, value, targets.is_value)

    def _cell_id(self) -> str:
        """What tells one cell of the notebook from another, run after run, if the front end says so."""
        parent: dict[str, Any] = getattr(self.shell, "get_parent", dict)() or {}
        return str(parent.get("metadata", {}).get("cellId", ""))

    def _expression(self, line: str) -> TapeReport:
        """``%tape``: watch every number in an expression, and show the expression's gradients."""
        __tracebackhide__ = True
        [(apart, joined, source)] = EXPRESSION.findall(line.strip())
        order = _order(apart or joined or "1", "%tape")
        if not source:
            raise UsageError(
                "%tape needs an expression, as in %tape x**2 + 1; above a whole cell, write %%tape"
            )
        cell = prepare(self.shell, [], source)
        if cell.assigned or not cell.last:
            raise UsageError(
                "%tape takes one expression; to run statements, write %%tape above a cell of them"
            )
        namespace = cell.namespace
        held = {
            name: namespace[name] for name in sorted(cell.read) if is_number(namespace.get(name))
        }
        session = Session(cell, list(held), True, True)
        try:
            return self._run(session, Asked(order=order), f"{self._cell_id()} {line}")
        finally:
            namespace.update(held)

    @no_var_expand
    @line_magic
    def gradient(self, line: str) -> Any:
        """``%gradient TARGET SOURCE ...``: gradients from the recording of the last %%tape cell."""
        __tracebackhide__ = True
        if self._last is None:
            raise UsageError(
                "%gradient asks the last %%tape cell, and none has run yet: run one first"
            )
        wanted = _words(line.rstrip("; ").split())
        if len(wanted) < 2:
            raise UsageError(
                "%gradient needs a target and at least one source, as in %gradient loss w b"
            )
        observer = self._last.observer
        target, *sources = [_tensor(name, self.shell.user_ns) for name in wanted]
        gradients = observer.gradient(target, sources)
        for name, source, gradient in zip(wanted[1:], sources, gradients, strict=True):
            if gradient is None:
                print(self._last.explain(wanted[0], target, name, source))  # noqa: T201 -- the answer to a question
        return gradients[0] if len(gradients) == 1 else gradients

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    def why(self, line: str) -> Explanation:
        """``%why TARGET SOURCE``: why a gradient is None, or along which paths it came about."""
        __tracebackhide__ = True
        if self._last is None:
            raise UsageError("%why asks the last %%tape cell, and none has run yet: run one first")
        wanted = _words(line.rstrip("; ").split())
        if len(wanted) != 2:
            raise UsageError("%why needs a target and a source, as in %why loss w")
        for name in wanted:
            if name not in self.shell.user_ns:
                raise UsageError(f"%why: {name!r} does not exist in the notebook")
        target, source = (self.shell.user_ns[name] for name in wanted)
        return self._last.explain(wanted[0], target, wanted[1], source)

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    def check_gradient(self, line: str) -> CheckReport:
        """``%check_gradient MINE TARGET SOURCE``: your own derivative, compared with the tape's.

        ``MINE`` is an expression for what you derived by hand: an array of the source's shape. The tape's is
        that of the last %%tape cell. ``--rtol 1e-3`` and ``--atol 1e-6`` say what difference is none.

        ::

            %%tape x
            y = np.sum(x**2)

            %check_gradient 2 * x y x
        """
        __tracebackhide__ = True
        return check_gradient(line, self._last, self.shell)


def _tensor(name: str, namespace: dict[str, Any]) -> Any:
    """A tensor that %gradient asks about.

    Raises
    ------
    UsageError
        If the name is unknown, or not that of a tensor.
    """
    value = namespace.get(name)
    if not isinstance(value, Traced):
        what = f"is a {type(value).__name__}" if name in namespace else "does not exist"
        raise UsageError(
            f"%gradient: {name!r} {what}, and not a Tensor or Variable of the last %%tape cell"
        )
    return value


def _parsed(magic: Any, line: str) -> Any:
    """The options of a magic's line; a quotation mark in it is no reason for a traceback."""
    try:
        return parse_argstring(magic, line)
    except ValueError as error:
        raise UsageError(
            f"%%tape: {error} in {line!r}: write names apart, as in %%tape x y"
        ) from None


def _words(words: list[str]) -> list[str]:
    """Names, which may have commas between them."""
    return [name for word in words for name in word.split(",") if name]


def _split(words: list[str]) -> list[str]:
    """Names, which may have commas between them, each once."""
    return list(dict.fromkeys(_words(words)))


def _order(text: str, magic: str = "%%tape") -> int:
    if text not in {*"123456789"}:
        raise UsageError(
            f"{magic}: the order is a whole number from 1 to 9, not {text!r}: write -o 2"
        )
    return int(text)


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def _check_options(options: Any, names: list[str]) -> None:
    """Refuse options that are impossible."""
    if not _is_name(options.name):
        raise UsageError(f"%%tape: {options.name!r} cannot be the name of a tape: write -n t")
    if options.name in names:
        raise UsageError(
            f"%%tape: {options.name!r} is what the tape is called in the cell: give the tape another name with -n t"
        )


def _check_names(cell: Cell, names: list[str]) -> None:
    """Refuse names that nothing has."""
    for name in names:
        if not _is_name(name):
            raise UsageError(
                f"%%tape: {name!r} is no name of a variable: write names apart, as in %%tape x y"
            )
        if name not in cell.namespace and name not in cell.assigned:
            raise UsageError(
                f"%%tape: there is no variable {name!r} in the notebook, and the cell does not assign one: "
                f"write {name} = 3.0 in the cell, or in a cell above"
            )


def _stopped(error: BaseException, cell: Cell) -> str:
    """Where a cell stopped, and why."""
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == cell.filename]
    where = f" at line {lines[0]}" if lines else ""
    what = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".rstrip(": ")
    return f"The cell stopped{where} with {what}; this is what was recorded until then."
