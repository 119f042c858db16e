"""Programs run as their texts, as they are read and as drivers hold them; functions called beside their programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.programs.function import Function, function
from tapemagic.programs.program import Program
from tapemagic.programs.text.source import Retrace, Text
from tapemagic.programs.text.writer import Writer

Change = Callable[[], Any]
Case = tuple[Any, ...]
"""A function under tm.function, and changes of what it reads."""


def setting(owner: Any, name: str, value: Any) -> Change:
    """A change of an attribute."""
    return lambda: setattr(owner, name, value)


def putting(owner: Any, key: Any, value: Any) -> Change:
    """A change of an entry."""
    return lambda: owner.__setitem__(key, value)


def pasted(program: Program) -> Callable[..., Any]:
    """The function that the source defines, given what it cannot define itself."""
    text = Text(program)
    found = _defined(str(text), text.namespace)[text.name]
    found.__defaults__ = tuple(node.value for node in text.fixed) or None
    return found  # type: ignore[no-any-return]


def in_driver(program: Program) -> Callable[..., Any]:
    """The statements alone, as a driver runs them: with functions of NumPy's by names of their own."""
    writer = Writer(program, bare=True)
    parameters = writer.parameters[: len(program.inputs)]
    end = f"    return ({''.join(f'{text}, ' for text in writer.returned)})"
    lines = [f"def q_run({', '.join(parameters)}):", *(line.text for line in writer.body), end]
    run = _defined("\n".join(lines), {"np": np, "Retrace": Retrace, **writer.objects()})["q_run"]

    def called(*values: Any) -> Any:
        found = run(*values)
        return found[0] if len(found) == 1 else found

    return called


def both_ways(program: Program, *values: Any) -> list[Any]:
    """The results in both ways, which are to be the same."""
    return [run(program)(*values) for run in (pasted, in_driver)]


def changes_are_seen(f: Any, *changes: Callable[[], Any], x: Any) -> None:
    """Check that a function becomes a program, and that after each change it gives what the eager one gives."""
    g = function(f)
    for _ in range(3):
        assert np.array_equal(f(x), g(x))
    assert g.programs

    for change in changes:
        before = f(x)
        change()
        assert not np.array_equal(before, f(x))
        for _ in range(3):
            assert np.array_equal(f(x), g(x))

    assert not g.why_eager


def numbers_stay_right(f: Any, *changes: Callable[[], Any], x: Any, why: str) -> None:
    """Check that a function stays eager for a reason, and gives right numbers after each change."""
    g = Function(f, warns=False)
    for change in (lambda: None, *changes):
        change()
        for _ in range(3):
            assert np.array_equal(f(x), g(x))

    assert not g.programs
    assert why in g.why_eager


def _defined(text: str, names: dict[str, Any]) -> dict[str, Any]:
    namespace = dict(names)
    exec(compile(text, "<test>", "exec"), namespace)  # noqa: S102 (the text is our own)
    return namespace
