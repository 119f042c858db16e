"""The memory that this process may use, by the limits of the system, of the container and of the shell."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

SHARE = 4
"""A recording may take this part of the free memory: a quarter."""

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([kmgt]?)i?b?(?:ytes)?\s*", re.IGNORECASE)

UNLIMITED = 1 << 60
"""cgroup v1 writes a number near 2**63 where there is no limit."""


def parse_size(text: str) -> int | None:
    """Return the bytes that a text such as ``500 MB`` means, or None for other text.

    Examples
    --------
    >>> parse_size("500 MB"), parse_size("1.5GiB"), parse_size("2048"), parse_size("much")
    (524288000, 1610612736, 2048, None)
    """
    match = SIZE.fullmatch(text)
    return None if match is None else int(float(match[1]) * UNITS[match[2].upper()])


def format_bytes(size: float) -> str:
    """Return a number of bytes as text.

    Examples
    --------
    >>> format_bytes(500 << 20), format_bytes(3 << 30)
    ('500 MB', '3.0 GB')
    """
    return f"{size / (1 << 30):,.1f} GB" if size >= 1 << 30 else f"{size / (1 << 20):,.0f} MB"


def default_budget() -> int:
    """Return the memory that a recording may take: a share of what is free."""
    free = min((limit - used for limit, used in _limits()), default=UNLIMITED)
    return max(free, 0) // SHARE


def total_memory() -> int:
    """Return the memory that this process may have in all."""
    return min((limit for limit, _ in _limits()), default=UNLIMITED)


def _limits() -> Iterator[tuple[int, int]]:
    """Yield the limits that are known, each with what is used of it."""
    status = _numbers("/proc/self/status")
    try:
        import resource
    except ImportError:  # Windows
        pass
    else:
        for limit, used in (("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")):
            soft = resource.getrlimit(getattr(resource, limit))[0]
            if 0 <= soft < UNLIMITED:
                yield soft, status.get(used, 0)
    yield from _container_limits()
    machine = _numbers("/proc/meminfo")
    if "MemTotal" in machine:
        total = machine["MemTotal"]
        yield total, total - machine.get("MemAvailable", total)
    elif sys.platform != "win32":
        import os

        # macOS has no /proc: the free memory isn't known there without another library.
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), 0


def _container_limits() -> Iterator[tuple[int, int]]:
    """Yield the limits of the control groups around this process, of version 2 and 1."""
    for line in _text("/proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            root, names = Path("/sys/fs/cgroup"), ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root = Path("/sys/fs/cgroup/memory")
            names = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        group = root / path.lstrip("/")
        # Each group around it limits it, too. Inside a container, only the root may be mounted, and is its own.
        for folder in (group, *group.parents):
            limit, used = (_text(folder / name).strip() for name in names)
            if limit.isdigit() and used.isdigit() and int(limit) < UNLIMITED:
                yield int(limit), int(used)
            if folder == root:
                break


def _numbers(file: str) -> dict[str, int]:
    """Return the sizes in a file of /proc, in bytes."""
    sizes = {}
    for line in _text(file).splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if len(words) == 2 and words[1] == "kB":
            sizes[name] = int(words[0]) << 10
    return sizes


def _text(file: str | Path) -> str:
    try:
        return Path(file).read_text()
    except OSError:
        return ""
