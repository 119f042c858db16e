"""The magics."""

from __future__ import annotations

import re
import traceback
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

from tapemagic.analysis.findings import Findings, examine
from tapemagic.analysis.graph import MAX_NODES
from tapemagic.analysis.reasons import reason
from tapemagic.display.report import TapeReport
from tapemagic.engine.tensor import Traced
from tapemagic.ipython import names
from tapemagic.ipython.runcell import Cell, prepare
from tapemagic.ipython.session import NUMBERS, Session, watchable

LATER = "is not part of this version yet"


@magics_class
class TapeMagics(Magics):
    """%%tape runs a cell on a tape and shows what it recorded; %tape an expression; %gradient asks again."""

    max_nodes = Int(MAX_NODES, min=10, help="How many nodes a picture has room for.").tag(config=True)

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._last: Session | None = None
        self._shown: dict[str, TapeReport] = {}

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @argument("names", nargs="*", metavar="NAME", help="variables to watch")
    @argument("-t", "--target", nargs="+", default=[], metavar="NAME", help="what to differentiate")
    @argument("-o", "--order", default="1", metavar="ORDER", help="the highest order of derivatives")
    @argument("-p", "--persistent", action="store_true", help="let tape.gradient be called more than once")
    @argument("-n", "--name", default="tape", metavar="TAPE_NAME", help="what to call the tape")
    @argument("--no-auto-watch", action="store_true", help="do not watch Variables by themselves")
    @argument("--hessian", action="store_true", help=f"the full matrix; {LATER}")
    @argument("--jacobian", action="store_true", help=f"the full matrix; {LATER}")
    @line_cell_magic
    def tape(self, line: str, cell: str | None = None) -> TapeReport | None:
        """Run a cell of NumPy on a recording tape, and show variables, graph and gradients.

        ``%%tape x y`` above a cell watches ``x`` and ``y``, which are in the notebook already or are
        assigned in the cell. What the cell's last expression gives is differentiated, or what ``-t`` names.
        In the cell and after it, ``tape`` is the GradientTape.

        ``%tape EXPRESSION`` does the same for one expression: every number in it is watched.
        """
        __tracebackhide__ = True
        if cell is None:
            return self._expression(line)
        options = parse_argstring(self.tape, line)
        watch, targets = _split(options.names), _split(options.target)
        order = _order(options.order)
        _check_options(options)
        ready = prepare(self.shell, f"%%tape {line}".rstrip(), cell)
        self._check_names(ready, watch, targets)
        session = Session(ready, watch, options.persistent, not options.no_auto_watch)
        return self._run(session, options.name, targets, order)

    def _check_names(self, cell: Cell, watch: list[str], targets: list[str]) -> None:
        """Refuse unknown names, and values that cannot be watched, before anything runs."""
        namespace = self.shell.user_ns
        assigned = names.assigned(cell.tree)
        for name in [*watch, *targets]:
            if not name.isidentifier():
                raise UsageError(f"%%tape: {name!r} is no name of a variable: write names apart, as in %%tape x y")
            if name not in namespace and name not in assigned:
                raise UsageError(
                    f"%%tape: there is no variable {name!r} in the notebook, and the cell does not assign one: "
                    f"write {name} = 3.0 in the cell, or in a cell above"
                )
        for name in watch:
            if name in namespace and name not in assigned:
                watchable(name, namespace[name])

    def _run(self, session: Session, tape_name: str, targets: list[str], order: int) -> TapeReport:
        """Run the cell; the report, which is also shown if the cell fails half-way."""
        __tracebackhide__ = True
        key = self._cell_key(session.cell)
        if key in self._shown:
            self._shown.pop(key).close()
        last = session.cell.last
        self.shell.user_ns[tape_name] = session.tape
        self._last = session
        try:
            with session:
                value = session.cell.run(session.named)
        except BaseException as error:
            report = TapeReport(self._findings(session, last, None, targets, order, _stopped(error, session.cell)))
            self._shown[key] = report
            display(report)
            raise
        report = TapeReport(self._findings(session, last, value, targets, order), value)
        self._shown[key] = report
        return report

    def _findings(
        self, session: Session, last: str | None, value: Any, targets: list[str], order: int, note: str = ""
    ) -> Findings:
        sources = session.all_sources()
        goals, problem = self._targets(session, last, value, targets)
        named = dict(session.history)
        namespace = self.shell.user_ns
        for name in sorted(names.read(session.cell.tree)):
            if isinstance(namespace.get(name), (Traced, *NUMBERS)):
                named.setdefault(name, namespace[name])
        return examine(
            session.observer,
            list(named.items()),
            goals,
            sources,
            order,
            session.cell.lines,
            note or problem,
            session.found_names(),
            self.max_nodes,
        )

    def _targets(
        self, session: Session, last: str | None, value: Any, targets: list[str]
    ) -> tuple[list[tuple[str, Any]], str]:
        """What to differentiate: what -t names, else the last expression, else the last assignment."""
        tracked = session.observer._tracked
        if targets:
            found = [(name, self.shell.user_ns.get(name)) for name in targets]
            plain = [f"{name} ({type(x).__name__})" for name, x in found if not isinstance(x, Traced)]
            problem = f"not on the tape: {', '.join(plain)}. A target has to be computed from what is watched"
            return [(n, x) for n, x in found if isinstance(x, Traced)], problem if plain else ""
        values = value if isinstance(value, (list, tuple)) else [value]
        if values and all(isinstance(x, Traced) and x._id in tracked for x in values):
            known = {x._id: name for name, x in session.history if isinstance(x, Traced)}
            return [
                (known.get(x._id) or (last or "") + (f"[{i}]" if len(values) > 1 else ""), x)
                for i, x in enumerate(values)
            ], ""
        leaves = session.observer._leaves
        for name, x in reversed(session.history):
            if isinstance(x, Traced) and x._id in tracked and x._id not in leaves:
                return [(name, x)], ""
        if isinstance(value, Traced) and last:
            return [(last, value)], ""
        if not leaves and not session.sources:
            return [], "nothing was watched: name variables in the first line, as in %%tape x, or use a Variable"
        return [], "nothing was computed from what is watched, so there is nothing to differentiate"

    def _cell_key(self, cell: Cell) -> str:
        """What tells one cell of the notebook from another, run after run."""
        parent = getattr(self.shell, "get_parent", dict)() or {}
        key = parent.get("metadata", {}).get("cellId") if isinstance(parent, dict) else None
        return key or "\n".join(cell.lines)

    def _expression(self, line: str) -> TapeReport:
        """``%tape``: watch every number in an expression, and show the expression's gradients."""
        __tracebackhide__ = True
        match = re.fullmatch(r"(?:(?:-o|--order)[ =]*(\S+)\s+)?(.*)", line.strip())
        order, source = _order(match[1] or "1"), match[2]  # type: ignore[index]
        if not source:
            raise UsageError("%tape needs an expression, as in %tape x**2 + 1; above a whole cell, write %%tape")
        cell = prepare(self.shell, "%tape", source)
        namespace = self.shell.user_ns
        wanted = [name for name in sorted(names.read(cell.tree)) if isinstance(namespace.get(name), (Traced, *NUMBERS))]
        if names.assigned(cell.tree) or cell.last is None:
            raise UsageError("%tape takes one expression; to run statements, write %%tape above a cell of them")
        held = {name: namespace[name] for name in wanted}
        session = Session(cell, wanted, True, True)
        try:
            return self._run(session, "_tape", [], order)
        finally:
            namespace.update(held)

    @no_var_expand
    @line_magic
    def gradient(self, line: str) -> Any:
        """``%gradient TARGET SOURCE ...``: gradients from the recording of the last %%tape cell."""
        __tracebackhide__ = True
        if self._last is None:
            raise UsageError("%gradient asks the last %%tape cell, and none has run yet: run one first")
        wanted = _split(line.split())
        if len(wanted) < 2:
            raise UsageError("%gradient needs a target and at least one source, as in %gradient loss w b")
        observer = self._last.observer
        values = []
        for name in wanted:
            value = self.shell.user_ns.get(name)
            if not isinstance(value, Traced):
                what = f"is a {type(value).__name__}" if name in self.shell.user_ns else "does not exist"
                raise UsageError(f"%gradient: {name!r} {what}, and not a Tensor or Variable of the last %%tape cell")
            values.append(value)
        target, *sources = values
        gradients = observer.gradient(target, sources)
        for name, source, gradient in zip(wanted[1:], sources, gradients, strict=True):
            if gradient is None:
                why = reason(observer, target, wanted[0], source, name, self._last.found_names())
                print(f"d{wanted[0]}/d{name} is None: {why}")
        return gradients[0] if len(gradients) == 1 else gradients


def _split(words: list[str]) -> list[str]:
    """Names, which may have commas between them, each once."""
    return list(dict.fromkeys(name for word in words for name in word.split(",") if name))


def _order(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 9:
        raise UsageError(f"%%tape: the order is a whole number from 1 to 9, not {text!r}: write -o 2")
    return int(text)


def _check_options(options: Any) -> None:
    for name in ("hessian", "jacobian"):
        if getattr(options, name):
            raise UsageError(
                f"%%tape: --{name} {LATER}: for second derivatives of each variable by itself, write -o 2"
            )
    if not options.name.isidentifier():
        raise UsageError(f"%%tape: {options.name!r} cannot be the name of a tape: write -n t")


def _stopped(error: BaseException, cell: Cell) -> str:
    """Where a cell stopped, and why."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == cell.filename]
    where = f" at line {lines[0]}" if lines else ""
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"The cell stopped{where} with {what}; this is what was recorded until then."
