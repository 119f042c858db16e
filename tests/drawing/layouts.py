"""Print how graphs are laid out here: ``python -m tests.drawing.layouts`` writes JSON."""

from __future__ import annotations

import json
import sys

import numpy as np

import tapemagic as tm
from tapemagic.drawing.dot import dot
from tapemagic.drawing.engines import by_dot, by_pygraphviz
from tapemagic.drawing.inserts import Inserts
from tapemagic.drawing.picture import read
from tapemagic.drawing.svg import Drawing
from tapemagic.report.findings import Findings
from tests.report.recordings import chain, product, record, regression, square

ENGINES = {"dot": by_dot, "pygraphviz": by_pygraphviz}
CONTROL = 'digraph { a [label="gradient 0.969349" shape=box fontname="Helvetica,Arial"] }'
"""A box that is as wide as its text."""


def graphs() -> list[Findings]:
    """Graphs in either direction, with frames, labels, small pictures, folded boxes and all kinds of letters."""
    matrix = np.arange(400.0).reshape(20, 20) / 100
    return [
        square(),
        product(),
        regression(),
        chain(12),
        chain(100),
        record(lambda a: np.sum(np.tanh(a @ a) * a), matrix),
        record(lambda a: sum(np.sin(a) * k for k in range(30)), 0.5),
        record(lambda a, b: np.log(a) * b - a / b, tm.Variable(1.5, name="α"), 2.0),
    ]


def layouts() -> dict[str, list[str]]:
    """The pictures by the engines, after that of the control."""
    drawn: dict[str, list[str]] = {}
    for name, engine in ENGINES.items():
        drawn[name] = [engine(CONTROL)]
        for found in graphs():
            inserts = Inserts(found.graph)
            picture = read(engine(dot(found.graph, found.lines, inserts)), inserts.by_number)
            drawn[name].append(str(Drawing(picture).live))
    return drawn


if __name__ == "__main__":
    json.dump(layouts(), sys.stdout)
