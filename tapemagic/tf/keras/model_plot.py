"""``tf.keras.utils.plot_model``: a picture of a model's layers, which Graphviz draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tapemagic import nn
from tapemagic.drawing.engines import TooLongError, UnavailableError, run_dot
from tapemagic.engine.nest import leaves
from tapemagic.errors import OptionError
from tapemagic.nn.symbolic import kind_of, nodes_of

KINDS = ("dot", "pdf", "png", "svg")
"""The kinds of files that `plot_model` writes."""


class ModelPlot:
    """A picture of a model, which notebooks show.

    - `source`: The text for Graphviz.
    - `svg`: The picture.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.svg = _drawn(source, "svg").decode()

    def _repr_svg_(self) -> str:
        return self.svg


def plot_model(
    model: Any,
    to_file: Any = "model.png",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = False,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> ModelPlot:
    """Draw the layers of a model, and write the picture to a file.

    Parameters
    ----------
    model : Model
        Between symbolic tensors, or a `Sequential`; another one is drawn as a single box.
    to_file : path or None, optional
        Ends in ".png", ".svg", ".pdf" or ".dot"; None writes no file.
    show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable : bool, optional
        What to write into the boxes besides the classes of layers.
    rankdir : {'TB', 'LR'}, optional
        From top to bottom, or from left to right.
    expand_nested : bool, optional
        Only False: draw an inner model by a call of its own.
    dpi : int, optional
        The resolution of a ".png".

    Returns
    -------
    ModelPlot
        Notebooks show it.

    Raises
    ------
    OptionError
        If Graphviz is missing, or an option is invalid.
    """
    if expand_nested:
        raise OptionError("inner models are drawn on their own: write plot_model(model.layers[1])")
    if rankdir not in {"TB", "BT", "LR", "RL"}:
        raise OptionError(f"rankdir of plot_model must be 'TB' or 'LR', not {rankdir!r}")
    path = None if to_file is None else Path(to_file)
    if path is not None and path.suffix[1:] not in KINDS:
        raise OptionError(
            f"plot_model writes files that end in {', '.join(f'.{kind}' for kind in KINDS)}, not {str(path)!r}"
        )
    shown = {
        "dtype": show_dtype,
        "activation": show_layer_activations,
        "trainable": show_trainable,
        "shapes": show_shapes,
    }
    nodes, edges = _boxes(model)
    style = 'shape=box, fontname="Helvetica", fontsize=11, style=rounded'
    lines = [f"digraph {{ rankdir={rankdir}; dpi={int(dpi)}; node [{style}];"]
    lines += [
        f"{number} [label={_quoted(_label(layer, call, show_layer_names, shown))}];"
        for number, (layer, call) in enumerate(nodes)
    ]
    lines += [f"{a} -> {b};" for a, b in edges]
    source = "\n".join([*lines, "}"])
    if path is not None:
        kind = path.suffix[1:]
        path.write_bytes(source.encode() if kind == "dot" else _drawn(source, kind))
    # A screen has 96 dots per inch; the resolution of the file would enlarge the picture in a notebook.
    return ModelPlot(source.replace(f"dpi={int(dpi)}", "dpi=72", 1))


def _drawn(source: str, kind: str) -> bytes:
    try:
        return run_dot(source, kind)
    except (UnavailableError, TooLongError) as error:
        raise OptionError(
            f"plot_model needs Graphviz ({error}): install it, or write model.summary()"
        ) from None


def _boxes(model: Any) -> tuple[list[tuple[Any, Any]], list[tuple[int, int]]]:
    """Return the layers of a model with their calls on symbolic tensors, and the connections of their numbers."""
    if not isinstance(model, nn.Model):
        raise OptionError(f"plot_model draws a model, not {model!r}")
    graph = getattr(model, "graph", None)
    if graph:
        numbers = {id(node): number for number, node in enumerate(graph.nodes)}
        edges = [
            (numbers[id(x.node)], numbers[id(node)]) for node in graph.nodes for x in node.inputs
        ]
        return [(node.layer, node) for node in graph.nodes], edges
    if not isinstance(model, nn.Sequential):
        return [(model, None)], []
    layers = [(layer, next(reversed(nodes_of(layer)), None)) for layer in model.layers]
    return layers, [(number, number + 1) for number in range(len(layers) - 1)]


def _label(layer: Any, call: Any, with_name: bool, shown: dict[str, bool]) -> str:
    """Return the lines of a box."""
    kind = kind_of(layer)
    lines = [f"{layer.name} ({kind})" if with_name else kind]
    activation = getattr(layer, "activation", None)
    if shown["activation"] and activation is not None:
        lines.append(f"activation: {getattr(activation, '__name__', activation)}")
    if shown["dtype"]:
        lines.append(f"dtype: {layer.dtype}")
    if shown["trainable"] and layer.variables:
        lines.append(f"trainable: {layer.trainable}")
    if shown["shapes"] and call is not None:
        inputs = ", ".join(str(tuple(x.shape)) for x in call.inputs)
        outputs = ", ".join(str(tuple(x.shape)) for x in leaves(call.outputs))
        lines += [f"input: {inputs}"] if inputs else []
        lines.append(f"output: {outputs}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Quote a text for Graphviz, in which a backslash begins commands."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
