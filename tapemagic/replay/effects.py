"""Effects of a call that a program would not have: something is printed, a file written, a clock read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tapemagic.replay import statements
from tapemagic.replay.reading import Names

CALLS = {
    ("builtins", "print"): "it prints",
    ("builtins", "input"): "it asks for input",
    ("_io", "open"): "it opens a file",
    ("io", "open"): "it opens a file",
    ("_io", "write"): "it writes to a file",
    ("_io", "writelines"): "it writes to a file",
    ("time", "sleep"): "it waits",
    ("time", ""): "it reads the clock",
    ("posix", "urandom"): "it draws random numbers",
    ("nt", "urandom"): "it draws random numbers",
    ("datetime", "now"): "it reads the clock",
    ("datetime", "today"): "it reads the clock",
    ("datetime", "utcnow"): "it reads the clock",
}
"""The effects of built-in functions, by their modules, or the modules of their objects' classes, and their names."""

SUSPECT = frozenset(name for _, name in CALLS if name) | frozenset(
    {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}
    | {"process_time", "thread_time", "localtime", "gmtime", "strftime", "ctime", "Path"}
    | {"logging", "logger", "log", "debug", "info", "warning", "error", "critical", "exception"}
    | {"write_text", "write_bytes", "read_text", "read_bytes", "uuid1", "uuid4", "token_bytes"}
)
"""Names in code at which its calls are observed."""


def is_suspect(codes: Iterable[Names]) -> bool:
    """Whether code names a function that may do more than compute."""
    return any(not SUSPECT.isdisjoint(found.globals | found.attributes) for found in codes)


def reads_source(frame: Any) -> bool:
    """Whether a call in a frame is a part of reading the user's own source, for the names in it."""
    while frame is not None and frame.f_globals.get("__name__") in {"linecache", "tokenize"}:
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == statements.__name__


@contextmanager
def observed_calls(found: list[str]) -> Iterator[None]:
    """Note what built-in functions do beside computing, while the block runs; nothing under a profiler."""

    def observe(frame: Any, event: str, what: Any) -> None:
        if event == "c_call":
            owner = getattr(what, "__self__", None)
            kind = type(owner) if not isinstance(owner, type) else owner
            module = what.__module__ or getattr(kind, "__module__", "")
            reason = CALLS.get((module, what.__name__)) or CALLS.get((module, ""))
        else:
            logs = event == "call" and frame.f_globals.get("__name__") == "logging"
            reason = "it writes to a log" if logs else None
        if reason is not None and reason not in found and not reads_source(frame):
            found.append(reason)

    if sys.getprofile() is not None:
        yield
        return
    sys.setprofile(observe)
    try:
        yield
    finally:
        sys.setprofile(None)
