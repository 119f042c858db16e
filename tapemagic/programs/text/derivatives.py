"""Names and descriptions of derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapemagic.programs.program import Constant, Input, Node, Program


def derivative_name(order: int, name: str) -> str:
    """Return the name of a derivative with respect to a value.

    Examples
    --------
    >>> derivative_name(1, "w"), derivative_name(2, "w")
    ('d_w', 'd2_w')
    """
    return f"d{order if order > 1 else ''}_{name}"


def meaning(node: Node) -> str:
    """Describe a result as the derivative with respect to a value. Return '' if no value with a name is known."""
    back = node.back
    if back is None or back.to is None or not back.to.name:
        return ""
    name = _in_words([x.name for x in back.sources]) or back.to.name
    if back.order == 1:
        return f"the gradient with respect to {name}"
    return f"a derivative of order {back.order}, the last one with respect to {name}"


def _in_words(names: Sequence[str]) -> str:
    """Join names as in a sentence.

    Examples
    --------
    >>> _in_words([]), _in_words(["w"]), _in_words(["w", "b", "c"])
    ('', 'w', 'w, b and c')
    """
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def keep_meanings(program: Program, before: Program) -> None:
    """Describe and name the results as before the passes, which may have replaced a node by an equal node."""
    meanings: list[Any] = program.notes.setdefault("results", [""] * len(program.results))
    for k, (x, old) in enumerate(zip(program.results, before.results, strict=True)):
        if not isinstance(x, Node) or not isinstance(old, Node) or meanings[k]:
            continue
        meanings[k] = meaning(old)
        back = old.back if meanings[k] else None
        unnamed = not x.name and (x.back is None or x.back.to is None)
        if back is not None and unnamed and not isinstance(x, Input | Constant):
            x.name = derivative_name(back.order, back.to.name)
