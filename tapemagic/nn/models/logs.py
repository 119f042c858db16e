"""Helpers that fit, evaluate and predict share: results as plain numbers, options, tracebacks, interrupts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tracebacks import keep_user_frames
from tapemagic.errors import OptionError, TapeError, UnsupportedArgumentError
from tapemagic.nn.callbacks.progress import Progress

Logs = dict[str, Any]


def plain_logs(logs: Any) -> Logs:
    """Convert the results of a step to floats, sorted by name as in Keras; nested dicts are flattened."""
    if logs is None:
        return {}
    if not isinstance(logs, Mapping):
        raise OptionError(
            f"train_step and test_step must return a dict of results by name, not {shown(logs)}: write return "
            "{'loss': loss}"
        )
    plain: Logs = {}
    for name, value in sorted(logs.items()):
        if isinstance(value, Mapping):
            plain.update(plain_logs(value))
        else:
            array = np.asarray(unwrap(value))
            plain[name] = array.item() if array.ndim == 0 else array
    return plain


def one_or_all(logs: Logs, names: Iterable[str]) -> Any:
    """Return the results as a list, first those with the given names, or only the loss if it's the only result."""
    values = [logs[name] for name in dict.fromkeys([*names, *logs]) if name in logs]
    return values[0] if len(values) == 1 else values


def require_without_effect(method: str, options: Mapping[str, Any]) -> None:
    """Raise UnsupportedArgumentError for an option of a method other than those of Keras 2 for parallel loading."""
    for name in options:
        if name not in {"workers", "use_multiprocessing", "max_queue_size"}:
            raise UnsupportedArgumentError(
                f"{method}() got an unexpected keyword argument {name!r}: help(model.{method}) lists its options"
            )


def listed(callbacks: Any) -> list[Any]:
    """Return one callback, several, or None as a list."""
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]


def verbosity(verbose: Any) -> Any:
    """Return the option `verbose`, or raise OptionError."""
    if verbose not in ("auto", 0, 1, 2):
        raise OptionError(f"verbose must be 'auto', 0, 1 or 2, not {verbose!r}")
    return verbose


@contextmanager
def closed(progress: list[Progress]) -> Iterator[None]:
    """Erase the progress bar at the end of the block, even after an error."""
    try:
        yield
    finally:
        for bar in progress:
            bar.close()


Method = TypeVar("Method", bound=Callable[..., Any])


def without_own_frames(method: Method) -> Method:
    """Decorate a method so that errors which tapemagic raises on purpose don't show tapemagic's own frames.

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
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # read by IPython and pytest
        try:
            return method(*args, **kwargs)
        except TapeError as error:
            keep_user_frames(error)
            raise

    return wrapper  # type: ignore[return-value]


@contextmanager
def between_steps() -> Iterator[Callable[[], None]]:
    """Delay interrupts by Ctrl-C, or by a notebook's stop button, to the end of a training step.

    Yields a function to call between steps: after an interrupt it calls the program's own handler, which usually
    raises KeyboardInterrupt. A second interrupt before that isn't delayed.
    """
    # signal.signal works only on the main thread. getsignal returns None for a handler that C code installed.
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: None
        return
    waiting: list[tuple[int, Any]] = []

    def delay(number: int, frame: Any) -> None:
        # The second Ctrl-C interrupts at once: otherwise a step that hangs couldn't be stopped.
        if waiting:
            waiting.clear()
            before(number, frame)
        else:
            waiting.append((number, frame))

    def deliver() -> None:
        if waiting:
            before(*waiting.pop())

    signal.signal(signal.SIGINT, delay)
    try:
        yield deliver
    finally:
        signal.signal(signal.SIGINT, before)
    deliver()
