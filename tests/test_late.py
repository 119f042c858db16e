"""SciPy's functions on tensors, whoever is imported first, and no SciPy where nobody imports it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tapemagic.engine.late import LATE, Finder

ROOT = Path(__file__).parents[1]

IMPORTS = {
    "SciPy first": "from scipy.special import {name}\nimport tapemagic as tm",
    "SciPy last": "import tapemagic as tm\nfrom scipy.special import {name}",
    "SciPy on a tape": "import tapemagic as tm\n{name} = lambda x: __import__('scipy').special.{name}(x)",
}

GRADIENT = """
x = tm.constant([1.0, 2.0])
with tm.GradientTape() as tape:
    tape.watch(x)
    y = {name}(x) * x
print(all(tape.gradient(y, x).numpy() != {name}(x).numpy()))
"""
"""If a function left the tape, the gradient would be the function itself."""

WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None
"""


def output_of(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("name", ["softmax", "erf"])
@pytest.mark.parametrize("order", IMPORTS)
def test_the_order_of_imports_does_not_matter(order: str, name: str) -> None:
    """A ufunc and a Python function are on the tape, also through a reference from before."""
    pytest.importorskip("scipy")

    assert output_of((IMPORTS[order] + GRADIENT).format(name=name)) == "True"


def test_with_scipys_array_api() -> None:
    """The same where SciPy wraps its functions for other packages' arrays."""
    pytest.importorskip("scipy")
    code = (IMPORTS["SciPy last"] + GRADIENT).format(name="polygamma").replace("a(x)", "a(1, x)")

    assert output_of(code, SCIPY_ARRAY_API="1") == "True"


def test_scipy_is_not_loaded_for_nobody() -> None:
    """``import tapemagic`` does not import SciPy, nor the rules of its functions."""
    code = (
        "import sys, tapemagic\nprint({'scipy', 'tapemagic.engine.rules.special'} & {*sys.modules})"
    )

    assert output_of(code) == "set()"


def test_without_scipy() -> None:
    """Where SciPy is not installed, there are no cases of its functions, and an import says so as ever."""
    code = """
import tapemagic
from tests.rules import cases_special as c
print(c.CASES, c.SPECIAL, c.PLAIN, c.REFUSED)
try:
    import scipy.special
except ImportError as error:
    print(error)
"""
    lines = output_of(WITHOUT_SCIPY + code).splitlines()

    assert lines[0] == "[] [] [] []"
    assert "scipy" in lines[1]


def test_the_finder_leaves_others_alone() -> None:
    """It answers for the modules in its list, and does not ask itself."""
    finder = Finder()

    assert sum(isinstance(other, Finder) for other in sys.meta_path) == 1
    assert finder.find_spec("json") is None
    assert finder.find_spec("scipy") is None
    assert list(LATE) == ["scipy.special"]


def test_functions_stay_what_they_were() -> None:
    """A Python function of SciPy's keeps its name, its signature and its way with arrays."""
    code = """
import inspect, pickle
import numpy as np
from scipy.special import logsumexp
before = inspect.signature(logsumexp), logsumexp.__doc__, logsumexp.__name__
value = logsumexp(np.arange(6.0).reshape(2, 3), 1, keepdims=True)
import tapemagic
import scipy.special
after = inspect.signature(logsumexp), logsumexp.__doc__, logsumexp.__name__
again = logsumexp(np.arange(6.0).reshape(2, 3), 1, keepdims=True)
print(before == after, np.array_equal(value, again), type(again).__name__)
print(scipy.special.logsumexp is logsumexp, pickle.loads(pickle.dumps(logsumexp)) is logsumexp)
"""
    pytest.importorskip("scipy")

    assert output_of(code).splitlines() == ["True True ndarray", "True True"]
