"""plot_model draws the layers of a model with Graphviz, and writes the kinds of files that it names."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tapemagic import tf
from tapemagic.errors import OptionError

pytestmark = pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")


def branched() -> Any:
    """A model whose layers are connected in two ways."""
    layers = tf.keras.layers
    i = tf.keras.Input((4,), name='i"\\G')
    a = layers.Dense(4, activation="relu", name="a")(i)
    return tf.keras.Model(i, layers.Add(name="sum")([i, a]) * 2.0)


def test_boxes_and_connections() -> None:
    """Each call has a box with what was asked for, and an arrow from each of its inputs."""
    plot = tf.keras.utils.plot_model(
        branched(), None, show_shapes=True, show_layer_names=True, show_layer_activations=True
    )

    assert 'label="i\\"\\\\G (InputLayer)' in plot.source
    assert "a (Dense)\\nactivation: relu\\ninput: (None, 4)\\noutput: (None, 4)" in plot.source
    arrows = {line for line in plot.source.splitlines() if "->" in line}
    assert arrows == {"0 -> 1;", "0 -> 2;", "1 -> 2;", "2 -> 3;"}
    assert plot._repr_svg_().count("<polygon") >= 4


@pytest.mark.parametrize(
    ("name", "begin"), [("m.png", b"\x89PNG"), ("m.svg", b"<?xml"), ("m.dot", b"digraph")]
)
def test_files(tmp_path: Path, name: str, begin: bytes) -> None:
    """The ending of the file decides what is written."""
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    tf.keras.utils.plot_model(model, tmp_path / name)

    assert (tmp_path / name).read_bytes().startswith(begin)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"to_file": "m.jpg"}, "end in .dot, .pdf, .png, .svg"),
        ({"expand_nested": True}, "plot_model(model.layers[1])"),
        ({"rankdir": "XY"}, "'TB' or 'LR'"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    """An error says what to write."""
    with pytest.raises(OptionError) as caught:
        tf.keras.utils.plot_model(branched(), **{"to_file": None} | options)

    assert words in str(caught.value)


def test_without_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Graphviz, the error says so, and names the summary."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(OptionError, match=r"needs Graphviz.*model.summary"):
        tf.keras.utils.plot_model(branched(), None)
