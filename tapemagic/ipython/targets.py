"""What a %%tape cell differentiates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tapemagic.analysis.explain.advice import as_real, kind
from tapemagic.analysis.report.derivatives import Named
from tapemagic.analysis.report.matrices import Kind
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable
from tapemagic.ipython.parts import tensors
from tapemagic.ipython.session import CONTAINERS, Session, unused

MOST = 10
"""How many targets there are at most, if nobody has named them."""


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
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if values and all(map(session.observer.tracks, values)):
        return _few(_named(session, values), is_value=True)
    found = _of_value(session, value) or _assigned(session) or _elsewhere(session)
    if found:
        return _few(found)
    if isinstance(value, Traced):
        return Targets(_named(session, values), is_value=True)
    watched = session.watched()
    held = [(name, x) for name, x in session.history if isinstance(x, Traced)]
    made = [(name, x) for name, x in held if x._id not in watched]
    if made and session.sources:
        return Targets(made[-1:])
    return Targets([], problem=_nothing(session))


def _few(named: Sequence[Named], is_value: bool = False, most: int = MOST) -> Targets:
    """The first of the targets, if there are many."""
    if len(named) <= most:
        return Targets(named, is_value)
    problem = f"only the first {most} of {len(named)} values are differentiated: give another one a name, and write -t"
    return Targets(named[:most], problem=problem)


def _of_value(session: Session, value: Any) -> Sequence[Named]:
    """What the cell computed among the parts of its value."""
    if not isinstance(value, CONTAINERS):
        return []
    written, values = session.cell.last, value.values() if isinstance(value, dict) else value
    if session.cell.is_display and len(written) == len(value):
        return _parts(session, list(zip(written, values, strict=True)))
    return _parts(session, [(written[0], value)])


def _assigned(session: Session) -> Sequence[Named]:
    """The last differentiable value that the cell assigned, or its parts, if it is a list, a tuple or a dict."""
    known = session.found_names()
    for name, value in reversed(session.history):
        if isinstance(value, Traced):
            if session.is_computed(value):
                return [(name, value)]
        elif isinstance(value, CONTAINERS):
            found = _parts(session, [(name, value)])
            if any(x._id not in known for _, x in found):
                return found
    return []


def _elsewhere(session: Session) -> Sequence[Named]:
    """What was computed and is neither the cell's value nor assigned at its top level.

    A function may have assigned a global name, or the cell a part of a list, of a dict or of an object.
    """
    used, others = session.notebook()
    named = [(name, x) for name, x in [*used, *others] if isinstance(x, Traced)]
    named = [(name, x) for name, x in named if session.is_computed(x)]
    if named:
        return [max(named, key=lambda pair: int(pair[1]._id))]
    groups = [_parts(session, [pair]) for pair in used]
    return max(groups, key=lambda found: max((int(x._id) for _, x in found), default=0), default=[])


def _parts(session: Session, held: Sequence[Named]) -> list[Named]:
    """What the cell computed and put into lists, dicts or objects; derivatives do not count."""
    known = session.found_names()
    found = [(name, x) for name, x in tensors(held) if session.is_computed(x)]
    return [(known.get(x._id, name), x) for name, x in found if not session.observer.order_of(x)]


def _nothing(session: Session) -> str:
    """Why there is nothing to differentiate."""
    sources = session.all_sources()
    whole = [
        f"{name} holds {kind(x)} ({x.dtype}), and only real numbers have derivatives: write {_written(name, x)}"
        for name, x in sources
        if x.dtype.kind not in "fc"
    ]
    if whole and len(whole) == len(sources):
        return "; ".join(whole)
    return "; ".join([_nothing_computed(session), *whole])


def _written(name: str, x: Any) -> str:
    """How to make the same of real numbers."""
    real = as_real(x)
    return f"{name} = tapemagic.Variable({real})" if isinstance(x, Variable) else f"{name} = {real}"


def _nothing_computed(session: Session) -> str:
    """Why nothing that the cell computed can be differentiated."""
    watched = session.watched()
    if not watched:
        return _nothing_watched(session)
    computed = 0 in session.snapshot().origins.orders
    exit_ = session.last_exit(watched if computed else ())
    if computed and exit_:
        return (
            f"what was computed is no tensor any more, so there is nothing to differentiate{exit_}"
        )
    if computed:
        return "there is no name for what was computed: give it one, write -t, or end the cell with the value"
    return f"nothing was computed from what is watched, so there is nothing to differentiate{exit_}"


def _nothing_watched(session: Session) -> str:
    """What to watch: a Variable of the cell, if that was not watched by itself."""
    used, _ = session.notebook()
    by_itself = session.snapshot().contents.watches_variables
    quiet = [
        name for name, x in used if isinstance(x, Variable) and not (by_itself and x.trainable)
    ]
    instead = quiet[0] if quiet else "x, or use a Variable"
    return f"nothing was watched: name variables in the first line, as in %%tape {instead}"


def _wanted(session: Session, wanted: Sequence[str]) -> Targets:
    """The targets that -t names; of a list, a tuple or a dict its parts."""
    namespace = session.cell.namespace
    found: list[Named] = []
    plain: list[str] = []
    for name in wanted:
        value = namespace.get(name)
        if isinstance(value, Traced):
            found.append((name, value))
            continue
        parts = _parts(session, [(name, value)]) if isinstance(value, CONTAINERS) else []
        found += parts
        if not parts and name in namespace:
            plain.append(f"{name} ({type(value).__name__})")
    problems = [
        f"{name} has no value after the cell: it was deleted, or the line that assigns it did not run"
        for name in wanted
        if name not in namespace
    ]
    if plain:
        text = (
            f"not on the tape: {', '.join(plain)}. A target has to be computed from what is watched"
        )
        if not session.watched() and len(wanted) > 1:
            text += f", and names to watch stand in front, as in %%tape {wanted[-1]} -t {wanted[0]}"
        problems.append(text)
    chosen = _few(found, most=max(MOST, len(wanted)))
    return replace(chosen, problem="; ".join(filter(None, [chosen.problem, *problems])))


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
