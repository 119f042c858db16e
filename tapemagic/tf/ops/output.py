"""tf.print: values written as TensorFlow writes them, by default to the error stream."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import OptionError
from tapemagic.tf.core.printing import summary


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Write values, of tensors the first and last three numbers of each axis.

    Parameters
    ----------
    *inputs : object
        Tensors, and lists and dicts of them, are written as numbers; anything else as Python prints it.
    output_stream : file, str, optional
        ``sys.stderr`` if left out, as in TensorFlow; or ``"file://"`` and a path, to which lines are added.
    summarize : int, optional
        How many numbers from each end of an axis; all for -1.
    sep, end : str, optional
        What stands between values, and behind the last.

    Examples
    --------
    >>> import sys, tapemagic.tf as tf
    >>> tf.print("x =", tf.range(8), output_stream=sys.stdout)
    x = [0 1 2 ... 5 6 7]
    """
    words = sep.join(_text(x, summarize) for x in inputs) + end
    if isinstance(output_stream, str):
        if not output_stream.startswith("file://"):
            raise OptionError(
                f'output_stream is a file such as sys.stdout, or "file://" and a path, not {output_stream!r}'
            )
        told = tracer()
        if told is not None:
            told.leave("tf.print to a file: do that after the call")
        with open(output_stream.removeprefix("file://"), "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(words)
        return
    (sys.stderr if output_stream is None else output_stream).write(words)


def _text(x: Any, summarize: int) -> str:
    if isinstance(x, Traced):
        return summary(unwrap(x), summarize)
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


def _quoted(x: Any, summarize: int) -> str:
    """A value inside of a structure, text in quotation marks."""
    return repr(x) if isinstance(x, str) else _text(x, summarize)
