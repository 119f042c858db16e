"""Other libraries: left as they were, loaded by nobody but the user, and followed where NumPy's protocols lead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import NotNumbersError
from tests.conformance.programs import raised_by

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[1]

# -- in a fresh process ------------------------------------------------------------------------------

SNAPSHOT = """
import sys, types
import numpy as np, scipy.special
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()

def state():
    found = {("sys", name): list(getattr(sys, name)) for name in ("meta_path", "path_hooks", "path")}
    for module in (np, np.linalg, np.fft, np.random, scipy, scipy.special, __import__("builtins")):
        for name, value in list(vars(module).items()):
            if name.startswith("__") or name == "test":
                continue
            found[module.__name__, name] = value
            parts = list(vars(value).items()) if isinstance(value, type) else []
            for part, inner in [("", value), *parts]:
                if isinstance(inner, types.FunctionType):
                    inner = (inner, inner.__code__, inner.__defaults__, str(inner.__kwdefaults__))
                found[module.__name__, name, part] = inner
    return found

before = state()
import tapemagic as tm
tm.load_ipython_extension(shell)
from tapemagic.engine import registry
registry.complete()
v = tm.Variable([1.0, 2.0])
with tm.GradientTape(persistent=True) as tape:
    y = np.sum(scipy.special.erf(v)) + np.poly1d(v)(2.0) + np.sum(scipy.special.softmax(v)) + np.linalg.norm(v)
tape.gradient(y, v), tape.jacobian(y, v), tape.explain(y, v)
shell.run_cell_magic("tape", "w", "w = 2.0\\nz = w * w")
tm.unload_ipython_extension(shell)
after = state()
print([key for key in before if before[key] is not after.get(key) and before[key] != after.get(key)])
new = [key for key in after if key not in before and not isinstance(after[key], types.ModuleType)]
print([key for key in new if key[0] != "builtins"])  # IPython takes exit and quit away, and puts them back
"""

IMPORTS = {
    "SciPy first": "from scipy.special import {names}\nimport tapemagic as tm",
    "SciPy last": "import tapemagic as tm\nfrom scipy.special import {names}",
    "SciPy on a tape": (
        "import tapemagic as tm\nerf = lambda x: __import__('scipy').special.erf(x)\n"
        "lambertw = lambda x: __import__('scipy').special.lambertw(x)"
    ),
    "SciPy after the table": (
        "import tapemagic as tm\nfrom tapemagic.engine.registry import complete\ncomplete()\n"
        "import sys; assert 'scipy' not in sys.modules\nfrom scipy.special import {names}"
    ),
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
import tapemagic
from tapemagic.engine import registry
registry.complete()
from tests.rules import cases_special as c
print(c.CASES, c.SPECIAL, c.PLAIN, c.REFUSED)
try:
    import scipy.special
except ImportError as error:
    print(error)
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


def test_others_stay_as_they_were(tmp_path: Path) -> None:
    """Importing, loading the extension and differentiating change nothing in NumPy, SciPy, builtins and sys."""
    pytest.importorskip("scipy")
    printed = output_of(SNAPSHOT, IPYTHONDIR=str(tmp_path)).splitlines()

    assert printed[-2:] == ["[]", "[]"]


@pytest.mark.parametrize("order", IMPORTS)
def test_the_order_of_imports_does_not_matter(order: str) -> None:
    """SciPy's ufuncs, and functions of its Python code, are on the tape, also through a reference from before."""
    pytest.importorskip("scipy")
    code = [IMPORTS[order].format(names="erf, lambertw")]
    code += [GRADIENT.format(name=name) for name in ("erf", "lambertw")]

    assert output_of("\n".join(code)) == "True\nTrue"


def test_scipy_is_loaded_by_the_user_alone() -> None:
    """Neither ``import tapemagic`` nor the whole table imports SciPy, or the rules of its functions."""
    code = (
        "import sys, tapemagic\nfrom tapemagic.engine import registry\nregistry.complete()\n"
        "print({'scipy', 'tapemagic.engine.rules.special'} & {*sys.modules})"
    )

    assert output_of(code) == "set()"


def test_without_scipy() -> None:
    """Where SciPy is not installed, there are no cases of its functions, and an import says so as ever."""
    lines = output_of(WITHOUT_SCIPY).splitlines()

    assert lines[0] == "[] [] [] []"
    assert "scipy" in lines[1]


# -- ways out, with a reason -------------------------------------------------------------------------


def on_one_line(explanation: Any) -> str:
    """The text of a reason."""
    return " ".join(str(explanation).split())


def test_scipys_python_functions_name_a_way() -> None:
    """Where SciPy makes plain arrays of its arguments, the reason says what to write instead."""
    sp = pytest.importorskip("scipy.special")
    x, w = tm.Variable([1.0, 2.0]), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        a = w * sp.softmax(x)
        b = w * sp.logsumexp(x)
        c = w * sp.polygamma(1, x)
        d = w * sp.comb(x, 1.0)
    found = list(
        map(
            on_one_line,
            [tape.explain(a, x), tape.explain(b, x), tape.explain(c, x), tape.explain(d, x)],
        )
    )

    assert "Write tapemagic.softmax(x, axis)" in found[0]
    assert "Write tapemagic.logsumexp(x, axis)" in found[1]
    assert "scipy.special.zeta(n + 1, x)" in found[2]
    assert "scipy.special.binom(n, k)" in found[3]


def test_poly1d_holds_its_tensor() -> None:
    """A polynomial made of a tensor computes on the tape, and keeps zeros in front, which have gradients."""
    x = tm.constant([0.0, 2.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.poly1d(x)(3.0)

    assert np.poly1d(x).order == 1
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 1.0]


def test_poly1d_given_to_numpy_names_a_way() -> None:
    """To NumPy's functions such a polynomial is an array, and the reason says what to give them."""
    x, w = tm.Variable([1.0, 2.0]), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        p = np.poly1d(x)
        a = w * np.polyval(p, 2.0)

    assert "or pass p.coeffs to the functions" in on_one_line(tape.explain(a, x))


# -- pandas ------------------------------------------------------------------------------------------

OPERATORS = ("add", "sub", "mul", "truediv", "pow", "mod")


@pytest.fixture(scope="module")
def pd() -> Any:
    """The library pandas, where it is installed."""
    return pytest.importorskip("pandas")


@pytest.mark.parametrize("value", [2.0, [2.0, 3.0]], ids=["number", "array"])
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kind", ["Series", "DataFrame"])
def test_pandas_beside_a_tensor(pd: Any, kind: str, name: str, value: Any) -> None:
    """A Series or DataFrame on either side computes as its array does: a tensor, on the tape."""
    import operator

    data = getattr(pd, kind)([1.5, 2.5]) if kind == "Series" else pd.DataFrame([[1.5, 2.5]])
    function = getattr(operator, name)
    for turn in (1, -1):
        x = tm.Variable(value)
        with tm.GradientTape(persistent=True) as tape:
            y = function(*(x, data)[::turn])
            expected = function(*(x, data.to_numpy())[::turn])

        assert isinstance(y, tm.Tensor)
        assert y.numpy().tolist() == expected.numpy().tolist()
        assert tape.gradient(y, x).numpy().tolist() == tape.gradient(expected, x).numpy().tolist()


@pytest.mark.parametrize(
    "function",
    [
        np.dot,
        np.linalg.solve,
        np.add,
        lambda a, x: np.mean(np.square(a - x)),
        lambda a, x: np.einsum("ij,j->i", a, x),
        lambda a, x: np.subtract.outer(x, a),
        lambda a, x: np.concatenate([a, x[None]]),
    ],
)
def test_pandas_in_functions(pd: Any, function: Any) -> None:
    """NumPy's functions of a DataFrame and a tensor have the gradients of its array."""
    table = pd.DataFrame([[1.0, 2.0], [3.0, 5.0]])
    x = tm.Variable([1.0, 2.0])
    with tm.GradientTape(persistent=True) as tape:
        y, expected = function(table, x), function(table.to_numpy(), x)

    assert tape.gradient(y, x).numpy().tolist() == tape.gradient(expected, x).numpy().tolist()


def test_pandas_product_names_itself(pd: Any) -> None:
    """The operator @ of a DataFrame on the left is pandas' own: the value leaves the tape, which says so."""
    table = pd.DataFrame([[1.0, 2.0], [3.0, 5.0]])

    x, w = tm.Variable([1.0, 2.0]), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = w * (table @ x)

    assert "so the tape lost track of it" in on_one_line(tape.explain(y, x))
    assert np.allclose(tm.constant([1.0, 2.0]) @ table, [7.0, 12.0])


def test_pandas_data_may_change_afterwards(pd: Any) -> None:
    """The tape keeps the values that a Series had."""
    series, x = pd.Series([1.0, 2.0]), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = x * series
    series.iloc[0] = 100.0

    assert tape.gradient(y, x).numpy() == 3.0


def test_pandas_text_is_refused(pd: Any) -> None:
    """A Series of text is none of numbers."""
    x = tm.constant(1.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        assert isinstance(raised_by(lambda: x * pd.Series(["a"])), NotNumbersError)


def test_pandas_comparisons(pd: Any) -> None:
    """A comparison gives truth values, in a Series that selects from it."""
    series = pd.Series([1.0, 3.0])

    assert series[series > tm.constant(2.0)].tolist() == [3.0]
    assert series[tm.constant(2.0) < series].tolist() == [3.0]
