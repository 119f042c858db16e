"""Variables of functions that do not run: of generators that wait, and of what an error has left."""

from __future__ import annotations

import ctypes
import inspect
import sys
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import Any

FRAMES: dict[Any, str] = {
    GeneratorType: "gi_frame",
    CoroutineType: "cr_frame",
    AsyncGeneratorType: "ag_frame",
}
"""The attribute of generators, and of what is like them, with the frame in which they wait."""

WRITES_THROUGH = sys.version_info >= (3, 13)
"""Whether an assignment in ``frame.f_locals`` is one to the variable itself."""


def is_running(frame: FrameType) -> bool:
    """Whether a frame is that of a function which runs, on any thread.

    Examples
    --------
    >>> is_running(inspect.currentframe())
    True
    >>> is_running((x for x in "ab").gi_frame)
    False
    """
    running = [*sys._current_frames().values()]
    while (
        running
    ):  # no variable refers to a frame in the end, its own among them: they would live on
        above = running.pop()
        if above is frame:
            running.clear()
            return True
        if above.f_back is not None:
            running.append(above.f_back)
        del above
    return False


def put_in_variables(holder: Any, news: dict[int, Any]) -> None:
    """Replace the values of the variables of a function, unless it runs.

    Parameters
    ----------
    holder : frame, generator or coroutine
    news : dict of int to object
        What is put in the place of objects, by the identities of these.

    Examples
    --------
    >>> def parts(x):
    ...     while True:
    ...         yield x
    >>> x, y = [1], [2]
    >>> found = parts(x)
    >>> next(found)
    [1]
    >>> put_in_variables(found, {id(x): y})
    >>> next(found)
    [2]
    """
    frame = holder if type(holder) is FrameType else getattr(holder, FRAMES[type(holder)])
    if frame is None or is_running(frame) or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return  # of a class or module the variables are in a dict
    names = frame.f_locals
    changed = {name: news[id(x)] for name, x in names.items() if id(x) in news}
    if not changed:
        return
    names.update(changed)
    if not WRITES_THROUGH:
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
