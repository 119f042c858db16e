"""Other libraries: left as they were, loaded by nobody but the user, and followed where NumPy's protocols lead."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import NotATensorError, NotNumbersError, UnsupportedArgumentError
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


@pytest.mark.parametrize(
    ("product", "instead"),
    [
        ("df @ x", "df.to_numpy() @ x"),
        ("(df + 1) @ x", "(df + 1).to_numpy() @ x"),
        ("df['a'].dot(x)", "df['a'].to_numpy() @ x"),
        ("df.mul(x)", ""),
    ],
)
def test_pandas_own_methods_name_a_way(pd: Any, product: str, instead: str) -> None:
    """pandas computes its products and methods with plain arrays; the reason says what to write, and that works."""
    program = f"y = {product}"
    file = f"<{program}>"
    linecache.cache[file] = (len(program), None, [program], file)
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    names: dict[str, Any] = {"df": table, "x": tm.Variable([1.0, 2.0])}
    with tm.GradientTape(persistent=True) as tape:
        exec(compile(program, file, "exec"), names)  # noqa: S102
    with pytest.raises(NotATensorError, match="Plain arrays aren't on the tape"):
        tape.gradient(names["y"], names["x"])
    reason = on_one_line(explained(tape, names))

    if instead:
        y = eval(instead, names)  # noqa: S307
        assert f"Write {instead} instead of {product}." in reason
        assert isinstance(y, tm.Tensor)
        assert np.array_equal(y, names["y"])
    else:
        assert "Use operators such as * and +, or NumPy's functions" in reason


def explained(tape: tm.GradientTape, names: dict[str, Any]) -> Any:
    """The reason, asked where the program's names are."""
    return eval("tape.explain(y, x)", {**names, "tape": tape})  # noqa: S307


# -- xarray ------------------------------------------------------------------------------------------


def test_xarray_holds_tensors() -> None:
    """A DataArray computes with a tensor as with its array; its result has the tensor in ``data``."""
    xr = pytest.importorskip("xarray")
    rows, x = xr.DataArray([[1.0, 2.0], [3.0, 4.0]], dims=("a", "b")), tm.Variable([1.0, 2.0])
    with tm.GradientTape() as tape:
        y = (np.sin(rows * x).mean("a") + (xr.DataArray(x, dims="b") * rows).isel(a=0)).sum()
    with pytest.raises(NotATensorError, match=r"Pass its tensor, with \.data"):
        tape.gradient(y, x)
    a = rows.to_numpy()

    assert np.allclose(tape.gradient(y.data, x), np.mean(a * np.cos(a * [1.0, 2.0]), axis=0) + a[0])


# -- DLPack ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0], [[1, 2]], [True], [1 + 2j]], ids=str)
def test_dlpack_hands_over_a_copy(value: Any) -> None:
    """What another library receives by DLPack it may change: tensors and variables keep their numbers."""
    for x in (tm.constant(value), tm.Variable(value)):
        array = np.from_dlpack(x)
        assert array.dtype == x.dtype
        assert np.array_equal(array, value)
        if array.flags.writeable:  # from NumPy 2.1 on
            array[...] = 0
        assert np.array_equal(x, value)


def test_dlpack_of_a_tracked_value_is_refused() -> None:
    """Under a tape that follows a value, from_dlpack says that it would lose it, and what to write."""
    x, w = tm.Variable(2.0), tm.constant(3.0)
    with tm.GradientTape():
        for tracked in (x, x * 2):
            with pytest.raises(
                UnsupportedArgumentError, match=r"off the tape .* write x.numpy\(\)"
            ):
                np.from_dlpack(tracked)
        assert np.from_dlpack(w) == 3.0
    with pytest.raises(BufferError, match="leave out copy=False"):
        x.__dlpack__(copy=False)


# -- Matplotlib --------------------------------------------------------------------------------------

Plot = Callable[[Any, Any, Any, Any], object]

PLOTS: dict[str, Plot] = {
    "plot": lambda ax, x, y, _: ax.plot(x, y),
    "plot of markers": lambda ax, x, y, _: ax.plot(x, y, "o"),
    "plot of a matrix": lambda ax, _x, _y, z: ax.plot(z),
    "scatter": lambda ax, x, y, _: ax.scatter(x, y, s=y, c=y),
    "bar": lambda ax, x, y, _: ax.bar(x, y, width=y, yerr=y),
    "bar of a list": lambda ax, x, _y, _z: ax.bar(x, [1, 2, 3]),
    "barh": lambda ax, x, y, _: ax.barh(x, y),
    "categories": lambda ax, _x, y, _z: ax.bar(["a", "b", "c"], y),
    "step": lambda ax, x, y, _: ax.step(x, y),
    "stem": lambda ax, x, y, _: ax.stem(x, y),
    "errorbar": lambda ax, x, y, _: ax.errorbar(x, y, yerr=y),
    "fill_between": lambda ax, x, y, _: ax.fill_between(x, y, 0),
    "fill_betweenx": lambda ax, x, y, _: ax.fill_betweenx(x, y),
    "fill": lambda ax, x, y, _: ax.fill(x, y),
    "stackplot": lambda ax, x, y, _: ax.stackplot(x, y, y),
    "hist": lambda ax, _x, y, _z: ax.hist(y),
    "hist2d": lambda ax, x, y, _: ax.hist2d(x, y),
    "boxplot": lambda ax, _x, y, _z: ax.boxplot(y),
    "violinplot": lambda ax, _x, y, _z: ax.violinplot(y),
    "eventplot": lambda ax, _x, y, _z: ax.eventplot(y),
    "hlines": lambda ax, x, y, _: ax.hlines(x, 0, y),
    "vlines": lambda ax, x, y, _: ax.vlines(x, 0, y),
    "axhline": lambda ax, _x, y, _z: ax.axhline(y[0]),
    "quiver": lambda ax, x, y, _: ax.quiver(x, y, y, y),
    "barbs": lambda ax, x, y, _: ax.barbs(x, y, y, y),
    "streamplot": lambda ax, x, _y, z: ax.streamplot(x, x, z, z),
    "imshow": lambda ax, _x, _y, z: ax.imshow(z),
    "pcolormesh": lambda ax, x, _y, z: ax.pcolormesh(x, x, z),
    "contour": lambda ax, x, _y, z: ax.contour(x, x, z),
    "contourf": lambda ax, _x, _y, z: ax.contourf(z),
    "hexbin": lambda ax, x, y, _: ax.hexbin(x, y, gridsize=3),
    "pie": lambda ax, _x, y, _z: ax.pie(y),
    "tricontour": lambda ax, x, y, _: ax.tricontour(x, y**2, y),
    "text": lambda ax, _x, y, _z: ax.text(y[0], y[1], "text"),
    "annotate": lambda ax, _x, y, _z: ax.annotate("", (y[0], y[1]), xytext=(y[1], y[2])),
    "arrow": lambda ax, _x, y, _z: ax.arrow(y[0], y[1], 1.0, 1.0),
    "ecdf": lambda ax, _x, y, _z: ax.ecdf(y),
    "stairs": lambda ax, _x, y, _z: ax.stairs(y),
    "set_xlim": lambda ax, _x, y, _z: ax.set_xlim(y[0], y[2]),
    "set_xticks": lambda ax, _x, y, _z: ax.set_xticks(y),
    "table": lambda ax, _x, _y, z: ax.table(cellText=z),
    "loglog": lambda ax, x, y, _: ax.loglog(x, y),
}

ON_OTHER_AXES: dict[str, tuple[str, Plot]] = {
    "plot_surface": ("3d", lambda ax, _x, _y, z: ax.plot_surface(z, z.T, z)),
    "plot_wireframe": ("3d", lambda ax, _x, _y, z: ax.plot_wireframe(z, z.T, z)),
    "scatter in 3D": ("3d", lambda ax, x, y, _: ax.scatter(x, y, x)),
    "bar3d": ("3d", lambda ax, x, y, _: ax.bar3d(x, y, 0 * x, 1, 1, y)),
    "polar": ("polar", lambda ax, x, y, _: ax.plot(x, y)),
}


@pytest.fixture(scope="module")
def plt() -> Any:
    """Matplotlib, which draws into memory."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    return pytest.importorskip("matplotlib.pyplot")


def plotted_data(make: Any) -> tuple[Any, Any, Any]:
    """Two vectors and a matrix."""
    return (
        make([1.0, 2.0, 3.0]),
        make([2.0, 1.5, 4.0]),
        make([[1.0, 2.0, 3.0], [3.0, 4.0, 8.0], [1.0, 0.5, 2.0]]),
    )


@pytest.mark.filterwarnings("ignore")  # of Matplotlib's, on what such a picture lacks
@pytest.mark.parametrize("make", [tm.constant, tm.Variable])
@pytest.mark.parametrize("turn", [1, -1])
def test_a_tensor_plots_wherever_its_array_does(plt: Any, make: Any, turn: int) -> None:
    """Each kind of plot is drawn after each other on the same axes: forwards and backwards, these are all pairs."""
    figure, axes = plt.subplots(figsize=(2, 2))
    for plot in [*PLOTS.values()][::turn]:
        plot(axes, *plotted_data(make))
    figure.canvas.draw()
    plt.close(figure)


@pytest.mark.parametrize("name", ON_OTHER_AXES)
def test_a_tensor_plots_on_other_axes(plt: Any, name: str) -> None:
    """Plots in space, and in polar coordinates."""
    projection, plot = ON_OTHER_AXES[name]
    figure, axes = plt.subplots(figsize=(2, 2), subplot_kw={"projection": projection})
    plot(axes, *plotted_data(tm.constant))
    figure.canvas.draw()
    plt.close(figure)


@pytest.mark.filterwarnings("ignore")
def test_a_tensor_plots_on_an_axis_of_dates(plt: Any) -> None:
    """Dates are units of Matplotlib: numbers stand beside them."""
    figure, axes = plt.subplots(figsize=(2, 2))
    x, y, _ = plotted_data(tm.constant)
    axes.plot(np.array(["2024-01-01", "2024-01-02", "2024-01-03"], "datetime64[D]"), y)
    axes.bar(x, y)
    figure.canvas.draw()
    plt.close(figure)
