"""Write docs/tensorflow.md: what there is of Keras's names, and what is refused of TensorFlow's, from their tables."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from tapemagic import tf
from tapemagic.nn.absent import missing_layer
from tapemagic.tf.core.missing import REFUSED, advice_for, refusal
from tools.coverage_table import table

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "tensorflow.md"
NAMES = ROOT / "tests" / "tf" / "values" / "names.json"
"""The public names of TensorFlow 2.21 and Keras 3, which tools/tf_values.py stores."""

HERE, REFUSAL, PLANNED = "yes", "refused", "planned"

DIFFERENCES = """\
- Gradients are dense. If a row of an embedding occurs twice in a batch, Keras's Adam squares both gradients one by one
  on TensorFlow; here, as in Keras on JAX or PyTorch, the row's gradient is their sum.
- `tf.keras.ops.sparsemax` returns probabilities, whose sum is 1; Keras 3.15 on TensorFlow returns others.
- `base(inputs, training=False)` in a functional model stays so while the model is trained, as Keras's guide on transfer
  learning says; Keras 3.15 overrides it, so that batch normalization in an unfrozen base adapts.
- A `tf.Variable` that is an attribute of a layer belongs to its weights, as in Keras 2. Keras 3 only trains the
  variables of `add_weight`.
- The `name` of a layer's variable is `dense/kernel:0`, as TensorFlow 2 prints it in its first tutorials; its `path` is
  Keras 3's `dense/kernel`, without the name of a model around the layer.
- `tf.image.decode_jpeg` is Pillow's: pixels may differ from TensorFlow's by a few of 256 levels.
- Random numbers are NumPy's: a seed repeats them, and they differ from TensorFlow's.
"""
"""Differences on purpose."""


def rows() -> list[tuple[str, str, str, str]]:
    """Each public name of Keras: its namespace, itself, whether it's here, and what to write instead."""
    stored = json.loads(NAMES.read_text(encoding="utf-8"))
    return [
        (namespace, name, *_status(f"tf.{namespace}", name))
        for namespace, names in stored.items()
        if namespace.startswith("keras")
        for name in names
    ]


def _status(namespace: str, name: str) -> tuple[str, str]:
    module: object = tf
    for part in namespace.split(".")[1:]:
        module = getattr(module, part, None)
    if hasattr(module, name):
        return HERE, ""
    advice = refusal(f"{namespace}.{name}")
    if namespace == "tf.keras.layers":
        advice = advice or missing_layer(name)
    if advice:
        return REFUSAL, advice
    return PLANNED, advice_for(namespace, name, [x for x in dir(module) if not x.startswith("_")])


def document() -> str:
    """The whole text of docs/tensorflow.md."""
    found = rows()
    namespaces = list(dict.fromkeys(row[0] for row in found))
    counts = Counter((row[0], row[2]) for row in found)
    kinds = (HERE, REFUSAL, PLANNED)
    lines = [
        "# TensorFlow's and Keras's names",
        "",
        "Change `import tensorflow as tf` to `from tapemagic import tf`, and a notebook that uses these names runs. An",
        "error at the first line that needs another name says what to write instead: it's taken from the tables below.",
        "This page is written by `tools/keras_table.py`.",
        "",
        "## What differs on purpose",
        "",
        DIFFERENCES,
        "## Keras's names",
        "",
        "A name that is *planned* has no replacement of its own yet; the last column says what to write until then.",
        "",
        *table(
            ["Namespace", *kinds],
            [
                *([f"`tf.{x}`", *(str(counts[x, kind]) for kind in kinds)] for x in namespaces),
                ["all", *(str(sum(counts[x, kind] for x in namespaces)) for kind in kinds)],
            ],
        ),
    ]
    for namespace in namespaces:
        missing = [row for row in found if row[0] == namespace and row[2] != HERE]
        here = [
            f"`{name}`" for place, name, status, _ in found if place == namespace and status == HERE
        ]
        lines += ["", f"### tf.{namespace}", ""]
        if here:
            lines += [f"Here: {', '.join(here)}.", ""]
        # Names of one family share their advice: a row for each piece of advice.
        shared: dict[tuple[str, str], list[str]] = {}
        for _, name, status, advice in missing:
            shared.setdefault((status, advice), []).append(f"`{name}`")
        if shared:
            cells = (
                [", ".join(names), status, _cell(advice)]
                for (status, advice), names in shared.items()
            )
            lines += [*table(["Missing", "Status", "Instead"], cells)]
    lines += [
        "",
        "## What is refused of TensorFlow",
        "",
        "With a module, all of its names are refused.",
        "",
        *table(
            ["Name", "Instead"],
            (
                [f"`{name}`", _cell(advice)]
                for name, advice in sorted(REFUSED.items())
                if not name.startswith("tf.keras")
            ),
        ),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    print(f"{DOCUMENT.name}: {len(rows())} names")
