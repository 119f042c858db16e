"""Calls of layers and losses: in words, and the variables inside of their boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tapemagic.engine.scopes import Scope, Shape
from tapemagic.explain.formatting import clipped, label
from tapemagic.report.folding import Block
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.graph.view import Fold, Plan

MOST_SHAPES = 3
"""The number of shapes that are written of several inputs or outputs."""
LONGEST_KIND = 32
"""The most characters of the name of a class."""


@dataclass(frozen=True)
class LayerCall:
    """A call of a layer in words.

    Attributes
    ----------
    name : str
        The name of the layer, without those of the layers around it.
    about : str
        Its class, and the number of its parameters, if that is known: ``Dense, 32 parameters``.
    shapes : str
        ``(4, 3) → (4, 8)``; of a call that has not returned, the shapes that it was given; empty if there are none.
    """

    name: str
    about: str
    shapes: str

    @property
    def title(self) -> str:
        """Its name, class and number of parameters."""
        return f"{self.name} ({self.about})"

    def __str__(self) -> str:
        """All of it: ``dense (Dense, 32 parameters): (4, 3) → (4, 8)``."""
        return f"{self.title}: {self.shapes}" if self.shapes else self.title


def layer_call(name: str, scope: Scope) -> LayerCall:
    """A call of a layer in words.

    Parameters
    ----------
    name : str
        The name of the layer, without those of the layers around it.
    scope : Scope

    Examples
    --------
    >>> scope = Scope("sequential/dense", "Dense")
    >>> scope.inputs, scope.outputs, scope.parameters = ((4, 3),), ((4, 8),), 32
    >>> str(layer_call("dense", scope))
    'dense (Dense, 32 parameters): (4, 3) → (4, 8)'
    """
    about = clipped(label(scope.kind), LONGEST_KIND)
    if scope.parameters is not None:
        about += f", {scope.parameters:,} parameter{'s' * (scope.parameters != 1)}"
    ends = filter(None, map(_listed, (scope.inputs, scope.outputs)))
    return LayerCall(label(name), about, " → ".join(ends))


def _listed(shapes: Sequence[Shape]) -> str:
    shown = [str(shape) for shape in shapes[:MOST_SHAPES]]
    return ", ".join([*shown, *["…"] * (len(shapes) > MOST_SHAPES)])


def inner_variables(subject: Subject, planned: Plan) -> set[int]:
    """The ids of the variables that are inside of the boxes of layers, or of boxes in which layers are.

    No operation that is drawn by itself reads them, and no layer with a box was given them. Of one that changed, it is
    the id under which all its values are known.
    """
    folds = [what for _, what in planned.items if isinstance(what, Fold)]
    layers = [block for fold in folds for block in _layers_in(fold)]
    if not layers:
        return set()
    variable_of = {new: i for i, values in subject.split.versions.items() for new in values}
    records, roles = subject.records, subject.roles

    def read(position: int) -> set[int]:
        return {variable_of.get(i, i) for i in records[position].ids if roles.get(i) == "variable"}

    inner: set[int] = set().union(*(read(p) for block in layers for p in block.positions()))
    for _, what in planned.items:
        if isinstance(what, int):
            inner -= read(what)
        elif what.scope is not None:
            inner.difference_update(i for i, _ in what.scope.arguments)
    return inner


def _layers_in(fold: Fold) -> Iterator[Block | Fold]:
    """The outermost layers among the operations of a fold: it may be one."""
    if fold.scope is not None:
        yield fold
        return
    stack = list(fold.parts)
    while stack:
        part = stack.pop()
        if isinstance(part, Block):
            if part.scope is not None:
                yield part
            elif part.holds_layers:
                stack += part.parts
