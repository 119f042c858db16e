"""Interrupts put off to the end of a step, so that no step of training is made by half."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


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
