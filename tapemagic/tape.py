"""GradientTape: TensorFlow's tape on NumPy, with explanations of its gradients."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, get_args

from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.coercion import bool_option

if TYPE_CHECKING:
    from tapemagic.report.bundle import TapeReport


class GradientTape(Tape):
    """Records operations on watched tensors, and differentiates them.

    Parameters
    ----------
    persistent : bool, optional
        Keep the records after the first gradient, so that more gradients can be computed.
    watch_accessed_variables : bool, optional
        Watch every trainable `Variable` at its first read.

    Notes
    -----
    Inside its block, on the thread that entered it, the tape records an operation if an input is a real or complex
    tensor that is watched, or that was computed from watched tensors.

    Examples
    --------
    >>> import tapemagic as tm
    >>> x = tm.constant(3.0)
    >>> with tm.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    Tensor(6.0)
    """

    def explain(self, target: Any, source: Any) -> Any:
        """Explain why a gradient is None, or along which paths it arises.

        Parameters
        ----------
        target : object
            A differentiated value: a tensor, or a value converted from a tensor. For a list, tuple or dict of tensors,
            each tensor is explained.
        source : object
            The value to differentiate with respect to, of the same types.

        Returns
        -------
        Explanation
            Prints as text: the reason and what to write instead, or the chain rule. Its `cause` names the reason in
            one or two words, and is empty if there is a gradient; `missing` describes what the gradient lacks.

        Notes
        -----
        The tape isn't consumed. After its first gradient, a non-persistent tape can still explain None, but not the
        paths.

        Examples
        --------
        >>> import tapemagic as tm
        >>> x, w = tm.Variable(2.0), tm.Variable(3.0)
        >>> with tm.GradientTape(persistent=True) as tape:
        ...     y = w * w
        >>> tape.explain(y, x)
        dy/dx is None: x wasn't used while the tape recorded; y depends on w.
        >>> tape.explain(y, w)
        dy/dw = 6.0, the sum over 2 paths
          w → multiply = y:  3.0 = 3.0
          w → multiply = y:  3.0 = 3.0
        """
        from tapemagic.explain.caller import explain_here

        return explain_here(self, target, source)

    def report(
        self,
        target: Any,
        sources: Any = None,
        *,
        order: int = 1,
        jacobian: bool = False,
        hessian: bool = False,
        check: bool = False,
        code: bool = False,
    ) -> TapeReport:
        """Make the report that a ``%%tape`` cell shows, in any program.

        Parameters
        ----------
        target : Tensor, Variable, or nested structure of them
            The values to differentiate, which this tape recorded. A dict such as ``{"loss": loss}`` gives them names;
            others have the names of your variables.
        sources : Tensor, Variable, or nested structure of them, optional
            The values to differentiate with respect to. By default, the watched values that have a name where you call
            `report`.
        order : int, optional
            The highest order of derivatives, from 1 to 9, in the sense of nested tapes.
        jacobian, hessian : bool, optional
            Also compute the full matrices of first derivatives, or of second derivatives.
        check : bool, optional
            Compare the derivatives with finite differences.
        code : bool, optional
            Write the derivatives as a NumPy program, in the tab Code.

        Returns
        -------
        TapeReport
            Prints as text. In a notebook it is a widget; ``report.show()`` opens it in a browser, and
            ``report.save("report.html")`` writes it to a file.

        Raises
        ------
        ConsumedTapeError
            If the tape isn't persistent, and has computed gradients before.
        NotATensorError
            If a target or a source isn't a tensor, or nothing was watched.
        NotRecordingError
            If the tape was never entered.
        OptionError
            If the tape didn't record a target, or `order` isn't an integer from 1 to 9.
        TapeStateError
            If the tape is recording on another thread.

        Notes
        -----
        The tape isn't consumed: a gradient can follow. The report doesn't know on which lines operations were recorded,
        so it has no tabs Lines and Training, and doesn't fold loops. Of large arrays, a tape keeps what derivatives
        need; the report says which numbers weren't kept.

        Examples
        --------
        >>> import tapemagic as tm
        >>> x, w = tm.Variable(2.0), tm.Variable(3.0)
        >>> with tm.GradientTape() as tape:
        ...     y = x * w
        >>> report = tape.report(y, [x, w])
        >>> print(str(report).splitlines()[0])
        tape.report: 1 operation, 2 watched variables, differentiating y
        >>> tape.gradient(y, x)
        Tensor(3.0)
        """
        from tapemagic.explain.caller import recorded_names
        from tapemagic.report.bundle import TapeReport
        from tapemagic.report.plain_tape import analyze_plain
        from tapemagic.report.request import Kind, ReportRequest

        if not self._usable:
            raise self._unusable()
        if self._recording:
            self._require_here("report()")
        names = recorded_names(self, "report", target, sources)
        wanted = {"jacobian": jacobian, "hessian": hessian}
        request = ReportRequest(
            sources=names.sources,
            groups=names.groups,
            order=order,
            matrices=[kind for kind in get_args(Kind) if bool_option(wanted[kind], kind)],
            check=bool_option(check, "check"),
            code=bool_option(code, "code"),
        )
        findings, details = analyze_plain(self, names, sources is None, request)
        return TapeReport(findings, details=details)

    def source(self, target: Any, sources: Any, order: int = 1) -> str:
        """Write the derivative of the recorded operations as the source code of a NumPy function.

        Parameters
        ----------
        target : Tensor, Variable, or nested structure of them
            The values to differentiate. For several targets, the function differentiates their sum, as in `gradient`.
        sources : Tensor, Variable, or nested structure of them
            The values to differentiate with respect to.
        order : int, optional
            The highest order of derivatives, from 1 to 9. The second derivative is the gradient of the sum of the
            elements of the first, with respect to the same source, as with nested tapes.

        Returns
        -------
        str
            The source code of a function. Its parameters are the sources, and then the other inputs of the target by
            name: watched values, and arrays. It returns the targets, and then, for each order, the derivatives with
            respect to all sources, with the shape and dtype of the source, or None for an unconnected source.

        Raises
        ------
        ConsumedTapeError
            If the tape isn't persistent, and has computed gradients before.
        NotATensorError
            If a target or a source isn't a tensor.
        NotRecordingError
            If the tape was never entered.
        OptionError
            If `order` isn't an integer from 1 to 9.
        SourceError
            If the recorded operations can't be written as a program.

        Notes
        -----
        The tape isn't consumed. The program computes what the tape recorded: if the function branched on a number,
        the program takes the recorded branch. The gradient of a function with `custom_gradient` is written as this
        function computes it, with unchanged numbers that weren't tensors. Values that the tape lost track of, such as
        the result of a comparison, are constants; a note in the docstring of the program says so.

        Examples
        --------
        >>> import numpy as np, tapemagic as tm
        >>> x = tm.Variable(3.0)
        >>> with tm.GradientTape() as tape:
        ...     y = np.sin(x)
        >>> print(*tape.source(y, x).splitlines()[-4:], sep=chr(10))
            y = np.sin(x)
        <BLANKLINE>
            d_x = np.cos(x)
            return y, d_x
        """
        from tapemagic.explain.caller import names_here
        from tapemagic.programs.recorded import source_of_tape

        if not self._usable:
            raise self._unusable()
        return source_of_tape(self, target, sources, order, names_here("source", target, sources))


def _rename(function: Any, name: str) -> None:
    """Set the name under which users know a method, for Python's error messages and for ``help``."""
    function.__qualname__ = name
    if hasattr(function, "__wrapped__"):
        _rename(function.__wrapped__, name)


for _base in GradientTape.__mro__[1:-1]:
    for _name, _value in vars(_base).items():
        if isinstance(_value, FunctionType):
            _rename(_value, f"GradientTape.{_name}")
