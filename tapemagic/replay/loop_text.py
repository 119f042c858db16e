"""The text of a loop over blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapemagic.replay.program import Loop, Store


def loop_lines(loop: Loop, name: Callable[[Any], str], body: Iterable[str]) -> list[str]:
    r"""The lines of a loop.

    Parameters
    ----------
    loop : Loop
    name : callable
        Gives the name of a node.
    body : iterable of str
        The lines of the body.

    Examples
    --------
    >>> print(*loop_lines(Loop(1_000_000, 32_768), lambda node: node.name, ["y[part] = x[part] * 2"]), sep="\n")
    for start in range(0, 1_000_000, 32_768):
        part = slice(start, start + 32_768)
        y[part] = x[part] * 2
    """
    start, part = name(loop.start), name(loop.part)
    return [
        f"for {start} in range(0, {loop.count:_}, {loop.step:_}):",
        f"    {part} = slice({start}, {start} + {loop.step:_})",
        *(f"    {line}" for line in body),
    ]


def store_line(store: Store, value: Callable[[Any], str], index: Callable[[Any], str]) -> str:
    """The line that writes what a block gave: ``y[part] = ...`` or ``parts.append(...)``.

    Parameters
    ----------
    store : Store
    value, index : callable
        Give the text of a node, and of an index without its brackets.
    """
    target, given = value(store.target), value(store.value)
    if store.index is None:
        return f"{target}.append({given})"
    return f"{target}[{index(store.index)}] = {given}"


__all__ = ["loop_lines", "store_line"]
