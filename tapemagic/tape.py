"""GradientTape: TensorFlow's, on NumPy, with explanations of its gradients."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from tapemagic.engine.tape.tape import Tape


class GradientTape(Tape):
    """Records operations on watched tensors, and differentiates what it recorded.

    Parameters
    ----------
    persistent : bool, optional
        Keep the records after the first gradient, so that more can be taken.
    watch_accessed_variables : bool, optional
        Watch every trainable `Variable` as soon as it is read.

    Notes
    -----
    An operation is recorded while the tape is entered, on the thread that entered it, if one of its inputs is a
    real or complex tensor that was watched, or that was computed from such a one.

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
        """Say why a gradient is None, or along which paths it came about.

        Parameters
        ----------
        target : object
            What was, or would be, differentiated: a tensor, or whatever became of it. Of a list, tuple or dict of
            tensors each is explained in turn.
        source : object
            What with respect to; the same.

        Returns
        -------
        Explanation
            Prints as text: the reason and what to write instead, or the chain rule, written out. Its `cause` names
            the reason in a word or two, and is empty where there is a gradient; `missing` says what that lacks.

        Notes
        -----
        The tape is not consumed. One that is used up remembers enough to explain a None, but not the paths.

        Examples
        --------
        >>> import tapemagic as tm
        >>> x, w = tm.Variable(2.0), tm.Variable(3.0)
        >>> with tm.GradientTape(persistent=True) as tape:
        ...     y = w * w
        >>> tape.explain(y, x)
        dy/dx is None: x was not read while the tape recorded; it depends on w
        >>> tape.explain(y, w)
        dy/dw = 6.0, the sum over 2 paths
          w → multiply = y:  3.0 = 3.0
          w → multiply = y:  3.0 = 3.0
        """
        from tapemagic.explain.caller import explain_here

        return explain_here(self, target, source)

    def source(self, target: Any, sources: Any, order: int = 1) -> str:
        """The derivative of what was recorded, as the text of a NumPy program.

        Parameters
        ----------
        target : Tensor, Variable, or nested structure of them
            The values to differentiate; of several, the derivative is that of their sum, as for `gradient`.
        sources : Tensor, Variable, or nested structure of them
            The values to differentiate with respect to.
        order : int, optional
            The highest order of derivatives, from 1 to 9: the second is the gradient of the sum of the elements of the
            first, with respect to the same source, as nested tapes give it.

        Returns
        -------
        str
            The text of a function. Its parameters are the sources, then what else the target was computed from, by
            name: other watched values, and arrays. It returns the targets, and then for each order the derivatives
            with respect to all sources, each of its source's shape and dtype; None where there is none.

        Raises
        ------
        ConsumedTapeError
            If the tape is not persistent, and has given a set of gradients before.
        NotATensorError
            If a target or source is no tensor.
        NotRecordingError
            If the tape was never entered.
        OptionError
            If `order` is no whole number from 1 to 9.
        SourceError
            If what was recorded cannot be written as a program.

        Notes
        -----
        The tape is not consumed. The program computes what the tape recorded: where the function that was recorded
        branched on a number, the program takes the branch that was recorded. The gradient of a function with
        `custom_gradient` is written as that function computes it, with the numbers that it computed outside of
        tensors as they were. What left the tape, such as the result of a comparison, is a constant; a note in the
        docstring of the program says so.

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
    """Give a method the name by which users know it, for Python's own error messages and for ``help``."""
    function.__qualname__ = name
    if hasattr(function, "__wrapped__"):
        _rename(function.__wrapped__, name)


for _base in GradientTape.__mro__[1:-1]:
    for _name, _value in vars(_base).items():
        if isinstance(_value, FunctionType):
            _rename(_value, f"GradientTape.{_name}")
