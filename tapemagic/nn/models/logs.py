"""The results of steps as plain numbers, and the options that fit and evaluate share."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tracebacks import free_of_others
from tapemagic.errors import OptionError, TapeError
from tapemagic.nn.callbacks.progress import Progress

Logs = dict[str, Any]


def plain_logs(logs: Any) -> Logs:
    """Results as floats, the loss first; those of dicts among them by their own names."""
    if logs is None:
        return {}
    if not isinstance(logs, Mapping):
        raise OptionError(
            f"train_step and test_step return a dict of results by their names, not {shown(logs)}: write return "
            "{'loss': loss}"
        )
    plain: Logs = {}
    for name, value in logs.items():
        if isinstance(value, Mapping):
            plain.update(plain_logs(value))
        else:
            array = np.asarray(unwrap(value))
            plain[name] = array.item() if array.ndim == 0 else array
    return plain


def one_or_all(logs: Logs) -> Any:
    """The results as a list; the loss alone, if there is nothing else."""
    values = list(logs.values())
    return values[0] if len(values) == 1 else values


def listed(callbacks: Any) -> list[Any]:
    """Callbacks as a list, for one, several or none."""
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]


def verbosity(verbose: Any) -> Any:
    """The option `verbose`, after it was found to be one.

    Raises
    ------
    OptionError
        If it is none.
    """
    if verbose not in ("auto", 0, 1, 2):
        raise OptionError(f"verbose is 'auto', 0, 1 or 2, not {verbose!r}")
    return verbose


def integer_option(value: Any, name: str, least: int) -> int:
    """A whole number that is not too small.

    Raises
    ------
    OptionError
        If it is something else.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise OptionError(
        f"{name} is a whole number from {least} on, not {value!r}: write {max(least, 1)}"
    )


@contextmanager
def closed(progress: list[Progress]) -> Iterator[None]:
    """Rub out the bar at the end, whatever ends the block."""
    try:
        yield
    finally:
        for bar in progress:
            bar.close()


Method = TypeVar("Method", bound=Callable[..., Any])


def without_own_frames(method: Method) -> Method:
    """A method that leaves the frames of tapemagic out of the errors which tapemagic raises on purpose.

    Any other error keeps all frames.

    Examples
    --------
    >>> @without_own_frames
    ... def fit(rate):
    ...     raise TapeError("a rate is above 0")
    >>> fit(0)
    Traceback (most recent call last):
    tapemagic.errors.TapeError: a rate is above 0
    """

    @wraps(method)
    def shown(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # read by IPython and pytest
        try:
            return method(*args, **kwargs)
        except TapeError as error:
            free_of_others(error)
            raise

    return shown  # type: ignore[return-value]


@contextmanager
def between_steps() -> Iterator[Callable[[], None]]:
    """Put off interrupts by Ctrl-C, or by the button of a notebook, until a function is called.

    Yields
    ------
    callable
        To be called between steps; raises KeyboardInterrupt, or whatever else the program's own handler does, if there
        was an interrupt since. A second interrupt before that is not put off.

    Notes
    -----
    On other threads than the main one, and where the program does not handle interrupts in Python, nothing is done.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: None
        return
    waiting: list[tuple[int, Any]] = []

    def put_off(number: int, frame: Any) -> None:
        if waiting:
            waiting.clear()
            before(number, frame)
        else:
            waiting.append((number, frame))

    def deliver() -> None:
        if waiting:
            before(*waiting.pop())

    signal.signal(signal.SIGINT, put_off)
    try:
        yield deliver
    finally:
        signal.signal(signal.SIGINT, before)
    deliver()
