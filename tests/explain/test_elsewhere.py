"""What a gradient lacks is told wherever it is asked: in another function, class, file or cell than the recording."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

START = "import math, numpy as np, tapemagic as tm\nx = tm.Variable(2.0)\n"
RECORD = """
def record(x):
    with tm.GradientTape(persistent=True) as tape:
        y = {y}
    return tape, y
"""

ASKING = {
    "the program": "tape, y = record(x)\nfound = tape.explain(y, x)",
    "a function that receives them": (
        "def ask(tape, target, source):\n    return tape.explain(target, source)\n"
        "tape, y = record(x)\nfound = ask(tape, y, x)"
    ),
    "a function that calls the recording": (
        "def ask():\n    tape, y = record(x)\n    return tape.explain(y, x)\nfound = ask()"
    ),
    "a function that receives a pair": (
        "def ask(pair):\n    return pair[0].explain(pair[1], x)\nfound = ask(record(x))"
    ),
    "a function inside": (
        "def keep():\n    kept = []\n    def inner():\n        kept.append(record(x))\n    inner()\n    return kept\n"
        "[(tape, y)] = keep()\nfound = tape.explain(y, x)"
    ),
    "a method": (
        "class Trainer:\n    def fit(self):\n        self.tape, self.loss = record(x)\n    def ask(self):\n"
        "        return self.tape.explain(self.loss, x)\nt = Trainer()\nt.fit()\nfound = t.ask()"
    ),
    "outside a class": (
        "class Trainer:\n    def fit(self):\n        self.tape, self.loss = record(x)\nt = Trainer()\nt.fit()\n"
        "found = t.tape.explain(t.loss, x)"
    ),
    "a dict": (
        "state = {}\ndef fill():\n    state['tape'], state['y'] = record(x)\n"
        "def ask():\n    return state['tape'].explain(state['y'], x)\nfill()\nfound = ask()"
    ),
    "a list": (
        "kept = []\ndef fill():\n    kept.append(record(x))\nfill()\n"
        "def ask():\n    tape, y = kept[-1]\n    return tape.explain(y, x)\nfound = ask()"
    ),
    "another name": "a, b = record(x)\ndef ask():\n    return a.explain(b, x)\nfound = ask()",
}
"""Programs that ask about a recording made in a function."""


def run(text: str, folder: Path, name: str) -> Any:
    """Run a program as a module of its own, and return it."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("where", ASKING)
@pytest.mark.parametrize("y", ["x**2 + math.sin(x)", "x**2 + x.numpy()"])
def test_asked_elsewhere(where: str, y: str, tmp_path: Path) -> None:
    """The call that lost a part is named."""
    module = run(START + RECORD.format(y=y) + ASKING[where], tmp_path, "asking_elsewhere")

    missing = module.found.missing
    assert f"(y = {y}) turned x into a plain" in missing
    assert (
        "The gradient ignores that part" in missing or "the gradient ignores that part" in missing
    )


@pytest.mark.parametrize("where", [w for w in ASKING if "pair" not in w])
def test_what_is_only_printed(where: str, tmp_path: Path) -> None:
    """A value that is printed or logged while the target is computed loses nothing."""
    record = RECORD.format(y="x**2").replace(
        "        y =", "        log = [float(x)]\n        print(float(x), log)\n        y ="
    )
    module = run(START + record + ASKING[where], tmp_path, "asking_elsewhere")

    assert not module.found.missing


@pytest.mark.parametrize("where", ASKING)
def test_recorded_in_another_file(where: str, tmp_path: Path) -> None:
    """The function that records is in an imported module."""
    run(START + RECORD.format(y="x**2 + math.sin(x)"), tmp_path, "recording_module")
    text = START + "from recording_module import record\n" + ASKING[where]
    module = run(text, tmp_path, "asking_elsewhere")

    assert "(y = x**2 + math.sin(x)) turned" in module.found.missing


def test_without_text() -> None:
    """Where the program's text isn't known, a part may be missing, and the line that evaluates it is named."""
    names: dict[str, Any] = {}
    text = START + RECORD.format(y="x**2 + math.sin(x)") + ASKING["another name"]
    exec(compile(text, "<string>", "exec"), names)  # noqa: S102

    missing = names["found"].missing
    assert 'of test_elsewhere.py (exec(compile(text, "<string>", "exec"), names)' in missing
    assert "If b was computed from the result, the gradient ignores that part" in missing
