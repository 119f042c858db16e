"""Tracebacks of errors that are raised on purpose: the lines of the user's program, without those of tapemagic."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from tapemagic.engine.tracebacks import keep_user_frames
from tapemagic.errors import TapeError

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
            keep_user_frames(error)
            raise

    return shown  # type: ignore[return-value]
