"""tf.print: print values like TensorFlow, by default to stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapemagic.engine.effects import effect
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import OptionError
from tapemagic.tf.core.dtype import DType
from tapemagic.tf.core.printing import summary
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.core.text import StringTensor


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Print values; for tensors, the first and last three numbers of each axis.

    Parameters
    ----------
    *inputs : object
        Tensors, and lists and dicts of tensors, are printed as numbers; other objects as in Python.
    output_stream : file, str, optional
        Default: ``sys.stderr``, as in TensorFlow. A string ``"file://"`` plus a path appends to that file.
    summarize : int, optional
        Number of elements at each end of an axis; -1 for all.
    sep, end : str, optional
        Text between values, and after the last one.

    Examples
    --------
    >>> import sys, tapemagic.tf as tf
    >>> tf.print("x =", tf.range(8), output_stream=sys.stdout)
    x = [0 1 2 ... 5 6 7]
    """
    if isinstance(output_stream, str) and not output_stream.startswith("file://"):
        raise OptionError(
            f'output_stream is a file such as sys.stdout, or "file://" and a path, not {output_stream!r}'
        )
    # By name, because a notebook may replace the streams between two calls of a program.
    names = {id(sys.stderr): None, id(sys.stdout): "stdout"}
    stream = names.get(id(output_stream), output_stream)
    write_text([_parts(x, summarize) for x in inputs], stream, summarize, sep, end)


def _parts(x: Any, summarize: int) -> Any:
    """Return the values in an argument that a program prints at each call, and everything else as text."""
    if isinstance(x, Traced):
        return unwrap(x)
    if isinstance(x, Mapping):
        return {k: _parts(v, summarize) for k, v in x.items()}
    if type(x) in {list, tuple}:
        return type(x)(_parts(v, summarize) for v in x)
    if isinstance(x, StringTensor):
        return Shown(_strings(x, summarize))
    if isinstance(x, KEPT):
        return x
    trace = tracer()
    if trace is not None and not isinstance(x, FIXED):
        trace.mark_exit(f"tf.print of an object of the class {type(x).__name__}")
    return Shown(str(x))


class Shown(str):
    """The text of an object."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


KEPT = (str, bool, int, float, complex, type(None), np.ndarray, np.generic)
"""The classes of arguments that are printed from their values."""

FIXED = (type, np.dtype, DType, TensorShape)
"""The classes of arguments whose text never changes."""


@effect
def write_text(inputs: Any, stream: Any, summarize: int, sep: str, end: str) -> None:
    """Print values as `print` does; see `engine.effects`.

    Examples
    --------
    >>> write_text(["x =", np.arange(3)], "stdout", 3, " ", "!")
    x = [0 1 2]!
    """
    words = sep.join(_text(x, summarize) for x in inputs) + end
    if isinstance(stream, str) and stream != "stdout":
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(words)
        return
    (sys.stderr if stream is None else sys.stdout if stream == "stdout" else stream).write(words)


def _text(x: Any, summarize: int) -> str:
    if isinstance(x, Traced):
        return summary(unwrap(x), summarize)
    # Arrays of strings and objects print as in Python.
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufc":
        return summary(x, summarize)
    if isinstance(x, Mapping):
        return (
            "{"
            + ", ".join(f"{_quoted(k, summarize)}: {_quoted(v, summarize)}" for k, v in x.items())
            + "}"
        )
    if isinstance(x, list):
        return f"[{', '.join(_quoted(v, summarize) for v in x)}]"
    if isinstance(x, tuple):
        return f"({', '.join(_quoted(v, summarize) for v in x)})"
    return str(x)


def _strings(x: StringTensor, summarize: int) -> str:
    """Format strings in quotation marks."""
    if not x.ndim:
        return f'"{x.numpy().decode()}"'
    count = len(x)
    is_long = 0 <= 2 * summarize < count
    places = [*range(summarize), *range(count - summarize, count)] if is_long else range(count)
    parts = [_strings(x[k], summarize) for k in places]
    if is_long:
        parts.insert(summarize, "...")
    return f"[{(' ' if x.ndim == 1 else chr(10) + ' ').join(parts)}]"


def _quoted(x: Any, summarize: int) -> str:
    """Format a value inside a structure, strings in quotation marks."""
    return repr(x) if isinstance(x, str) else _text(x, summarize)
