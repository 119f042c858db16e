"""TapeMagics: %%tape, %tape, %gradient, %why and %check_gradient."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
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
from IPython.core.magic_arguments import argument, kwds, magic_arguments
from IPython.display import display
from traitlets import Int

from tapemagic.analysis.explain.caller import Explanations
from tapemagic.analysis.explain.explain import Explanation
from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.failure import Failure
from tapemagic.analysis.report.findings import MATRICES, examine
from tapemagic.analysis.report.graph import MAX_NODES
from tapemagic.display.report import TapeReport
from tapemagic.ipython.check import CheckReport, check_gradient
from tapemagic.ipython.failure import free_of_others, read_failure
from tapemagic.ipython.lines import (
    check_names,
    check_options,
    distinct_names,
    names_in,
    normalized,
    order_of,
    parse_line,
    tensor_named,
)
from tapemagic.ipython.runcell import Cell, CellSyntaxError, prepare
from tapemagic.ipython.session import Session
from tapemagic.ipython.targets import DerivativeRequest, choose
from tapemagic.ipython.watchable import is_number
from tapemagic.ipython.why import why

EXPRESSION = re.compile(r"\A(?:(?:-o|--order)(?:[ =]+(\S+)|(\d+))(?:\s+|\Z))?(.*)\Z")
OPTION = re.compile(r"-[tpn]\b|--(?:target|persistent|name|no-auto-watch|jacobian|hessian)\b")
NO_OPTION = "%tape has no option {}, only -o: write %%tape with its options above a cell, and the expression in it"
USAGE = """%%tape [NAME ...] [-t NAME ...] [-o ORDER] [-p] [-n TAPE_NAME]
          [--no-auto-watch] [--jacobian] [--hessian]
  %%tape [-o ORDER] EXPRESSION"""
"""The usage in the help of %%tape: IPython writes a % in front, and argparse reads two as one."""

RAN = "the cell has run, and its variables and its tape are there: %why and %gradient can ask them"
INTERRUPTED = f"the report was interrupted; {RAN}"
UNREPORTED = f"the report could not be made ({{}}); {RAN}"

MIN_NODES = 20
"""The smallest number of nodes for which pictures are made."""


@magics_class
class TapeMagics(Magics):
    """The magics %%tape and %tape, which record a cell or an expression and show a report.

    %gradient and %why use the recording of the last cell, and %check_gradient compares a derivative by hand with it.
    """

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
    @kwds(usage=USAGE)
    @argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="variables to watch: in front of -t, or behind --",
    )
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
        assigned in the cell. What ``-t`` names is differentiated, or the value of the expression at the end
        of the cell, or else the last value that the cell assigned and that depends on what is watched.
        In the cell and after it, ``tape`` is the GradientTape. ``--jacobian`` and ``--hessian`` add the full
        matrices of first and second derivatives to the gradients.

        ``%tape EXPRESSION`` does the same for one expression: every number in it is watched. Of the options
        it has ``-o`` alone.
        """
        __tracebackhide__ = True
        if cell is None:
            return self._expression(line)
        options = parse_line(self.tape, line)
        watch, targets = distinct_names(options.names), distinct_names(options.target)
        order = order_of(options.order)
        options.name = normalized(options.name)
        check_options(options, [*watch, *targets], self.shell.user_ns)
        ready = prepare(self.shell, [f"%%tape {line}".rstrip()], cell)
        check_names(ready, watch, targets)
        session = Session(ready, watch, options.persistent, not options.no_auto_watch)
        session.tape_name = options.name
        ready.namespace[options.name] = session.tape
        self._last = session
        request = DerivativeRequest(
            targets, order, [kind for kind in MATRICES if getattr(options, kind)]
        )
        return self._run(session, request, self._cell_id() or cell)

    def _run(self, session: Session, request: DerivativeRequest, key: str) -> TapeReport | None:
        """Run the cell and return its report; if the cell fails, show the report of the recording until then."""
        __tracebackhide__ = True
        if key in self._shown:
            self._shown.pop(key).close()
        try:
            with session:
                value = session.cell.run(session.named)
        except BaseException as error:
            self._show_partial(session, request, error, key)
            free_of_others(error)
            raise
        report = self._try_report(session, value, request)
        if report is not None:
            self._shown[key] = report
        return report

    def _show_partial(
        self, session: Session, request: DerivativeRequest, error: BaseException, key: str
    ) -> None:
        """Show the report of the recording until an error, unless that is interrupted."""
        with suppress(KeyboardInterrupt):
            report = self._try_report(session, None, request, read_failure(error, session))
            if report is not None:
                self._shown[key] = report
                display(report)

    def _try_report(
        self,
        session: Session,
        value: Any,
        request: DerivativeRequest,
        failure: Failure | None = None,
    ) -> TapeReport | None:
        """The report on a cell that has run; a warning and None if it cannot be made.

        Raises
        ------
        KeyboardInterrupt
            If it is interrupted.
        """
        __tracebackhide__ = True
        try:
            return self._report(session, value, request, failure)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(INTERRUPTED) from None
        except Exception as error:  # noqa: BLE001 -- whatever a user's objects do, the cell has run
            what = f"{type(error).__name__}: {printable(str(error))}".rstrip(": ")
            warnings.warn(UNREPORTED.format(what), stacklevel=2)
        return None

    def _report(
        self, session: Session, value: Any, request: DerivativeRequest, failure: Failure | None
    ) -> TapeReport:
        targets = choose(session, value, request.targets)
        notes = [targets.problem if failure is None else "", *session.notes()]
        context = session.context("; ".join(filter(None, notes)), failure)
        sources = session.all_sources()
        findings = examine(
            session.observer,
            targets.named,
            sources,
            request.order,
            context,
            max(MIN_NODES, self.max_nodes),
            request.matrices,
        )
        return TapeReport(findings, value, targets.is_value)

    def _cell_id(self) -> str:
        """The id of the cell in the notebook; empty if the front end does not send it."""
        parent: dict[str, Any] = getattr(self.shell, "get_parent", dict)() or {}
        return str(parent.get("metadata", {}).get("cellId", ""))

    def _expression(self, line: str) -> TapeReport | None:
        """Run an expression as %tape, with every number in it watched, and return its report."""
        __tracebackhide__ = True
        [(separate, attached, source)] = EXPRESSION.findall(line.strip())
        order = order_of(separate or attached or "1", "%tape")
        if not source:
            raise UsageError(
                "%tape needs an expression, as in %tape x**2 + 1; above a whole cell, write %%tape"
            )
        cell = _prepare_expression(self.shell, source)
        if not cell.is_expression:
            raise UsageError(
                "%tape takes one expression; to run statements, write %%tape above a cell of them"
            )
        namespace = cell.namespace
        held = {
            name: namespace[name] for name in sorted(cell.read) if is_number(namespace.get(name))
        }
        session = Session(cell, list(held), True, True)
        try:
            return self._run(session, DerivativeRequest(order=order), f"{self._cell_id()} {line}")
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
        wanted = names_in(line.rstrip("; ").split())
        if len(wanted) < 2:
            raise UsageError(
                "%gradient needs a target and at least one source, as in %gradient loss w b"
            )
        observer = self._last.observer
        target, *sources = [tensor_named(name, self.shell.user_ns, "%gradient") for name in wanted]
        gradients = observer.gradient(target, sources)
        for name, source, gradient in zip(wanted[1:], sources, gradients, strict=True):
            if gradient is None:
                print(self._last.explain(wanted[0], target, name, source))  # noqa: T201 -- the answer to a question
        return gradients[0] if len(gradients) == 1 else gradients

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    def why(self, line: str) -> Explanation | Explanations:
        """``%why TARGET SOURCE``: the reason for a gradient that is None, or the paths of one that is not.

        Target and source are names, or attributes and subscripts such as ``model.w`` and ``params["w"]``.
        """
        __tracebackhide__ = True
        return why(line, self._last, self.shell.user_ns)

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    def check_gradient(self, line: str) -> CheckReport:
        """``%check_gradient MINE TARGET SOURCE``: a comparison of your own derivative with the tape's.

        ``MINE`` is an expression for what you derived by hand: an array of the source's shape. The tape's is
        that of the last %%tape cell. ``--rtol 1e-3`` and ``--atol 1e-6`` say what difference is none.

        ::

            %%tape x
            y = np.sum(x**2)

            %check_gradient 2 * x y x
        """
        __tracebackhide__ = True
        return check_gradient(line, self._last, self.shell)


def _prepare_expression(shell: InteractiveShell, source: str) -> Cell:
    """The expression of %tape, compiled.

    Raises
    ------
    UsageError
        If it begins with an option of %%tape that %tape does not have.
    """
    __tracebackhide__ = True
    option = OPTION.match(source)
    if option and option[0].startswith("--"):
        raise UsageError(NO_OPTION.format(option[0]))
    try:
        return prepare(shell, [], source)
    except CellSyntaxError:
        if option:
            raise UsageError(NO_OPTION.format(option[0])) from None
        raise
