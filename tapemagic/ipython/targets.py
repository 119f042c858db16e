"""What a %%tape cell differentiates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tapemagic.analysis.derivatives import Named
from tapemagic.analysis.matrices import Kind
from tapemagic.engine.tensor import Traced
from tapemagic.ipython.session import Session, unused


@dataclass(frozen=True)
class Asked:
    """What the line above a cell asks for: targets by name, the highest order, and full matrices."""

    targets: Sequence[str] = ()
    order: int = 1
    matrices: Sequence[Kind] = ()


@dataclass(frozen=True)
class Targets:
    """What to differentiate, whether that is the cell's value, and what there is to say about it."""

    named: Sequence[Named]
    is_value: bool = False
    problem: str = ""


def choose(session: Session, value: Any, wanted: Sequence[str]) -> Targets:
    """What -t names, else the last expression, else the last differentiable value that the cell assigned."""
    if wanted:
        return _wanted(session, wanted)
    tracked, leaves = session.observer._tracked, session.observer._leaves
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if values and all(isinstance(x, Traced) and x._id in tracked for x in values):
        return Targets(_named(session, values), is_value=True)
    watched = leaves | {source._id for source in session.sources.values()}
    history = reversed(session.history)
    made = [(name, x) for name, x in history if isinstance(x, Traced) and x._id not in watched]
    for name, x in made:
        if x._id in tracked:
            return Targets([(name, x)])
    if isinstance(value, Traced):
        return Targets(_named(session, values), is_value=True)
    if made and session.sources:
        return Targets(made[:1])
    if not leaves and not session.sources:
        return Targets(
            [],
            problem="nothing was watched: name variables in the first line, as in %%tape x, or use a Variable",
        )
    return Targets(
        [],
        problem="nothing was computed from what is watched, so there is nothing to differentiate"
        + session.last_exit(),
    )


def _wanted(session: Session, wanted: Sequence[str]) -> Targets:
    """The targets that -t names."""
    found = [(name, session.cell.namespace.get(name)) for name in wanted]
    plain = [f"{name} ({type(x).__name__})" for name, x in found if not isinstance(x, Traced)]
    problem = (
        f"not on the tape: {', '.join(plain)}. A target has to be computed from what is watched"
    )
    return Targets(
        [(n, x) for n, x in found if isinstance(x, Traced)], problem=problem if plain else ""
    )


def _named(session: Session, values: Sequence[Traced]) -> list[Named]:
    """The value of the last expression, or its parts, each under its name, or as it is written."""
    known = session.found_names()
    written = session.cell.last
    if len(written) != len(values):
        written = [f"{written[0]}[{i}]" for i in range(len(values))]
    names: dict[str, Traced] = {}
    for x, text in zip(values, written, strict=True):
        names[unused(known.get(x._id) or text, names)] = x
    return list(names.items())
