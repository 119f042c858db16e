"""TapeMagics: %%tape, %tape, %tape_graph, %gradient, %why, %check_gradient and %tape_function."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from typing import Any, get_args

from IPython.core.displayhook import DisplayHook
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
    output_can_be_silenced,
)
from IPython.display import display

from tapemagic.drawing.report_style import Engine, Style, Theme
from tapemagic.engine.tracebacks import clear_own_frames, keep_user_frames
from tapemagic.explain.caller import Explanations
from tapemagic.explain.explain import Explanation
from tapemagic.explain.formatting import DIGITS, printable, significant_digits
from tapemagic.explain.snapshot import Named
from tapemagic.ipython.check import CheckReport, check_gradient
from tapemagic.ipython.completion import Completion
from tapemagic.ipython.computing import Computing
from tapemagic.ipython.failure import read_failure
from tapemagic.ipython.graphs import MAX_NODES as MAX_GRAPH_NODES
from tapemagic.ipython.graphs import MIN_NODES, tape_graph
from tapemagic.ipython.line_arguments import (
    check_names,
    check_options,
    distinct_names,
    names_in,
    normalize,
    order_of,
    parse_line,
    tensor_named,
)
from tapemagic.ipython.memory_limit import default_budget
from tapemagic.ipython.nudged_runs import AWAITS, KEPT, SLIDERS, NudgedRuns
from tapemagic.ipython.options import OPTIONS, ORDER, documented
from tapemagic.ipython.plotting import PlotRuns, parse_range
from tapemagic.ipython.result_display import ShownReports, display_result
from tapemagic.ipython.runcell import Cell, CellSyntaxError, prepare
from tapemagic.ipython.session import Session
from tapemagic.ipython.settings import Choice, MemorySize, Switch, WholeNumber
from tapemagic.ipython.sliders import SliderRequest, parse_sliders
from tapemagic.ipython.starting_state import LIMITS
from tapemagic.ipython.tape_function import tape_function
from tapemagic.ipython.targets import choose_targets
from tapemagic.ipython.watchable import is_number
from tapemagic.ipython.what_if import WhatIf
from tapemagic.ipython.why import why
from tapemagic.report.analysis import analyze
from tapemagic.report.bundle import TapeReport
from tapemagic.report.details import Details
from tapemagic.report.failure.find_failure import Failure
from tapemagic.report.findings import Findings
from tapemagic.report.function_code import FunctionCode
from tapemagic.report.request import MAX_NODES, Kind, ReportRequest
from tapemagic.report.tabs import TITLES
from tapemagic.report.tabs.graph.graph import Graph
from tapemagic.report.tapegraph import DotSource, TapeGraph

# Not argparse: it would split the expression at spaces and remove its quotes.
EXPRESSION = re.compile(r"\A(?:(?:-o|--order)(?:[ =]+(\S+)|(\d+))(?:\s+|\Z))?(.*)\Z")
OPTION = re.compile(
    "|".join(
        rf"{flag}\b" for option in OPTIONS["%%tape"] if option is not ORDER for flag in option.flags
    )
)
"""The options of %%tape that %tape does not have, at the beginning of a line."""
NO_OPTION = "%tape has no option {}, only -o: write %%tape with its options above a cell, and the expression in it"

TENSORS_NOW = (
    "From now on, {0} is a Tensor. print({0}) shows its value, and {1} returns it. With %%tape --plain, names are "
    "plain numbers after the cell."
)

RAN = "the cell has run, and its variables and its tape are there: %why and %gradient can ask them"
INTERRUPTED = f"the report was interrupted; {RAN}"
UNREPORTED_FAILURE = (
    "the report up to the error could not be made ({}); the variables are as the cell left them"
)
UNREPORTED = f"the report could not be made ({{}}); {RAN}"


@magics_class
class TapeMagics(Magics):
    """The magics %%tape and %tape, which record a cell or an expression and show a report.

    %tape_graph, %gradient and %why read the recording of the last cell, and %check_gradient compares your own
    derivative with it. %tape_function shows the programs of a traced function. The traits are the settings of
    ``%config TapeMagics``.
    """

    digits = WholeNumber(
        DIGITS, 1, 17, "The significant digits of numbers in reports, from 1 to 17; by default 6."
    )
    max_nodes = WholeNumber(
        MAX_NODES,
        MIN_NODES,
        MAX_GRAPH_NODES,
        f"How many nodes the graph in a report has room for, from {MIN_NODES} to {MAX_GRAPH_NODES}; by default "
        f"{MAX_NODES}. %tape_graph shows more.",
    )
    first_tab = Choice[str](
        TITLES,
        Style.first_tab,
        f"The tab that is open at first, one of {', '.join(TITLES)}; by default Graph. A report without that tab "
        "opens the graph.",
    )
    theme = Choice[Theme](
        get_args(Theme),
        Style.theme,
        "The colours of reports: 'auto', the default, takes those of the page; 'light' and 'dark' bring a white or "
        "black page of their own, for slides and for files whose readers may have another theme.",
    )
    engine = Choice[Engine](
        get_args(Engine),
        Style.engine,
        "What draws the graph: 'dot' is the program of Graphviz, 'pygraphviz' the Graphviz inside of that package, and "
        "'auto', the default, the first of them that works. With 'none' there are equations in the place of pictures, "
        "so that reports are the same on all machines.",
    )

    code = Switch(
        False,
        "Whether every report shows its derivatives as a NumPy program, as with --code: True or False, the default.",
    )

    widgets = Switch(
        True,
        "Whether reports are widgets: True, the default, or False, for notebooks that become pages: they then show the "
        "static report. The environment variable TAPEMAGIC_WIDGETS=0 does the same for all notebooks.",
    )
    memory = MemorySize(
        "How much memory the recording of a cell may take: a number of bytes, text such as '500 MB', or None, the "
        "default, for a quarter of what is free. Beyond it, the oldest steps whose gradients were taken are let go, "
        "and the report says so.",
    )

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell) -> None:
        self.last: Session | None = None
        self.completion = Completion(self)
        super().__init__(shell)
        self._reports = ShownReports(shell)
        self._has_said = False

    # IPython would replace {x} and $x in the line by values, which breaks set displays and f-strings in expressions.
    @no_var_expand
    @cell_magic("tape")
    @documented("%%tape")
    def tape_cell(
        self, line: str, cell: str
    ) -> TapeReport | Coroutine[Any, Any, TapeReport | None] | None:
        """Run a cell of NumPy on a recording tape, and show variables, graph and gradients."""
        __tracebackhide__ = True
        options = parse_line(self.tape_cell, line)
        watch, targets = distinct_names(options.names), distinct_names(options.target)
        order = order_of(options.order)
        plotted = parse_range(options.plot) if options.plot else None
        if plotted and plotted.name not in watch:
            watch.append(plotted.name)
        options.name = normalize(options.name)
        requests = parse_sliders(options.what_if)
        sliders = [item.name for item in requests]
        check_options(options, [*watch, *targets, *sliders], self.shell.user_ns)
        ready = prepare(self.shell, [f"%%tape {line}".rstrip()], cell)
        check_names(ready, [*watch, *sliders], targets)

        def begin() -> Session:
            session = Session(
                ready,
                watch,
                options.persistent,
                not options.no_auto_watch,
                self.memory or default_budget(),
                options.plain,
            )
            session.tape_name = options.name
            ready.namespace[options.name] = session.tape
            return session

        if options.compute and (plotted or requests):
            option = "--plot" if plotted else "--what-if"
            raise UsageError(
                f"%%tape: --compute and {option} do not go together, since every run would compute the data again: "
                "leave one of them out, or give the cell a sample in memory, such as X[:1000].compute()"
            )
        if ready.is_async and (plotted or requests):
            option = "--plot" if plotted else "--what-if"
            raise UsageError(
                f"%%tape: {option} runs the cell again, but a cell that awaits runs only once: leave out {option}, or "
                "await in a cell before it"
            )
        plots = PlotRuns(ready, plotted, begin) if plotted else None
        limits = LIMITS if options.check else KEPT
        nudged = NudgedRuns(ready, watch, begin, options.name, limits)
        if requests:
            nudged.refuse(SLIDERS)
        if ready.is_async:
            nudged.refuse(AWAITS)
        request = fill_request(
            options,
            target_names=targets,
            order=order,
            matrices=[kind for kind in get_args(Kind) if getattr(options, kind)],
            plot=plots.plot if plots else None,
            compute=Computing() if options.compute else None,
            reruns=nudged,
        )
        what_if = self._what_if(ready, requests, begin, request) if requests else None
        if plots:
            plots.what_if = what_if
        # The recording of the cell before would need its memory until this one is complete. Only a slider may refuse
        # a cell that has begun, after which %gradient and %why still refer to the cell before.
        earlier = self.last if what_if else None
        # Set before the cell runs, since %gradient and %why in the cell itself refer to it.
        self.last = begin()
        if ready.is_async:
            return self._run_async(self.last, request, cell)
        try:
            report = self._run(self.last, request, cell, what_if)
        except BaseException as error:
            if what_if and what_if.refusal:
                self.last = earlier
            clear_own_frames(error)
            raise
        return self._shown(self.last, report, cell)

    def _shown(self, session: Session, report: TapeReport | None, text: str) -> TapeReport | None:
        """Return the report of a cell unless there is none to show."""
        if report is None or ends_in_semicolon(text):
            return None
        self._say_once(session, report)
        return report

    def _say_once(self, session: Session, report: TapeReport) -> None:
        """Say in the first report of a kernel that watched names are tensors from now on."""
        names = [] if session.is_plain or self._has_said else session.turned_into_tensors()
        if names:
            self._has_said = True
            name = names[0]
            has_axes = self.shell.user_ns[name].ndim
            numbers = "{0}.numpy() or {0}.tolist()" if has_axes else "float({0}) or {0}.numpy()"
            report.hint = TENSORS_NOW.format(name, numbers.format(name))

    def _what_if(
        self,
        cell: Cell,
        requests: Sequence[SliderRequest],
        begin: Callable[[], Session],
        request: ReportRequest,
    ) -> WhatIf:
        """Set up the sliders of a cell; later runs are reported like the first."""

        def report(session: Session, value: Any) -> TapeReport:
            return self._report(session, value, request, None)

        def accept(session: Session) -> None:
            self.last = session

        return WhatIf(cell, requests, begin, report, accept)

    def _run(
        self,
        session: Session,
        request: ReportRequest,
        text: str,
        what_if: WhatIf | None = None,
    ) -> TapeReport | None:
        """Run the cell and return its report; if the cell fails, show the report up to the error."""
        __tracebackhide__ = True
        reports = self._reports.begin(text)
        try:
            with session:
                value = what_if.first_run(session) if what_if else session.cell.run(session.named)
        except BaseException as error:
            if what_if and what_if.refusal:
                raise
            self._show_partial(session, request, error, reports)
            # Tracebacks show user frames only.
            keep_user_frames(error)
            raise
        return self._report_of_run(session, value, request, reports, what_if)

    async def _run_async(
        self, session: Session, request: ReportRequest, text: str
    ) -> TapeReport | None:
        """Run a cell that awaits, like `_run`; the notebook's cell awaits the result of the magic."""
        __tracebackhide__ = True
        reports = self._reports.begin(text)
        try:
            with session:
                value = await session.cell.run_async(session.named)
        except BaseException as error:
            self._show_partial(session, request, error, reports)
            keep_user_frames(error)
            clear_own_frames(error)
            raise
        return self._shown(
            session, self._report_of_run(session, value, request, reports, None), text
        )

    def _report_of_run(
        self,
        session: Session,
        value: Any,
        request: ReportRequest,
        reports: list[TapeReport],
        what_if: WhatIf | None,
    ) -> TapeReport | None:
        """Make the report of a cell that has run."""
        __tracebackhide__ = True
        report = self._try_report(session, value, request)
        if report is not None:
            if what_if:
                what_if.show_in(report)
            reports.append(report)
        if request.compute and (stopped := request.compute.error):
            if report is not None:
                display(report)
            keep_user_frames(stopped)
            raise stopped
        return report

    def _show_partial(
        self,
        session: Session,
        request: ReportRequest,
        error: BaseException,
        reports: list[TapeReport],
    ) -> None:
        """Show the report up to an error, unless making it is interrupted."""
        # A second interrupt means: no report either. The first error is raised in any case.
        with suppress(KeyboardInterrupt):
            report = self._try_report(session, None, request, read_failure(error, session))
            if report is not None:
                reports.append(report)
                display(report)

    def _try_report(
        self,
        session: Session,
        value: Any,
        request: ReportRequest,
        failure: Failure | None = None,
    ) -> TapeReport | None:
        """Make the report of a cell that has run; if that fails, only warn.

        Raises KeyboardInterrupt if making the report is interrupted.
        """
        __tracebackhide__ = True
        try:
            return self._report(session, value, request, failure)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(INTERRUPTED) from None
        except Exception as error:  # noqa: BLE001 -- user objects may raise anything, and the cell has run
            what = f"{type(error).__name__}: {printable(str(error))}".rstrip(": ")
            text = UNREPORTED_FAILURE if failure else UNREPORTED
            # Not an error: the cell has run, and an error would look as if it had failed.
            warnings.warn(text.format(what), stacklevel=2)
        return None

    def _report(
        self,
        session: Session,
        value: Any,
        request: ReportRequest,
        failure: Failure | None,
    ) -> TapeReport:
        style = self._style()
        try:
            findings, details, is_target = self._analyzed(session, value, request, failure, style)
        finally:
            # The report needed the tensors; also a cell that failed gives its names back.
            if session.is_plain:
                session.give_back()
        return TapeReport(findings, session.plain_value(value), is_target, style, details)

    def _analyzed(
        self,
        session: Session,
        value: Any,
        request: ReportRequest,
        failure: Failure | None,
        style: Style,
    ) -> tuple[Findings, Details, bool]:
        """Compute what the report shows, and whether it shows the value of the cell."""
        with significant_digits(style.digits):
            targets = choose_targets(session, value, request.target_names)
            session.targets, session.order = targets.named, request.order
            context = session.context(() if failure else targets.notes, failure)
            findings, details = analyze(
                session.observer, self._for_run(session, request, failure), context
            )
        return findings, details, targets.is_value

    def _for_run(
        self, session: Session, request: ReportRequest, failure: Failure | None
    ) -> ReportRequest:
        """Complete the request for one run of the cell; a cell that failed is neither rerun nor computed."""
        plot, compute = request.plot, request.compute
        if failure:
            plot = compute = None

        # Not the request itself, which has the runs that keep this function.
        target_names = request.target_names

        def targets_of(run: Session, value: Any) -> Sequence[Named]:
            return choose_targets(run, value, target_names).named

        sources = session.all_sources()
        runs: Any = request.reruns
        if failure and runs:
            runs.refuse("it stopped with an error")
        elif runs:
            runs.begin_check(session, session.targets, sources, targets_of)
        return replace(
            request,
            targets=session.targets,
            joins=session.joins,
            sources=sources,
            code=request.code or self.code,
            plot=plot and partial(plot, session, session.targets, request.order, targets_of),
            compute=compute,
            max_nodes=self.max_nodes,
        )

    def _names(self) -> Mapping[str, Any]:
        """Return the values of names for magics that ask the last cell."""
        return self.shell.user_ns if self.last is None else self.last.names()

    def _style(self) -> Style:
        """Return the settings for showing reports."""
        return Style(self.first_tab, self.theme, self.engine, self.digits, self.widgets)

    @no_var_expand
    @output_can_be_silenced
    @line_magic("tape")
    @documented("%tape")
    def tape_line(self, line: str) -> TapeReport | None:
        """Run an expression on a recording tape, and show its graph and gradients."""
        __tracebackhide__ = True
        return display_result(self._expression(line), line, self.shell)

    def _expression(self, line: str) -> TapeReport | None:
        """Run an expression, watching every number in it, and return its report."""
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
        numbers = {
            name: namespace[name] for name in sorted(cell.read) if is_number(namespace.get(name))
        }
        session = Session(cell, list(numbers), True, True, self.memory or default_budget())
        try:
            return self._run(session, ReportRequest(order=order, screens=_screens), line)
        finally:
            # The numbers were replaced by tensors for the run; the notebook's own values come back even after an error.
            namespace.update(numbers)

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    @documented("%gradient")
    def gradient(self, line: str) -> Any:
        """Compute gradients from the recording of the last %%tape cell."""
        __tracebackhide__ = True
        if self.last is None:
            raise UsageError(
                "%gradient asks the last %%tape cell, and none has run yet: run one first"
            )
        tensor_names = names_in(line.rstrip("; ").split())
        if len(tensor_names) < 2:
            raise UsageError(
                "%gradient needs a target and at least one source, as in %gradient loss w b"
            )
        observer = self.last.observer
        target, *sources = [tensor_named(name, self._names(), "%gradient") for name in tensor_names]
        gradients = observer.gradient(target, sources)
        for name, source, gradient in zip(tensor_names[1:], sources, gradients, strict=True):
            if gradient is None:
                print(self.last.explain(tensor_names[0], target, name, source))  # noqa: T201 -- the answer to a question
        result = self.last.plain_value(gradients[0] if len(gradients) == 1 else gradients)
        return None if result is None else display_result(result, line, self.shell)

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    @documented("%why")
    def why(self, line: str) -> Explanation | Explanations | None:
        """Explain why a gradient of the last %%tape cell is None, or which paths it sums."""
        __tracebackhide__ = True
        return display_result(why(line, self.last, self._names()), line, self.shell)

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    @documented("%check_gradient")
    def check_gradient(self, line: str) -> CheckReport | None:
        """Compare your own derivative with the gradient of the last %%tape cell."""
        __tracebackhide__ = True
        return display_result(
            check_gradient(line, self.last, self.shell, self._names()), line, self.shell
        )

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    @documented("%tape_graph")
    def tape_graph(self, line: str) -> TapeGraph | DotSource | None:
        """Show the graph of the last %%tape cell, larger than in the report."""
        __tracebackhide__ = True
        options = parse_line(self.tape_graph, line.rstrip("; "), "%tape_graph")
        graph = tape_graph(options, self.last, self._names(), self.max_nodes, self._style())
        return display_result(graph, line, self.shell)

    @no_var_expand
    @output_can_be_silenced
    @line_magic
    @documented("%tape_function")
    def tape_function(self, line: str) -> FunctionCode | None:
        """Show the programs of a function decorated with tapemagic.function."""
        __tracebackhide__ = True
        return display_result(tape_function(line, self.shell.user_ns), line, self.shell)


def fill_request(options: Any, **values: Any) -> ReportRequest:
    """Build a request: each option of a magic fills the field of its name, and `values` fill further fields."""
    names = {field.name for field in fields(ReportRequest)}
    option_values = {name: value for name, value in vars(options).items() if name in names}
    return ReportRequest(**{"screens": _screens} | option_values | values)


def _screens(graph: Graph) -> int:
    """Return how many screens have room for the picture of a graph."""
    # Imported late: a notebook that loads the extension draws nothing yet.
    from tapemagic.drawing.dot import screens

    return screens(graph)


def ends_in_semicolon(cell: str) -> bool:
    """Return True if a cell ends in a semicolon, so that its value is not shown.

    Only cells that contain a semicolon are tokenized: for ten thousand lines that takes longer than the report.
    """
    return ";" in cell and bool(DisplayHook.semicolon_at_end_of_expression(cell))


def _prepare_expression(shell: InteractiveShell, source: str) -> Cell:
    """Compile the expression of %tape.

    Raises UsageError if it starts with an option of %%tape that %tape does not have.
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
