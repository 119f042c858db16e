"""Choose the targets of a %%tape cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.tensor.tensor import Traced, id_of
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import NotATensorError
from tapemagic.explain.advice import as_real, kind, listed
from tapemagic.explain.caller import TargetGroup
from tapemagic.explain.causes import constant_instead
from tapemagic.explain.exit_causes import surely_through_exit
from tapemagic.explain.formatting import unique_name
from tapemagic.explain.parts import tensors
from tapemagic.explain.reassignment import reassignment
from tapemagic.explain.snapshot import Named
from tapemagic.ipython.assignments import CONTAINERS
from tapemagic.ipython.session import Session
from tapemagic.ipython.training_roles import TrainingRoles
from tapemagic.ipython.watchable import is_number
from tapemagic.report.bundle import TapeReport
from tapemagic.report.derivatives import MAX_TARGETS
from tapemagic.report.tabs.gradients.own_gradients import written_sources
from tapemagic.report.verdict.statement import Statement


@dataclass(frozen=True)
class Targets:
    """Named targets, whether they are the cell's value, and notes on problems."""

    named: Sequence[Named]
    is_value: bool = False
    notes: Sequence[Statement] = ()


def choose_targets(session: Session, value: Any, target_names: Sequence[str]) -> Targets:
    """Choose the targets: those of -t, else the last expression, else the training loss, else the last assigned value.

    A gradient or an optimizer step is chosen only if it is the last expression, or if there is no other value.
    """
    if target_names:
        return _requested(session, target_names)
    roles = TrainingRoles(session)
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    losses = roles.losses()
    if values and all(map(session.observer.tracks, values)):
        # A list such as `losses` at the end is a log to be printed, unless it is written out: [y, z].
        is_log = values[0] is not value and not session.cell.is_display
        if not (losses and is_log) and not all(map(roles.is_trained, values)):
            return _all_results(session, value, values)
    if losses:
        return _limited(losses)
    # First the values that are neither gradients nor optimizer steps, then those as well.
    candidates = (
        _in_result(session, value, roles)
        or _last_assigned(session, roles)
        or _assigned_elsewhere(session, roles)
        or roles.differentiated()
        or _in_result(session, value)
        or _last_assigned(session)
        or _assigned_elsewhere(session)
        or roles.trained()
    )
    if candidates:
        chosen = _limited(candidates)
        return replace(chosen, notes=[*chosen.notes, *_lost_target(session, value, candidates)])
    if isinstance(value, Traced):
        return _all_results(session, value, values)
    watched = session.watched()
    tensors_assigned = [(name, x) for name, x in session.history if isinstance(x, Traced)]
    computed = [(name, x) for name, x in tensors_assigned if id_of(x) not in watched]
    if computed and session.sources:
        return Targets(computed[-1:])
    return Targets([], notes=[Statement("note", _why_no_target(session, value))])


def _limited(named: Sequence[Named], is_value: bool = False, maximum: int = MAX_TARGETS) -> Targets:
    """Keep at most `maximum` targets, with a note on the rest."""
    if len(named) <= maximum:
        return Targets(named, is_value)
    problem = (
        f"only the first {maximum} of {len(named)} values are differentiated: "
        "give another one a name, and write -t"
    )
    return Targets(named[:maximum], notes=[Statement("note", problem)])


def _lost_target(session: Session, value: Any, chosen: Sequence[Named]) -> Sequence[Statement]:
    """Explain why a plain number that you may have meant as the target is not tracked."""
    shown = listed([target for target, _ in chosen]) + (" is" if len(chosen) == 1 else " are")
    numbers: list[Named] = []
    if session.cell.last:
        numbers.append((session.cell.last[0], value))
        if _is_real(value) and (how := session.exit_on_last_line()):
            text = f"{how}, so {shown} shown instead of {session.cell.last[0]}"
            return [Statement("left", text)]
    for name, assigned in reversed(session.history):
        if any(assigned is x for _, x in chosen):
            break
        numbers.append((name, assigned))
    sources = session.all_sources()[:MAX_TARGETS]
    real = [(name, number) for name, number in numbers[:MAX_TARGETS] if _is_real(number)]
    if not real or not sources:
        return []
    question = session.question(*real[0], *sources[0])
    for (name, number), (x, source) in product(real, sources):
        question = replace(question, target_name=name, target=number, source_name=x, source=source)
        reason = surely_through_exit(question)
        if reason is not None:
            text = f"{shown} shown instead of {name}: {constant_instead(question) or reason.text}"
            return [Statement("left", text)]
    return []


def _is_real(value: Any) -> bool:
    """Return True for a plain real or complex number or array."""
    return (
        not isinstance(value, Traced)
        and is_number(value)
        and np.dtype(getattr(value, "dtype", type(value))).kind in "fc"
    )


def _in_result(session: Session, value: Any, roles: TrainingRoles | None = None) -> Sequence[Named]:
    """Return the computed tensors in the cell's value if it is a list, tuple or dict."""
    if not isinstance(value, CONTAINERS):
        return []
    written, values = session.cell.last, value.values() if isinstance(value, dict) else value
    named = [(written[0], value)]
    if session.cell.is_display and len(written) == len(value):
        named = list(zip(written, values, strict=True))
    targets: dict[str, Traced] = {}
    for pair in named:
        # Lists without names are called alike.
        targets |= {unique_name(y, targets): x for y, x in _targets_in(session, pair, roles)}
    return list(targets.items())


def _fits(value: Any, roles: TrainingRoles | None) -> bool:
    """Return True unless a value is known to be a gradient or an optimizer step."""
    return roles is None or not roles.is_step(value)


def _last_assigned(session: Session, roles: TrainingRoles | None = None) -> Sequence[Named]:
    """Return the last differentiable value that the cell assigned, or its items if it is a container."""
    names, latest = session.value_names(), session.latest
    for name, value in reversed(session.history):
        if isinstance(value, Traced):
            if session.is_computed(value) and _fits(value, roles):
                is_latest = latest[name] is value
                return [(name if is_latest else names.get(id_of(value), name), value)]
        elif isinstance(value, CONTAINERS):
            parts = _computed_parts(session, [(name, value)])
            parts = [pair for pair in parts if _fits(pair[1], roles)]
            if any(id_of(x) not in names for _, x in parts):
                return _targets_in(session, (name, value), roles)
    return []


def _assigned_elsewhere(session: Session, roles: TrainingRoles | None = None) -> Sequence[Named]:
    """Return the last computed value that is neither the cell's value nor assigned at its top level.

    A function may have assigned a global name, or the cell a part of a list, of a dict or of an object.
    """
    used, unused = session.notebook()
    named = [(name, x) for name, x in [*used, *unused] if isinstance(x, Traced)]
    named = [(name, x) for name, x in named if session.is_computed(x) and _fits(x, roles)]
    if named:
        # Ids of tensors grow with time, so the largest is the latest.
        return [max(named, key=lambda pair: int(id_of(pair[1])))]
    latest, container = 0, None
    for pair in used:
        ids = [id_of(x) for _, x in _computed_parts(session, [pair]) if _fits(x, roles)]
        if max(ids, default=0) > latest:
            latest, container = max(ids), pair
    return _targets_in(session, container, roles) if container else []


def _computed_parts(session: Session, named: Sequence[Named]) -> list[Named]:
    """Return the computed tensors in lists, dicts or objects, except derivatives."""
    names = session.value_names()
    parts = [(name, x) for name, x in tensors(named, TapeReport) if session.is_computed(x)]
    return [(names.get(id_of(x), name), x) for name, x in parts if not session.observer.order_of(x)]


def _targets_in(
    session: Session, named: Named, roles: TrainingRoles | None = None
) -> Sequence[Named]:
    """Return the computed tensors of a list, dict or object as targets: one by one, or many as one array."""
    name, value = named
    parts = [part for part in _computed_parts(session, [named]) if _fits(part[1], roles)]
    if not isinstance(value, CONTAINERS):
        return parts
    # The search for names ends after some items, but the sum is that of all, in their order.
    names = {id_of(x): part for part, x in parts}
    try:
        items = leaves(value)
    except NotATensorError:  # a list that contains itself
        return parts
    whole = [
        (names.get(id_of(x), f"{name}[{k}]"), x)
        for k, x in enumerate(items)
        if isinstance(x, Traced) and session.is_computed(x)
        if not session.observer.order_of(x) and _fits(x, roles)
    ]
    return session.join(TargetGroup(name, value, whole)) or parts


def _why_no_target(session: Session, value: Any) -> str:
    """Explain why there is no target."""
    sources = session.all_sources()
    without_derivative = [
        f"{name} holds {kind(x)} ({x.dtype}), which have no derivative. Write {_real_source(name, x)}"
        for name, x in sources
        if x.dtype.kind not in "fc"
    ]
    if without_derivative and len(without_derivative) == len(sources):
        return "; ".join(without_derivative)
    return "; ".join([_why_none_computed(session, value), *without_derivative])


def _real_source(name: str, x: Any) -> str:
    """Return an assignment that makes the same value from real numbers."""
    real = as_real(x)
    return f"{name} = tapemagic.Variable({real})" if isinstance(x, Variable) else f"{name} = {real}"


def _why_none_computed(session: Session, value: Any) -> str:
    """Explain why the cell computed nothing from watched values."""
    watched = session.watched()
    if not watched:
        return _why_none_watched(session)
    computed = 0 in session.snapshot().origins.orders
    exit_ = session.last_exit(watched if computed else ())
    instead = _constant_instead(session, value)
    if computed and (instead or exit_):
        gone = "the result isn't a tensor anymore, so there is nothing to differentiate"
        return gone + (instead or exit_)
    name, last = next(iter(reversed(session.history)), ("", None))
    for source in session.all_sources() if computed and is_number(last) else ():
        if not isinstance(last, Traced) and (
            why := surely_through_exit(session.question(name, last, *source))
        ):
            return f"{name} isn't a tensor, so there is nothing to differentiate: {why.text.removesuffix('.')}"
    if computed:
        return "there is no name for what was computed: give it one, write -t, or end the cell with the value"
    return (
        "nothing was computed from what is watched, so there is nothing to differentiate"
        f"{instead or exit_}"
    )


def _constant_instead(session: Session, value: Any) -> str:
    """Return the end of a sentence that explains why the cell's last value is a watched value or a constant."""
    name, last = next(iter(reversed(session.history)), ("", None))
    if session.cell.last and value is not None:
        name, last = session.cell.last[0], value
    sources = session.all_sources()
    if isinstance(last, Traced):
        same = [source for source, x in sources if id_of(x) == id_of(last) and source != name]
        return f": {name} is {same[0]} itself" if same else ""
    if not is_number(last) or not sources:
        return ""
    branch = constant_instead(session.question(name, last, *sources[0]))
    return f": {branch}" if branch else ""


def _why_none_watched(session: Session) -> str:
    """Explain that nothing was watched, and suggest a name."""
    used, _ = session.notebook()
    by_itself = session.snapshot().contents.watches_variables
    quiet = [
        name for name, x in used if isinstance(x, Variable) and not (by_itself and x.trainable)
    ]
    tensors_read = [
        (name, x) for name, x in used if isinstance(x, Traced) and not isinstance(x, Variable)
    ]
    for name, x in tensors_read:
        change = reassignment(session.question(name, x, name, x))
        if change and change.was_variable:
            return (
                f"nothing was watched: {name} isn't a Variable anymore, because {change.line} replaced it with a new "
                f"tensor. Write {change.instead} instead"
            )
    # The sources of the cell's own gradients, or else the only tensor that the cell reads, are what to watch.
    calls = session.observer.gradient_calls()
    asked = [name for call in calls for name, _ in written_sources(call, session.cell.namespace)]
    read = [name for name, _ in tensors_read if name not in session.cell.assigned]
    name = (asked or (read if len(read) == 1 else []) or ["x"])[0]
    instead = quiet[0] if quiet else f"{name if name.isidentifier() else 'x'}, or use a Variable"
    return f"nothing was watched: name variables in the first line, as in %%tape {instead}"


def _requested(session: Session, target_names: Sequence[str]) -> Targets:
    """Return the targets of -t; for a list, tuple or dict, its computed items."""
    namespace = session.cell.namespace
    targets: list[Named] = []
    plain: list[str] = []
    for name in target_names:
        value = namespace.get(name)
        if isinstance(value, Traced):
            targets.append((name, value))
            continue
        parts = _targets_in(session, (name, value)) if isinstance(value, CONTAINERS) else []
        targets += parts
        if not parts and name in namespace:
            plain.append(f"{name} ({type(value).__name__})")
    problems = [
        f"{name} has no value after the cell: it was deleted, or the line that assigns it did not run"
        for name in target_names
        if name not in namespace
    ]
    if plain:
        text = (
            f"not on the tape: {', '.join(plain)}. A target has to be computed from what is watched"
        )
        if not session.watched() and len(target_names) > 1:
            text += f", and names to watch stand in front, as in %%tape {target_names[-1]} -t {target_names[0]}"
        problems.append(text)
    chosen = _limited(targets, maximum=max(MAX_TARGETS, len(target_names)))
    return replace(chosen, notes=[*chosen.notes, *(Statement("note", text) for text in problems)])


def _all_results(session: Session, value: Any, values: Sequence[Traced]) -> Targets:
    """Return the value of the last expression, or its items, as targets."""
    named, written = _named_results(session, values), session.cell.last
    is_list = len(written) != len(values)
    joined = session.join(TargetGroup(written[0], value, named)) if is_list else []
    # What is joined is shown as shape and range, so the value itself is shown as well.
    return _limited(joined or named, is_value=not joined)


def _named_results(session: Session, values: Sequence[Traced]) -> list[Named]:
    """Name the value of the last expression, or its items, by variables or by their source."""
    known_names = session.value_names()
    written = session.cell.last
    if len(written) != len(values):
        written = [f"{written[0]}[{i}]" for i in range(len(values))]
    names: dict[str, Traced] = {}
    for x, text in zip(values, written, strict=True):
        names[unique_name(known_names.get(id_of(x)) or text, names)] = x
    return list(names.items())
