"""GradientTape: TensorFlow's tape on NumPy, which can explain its gradients and write them as programs."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from tapemagic.engine.tape.tape import Tape


class GradientTape(Tape):
    """Records operations on watched tensors, and differentiates the recorded operations.

    Parameters
    ----------
    persistent : bool, optional
        Keep the records after the first gradient, so that you can compute more gradients.
    watch_accessed_variables : bool, optional
        Watch every trainable `Variable` when it is read.

    Notes
    -----
    The tape records the operations inside its ``with`` block, on the thread that entered it, if an input is a watched
    real or complex tensor, or was computed from one.

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
        """Explain why a gradient is None, or which paths it adds up.

        Parameters
        ----------
        target : object
            The value to differentiate: a tensor, or a value that became plain. Tensors in lists, tuples and dicts are
            explained one by one.
        source : object
            The value to differentiate with respect to, like `target`.

        Returns
        -------
        Explanation
            Prints as text: the reason and what to write instead, or the chain rule, written out. Its `cause` names the
            reason in a word or two, and is empty if there is a gradient. Its `missing` names a part that the
            gradient ignores.

        Notes
        -----
        This doesn't consume the tape. A consumed tape can still explain a None, but not the paths.

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

    def source(self, target: Any, sources: Any, order: int = 1) -> str:
        """Write the derivative of the recorded operations as a NumPy program.

        Parameters
        ----------
        target : Tensor, Variable, or nested structure of them
            The values to differentiate. Several are added up, as in `gradient`.
        sources : Tensor, Variable, or nested structure of them
            The values to differentiate with respect to.
        order : int, optional
            The highest order of derivatives, from 1 to 9: the second is the gradient of the sum of the elements of the
            first, with respect to the same source, as nested tapes give it.

        Returns
        -------
        str
            The text of a function. Its parameters are the sources, and then by name all other inputs of the target:
            watched values and arrays. It returns the targets, and then for each order the derivatives with respect to
            all sources, in the shape and dtype of the source, or None.

        Raises
        ------
        ConsumedTapeError
            If the tape isn't persistent, and has already given its gradients.
        NotATensorError
            If a target or source isn't a tensor.
        NotRecordingError
            If the tape was never entered.
        OptionError
            If `order` isn't an integer from 1 to 9.
        SourceError
            If the recorded operations can't be written as a program.

        Notes
        -----
        This doesn't consume the tape. The program computes the recorded operations: it always takes the recorded
        branches. The gradient of a function with `custom_gradient` is written as that function computes it, with its
        plain numbers as constants. Other values that weren't tracked, such as results of comparisons, are constants as
        well; the docstring of the program says so.

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
    """Give a method its public name, for Python's error messages and ``help``."""
    function.__qualname__ = name
    if hasattr(function, "__wrapped__"):
        _rename(function.__wrapped__, name)


for _base in GradientTape.__mro__[1:-1]:
    for _name, _value in vars(_base).items():
        if isinstance(_value, FunctionType):
            _rename(_value, f"GradientTape.{_name}")
