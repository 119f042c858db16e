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
        from tapemagic.analysis.explain.caller import explain_here

        return explain_here(self, target, source)


def _rename(function: Any, name: str) -> None:
    """Give a method the name by which users know it, for Python's own error messages and for ``help``."""
    function.__qualname__ = name
    if hasattr(function, "__wrapped__"):
        _rename(function.__wrapped__, name)


for _base in GradientTape.__mro__[1:-1]:
    for _name, _value in vars(_base).items():
        if isinstance(_value, FunctionType):
            _rename(_value, f"GradientTape.{_name}")
