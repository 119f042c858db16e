"""Who may import whom, read from the source with ast; and what ``import tapemagic`` loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

import tapemagic
from tapemagic.report.tabs import TABS, Tab

PACKAGE = Path(tapemagic.__file__).parent

_VALUES = (
    *("errors", "engine.laziness", "engine.registry", "engine.recording"),
    *("engine.events", "engine.tracing"),
    "engine.tensor",
)
_TAPE = (*_VALUES, "engine.nest", "engine.operations", "engine.tape")

_READING = (
    *("explain.snapshot", "explain.lazy_values", "explain.formatting"),
    *("explain.parts", "explain.observed_sweep"),
)

# A module, or all of a folder, and what it may import of this package beside itself.
ALLOWED: dict[str, tuple[str, ...]] = {
    "": ("errors", "engine", "tape", "programs", "ipython", "version"),
    "errors": (),
    "version": (),
    "nbval": (),
    "engine": ("engine.tensor",),
    "engine.registry": ("errors",),
    "engine.recording": ("errors", "engine.registry"),
    "engine.events": ("errors", "engine.registry", "engine.recording"),
    "engine.runtime": (),
    "engine.laziness": ("errors",),
    "engine.tracing": ("engine.laziness",),
    "engine.effects": ("engine.tracing",),
    "engine.tracebacks": ("engine.events",),
    "engine.tensor": _VALUES,
    "engine.nest": _VALUES,
    "engine.scopes": (*_VALUES, "engine.nest"),
    "engine.operations": (*_VALUES, "engine.nest"),
    "engine.rules": (*_VALUES, "engine.nest", "engine.operations"),
    "engine.tape": (*_VALUES, "engine.nest", "engine.scopes", "engine.operations"),
    "engine.functions": _TAPE,
    "engine.gradcheck": _TAPE,
    "explain": ("errors", "engine"),
    "explain.snapshot": ("errors", "engine"),
    "explain.lazy_values": ("engine",),
    "explain.formatting": ("errors", "engine", "explain.lazy_values"),
    "explain.parts": ("errors", "engine", "explain.snapshot"),
    "explain.observed_sweep": ("errors", "engine"),
    "explain.mistakes": ("errors", "engine"),
    "explain.likely_mistake": ("errors", "engine", *_READING, "explain.mistakes"),
    "report": ("errors", "engine", "programs", "explain"),
    "drawing": ("errors", "engine.runtime", "explain", "report"),
    "nn.datasets": ("errors",),
    "kernels": ("engine",),
    "programs": ("errors", "engine", "kernels"),
    "programs.program": (),
    "programs.code_names": ("programs.program",),
    "programs.object_kinds": ("engine.events",),
    "programs.tracing.dynamic_shapes": (),
    "programs.reasons": ("engine.events", "programs.tracing.dynamic_shapes"),
    "programs.side_effects": ("engine", "programs.object_kinds", "programs.reasons"),
    "lazy": ("errors", "engine"),
    "distributed": ("errors", "engine", "lazy"),
    "tape": ("engine", "explain", "report", "programs"),
    "ipython": ("errors", "engine", "explain", "report", "drawing", "tape", "programs", "lazy"),
    "nn": ("errors", "engine", "tape", "explain", "programs", "distributed"),
    "tf": ("errors", "engine", "tape", "nn", "programs", "version"),
    "tf.keras.model_plot": ("errors", "engine", "nn", "drawing.engines"),
}

# What a report found becomes text, HTML, pictures and widgets here: the only modules of `report` that may draw are
# whose names begin with show_ or live_, wherever they are, and these.
SHOWING_NAMES = ("show_", "live_")
SHOWING = (
    *("report.limits", "report.text", "report.html", "report.latex", "report.live"),
    *("report.tapegraph", "report.function_code", "report.bundle"),
)

# The same for packages from elsewhere, beside the standard library.
ALLOWED_OUTSIDE: dict[str, tuple[str, ...]] = {
    "": ("IPython",),
    "errors": (),
    "version": (),
    "nbval": (),
    "engine": ("numpy",),
    "engine.rules.special": ("numpy", "scipy"),
    "explain": ("numpy", "executing"),
    "report": ("numpy", "executing", "IPython"),
    "report.live.widget": ("anywidget", "ipywidgets", "traitlets"),
    "drawing": ("numpy", "graphviz", "pygraphviz", "IPython"),
    "nn.datasets": ("numpy", "tqdm"),
    "tf.ops.special": ("numpy", "scipy"),
    "tf.io": ("numpy", "PIL"),
    "tf.keras.pictures": ("numpy", "PIL"),
    "nn.callbacks": ("numpy", "tqdm", "tensorboard"),
    "programs": ("numpy",),
    "lazy": ("numpy", "dask"),
    "distributed": ("numpy", "cloudpickle", "dask", "distributed"),
    "ipython": ("numpy", "ipywidgets", "IPython", "traitlets"),
    "nn": ("numpy", "tqdm"),
    "nn.saving": ("numpy", "h5py"),
    "tf": ("numpy",),
}


def modules(package: Path) -> dict[str, Path]:
    """Every module under a package by its dotted name, the package's own being the empty one."""
    named = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        named[".".join(part for part in parts if part != "__init__")] = path
    return named


def below(name: str, folder: str) -> bool:
    """Whether a module is the other one, or inside it."""
    return name == folder or name.startswith(f"{folder}.")


def is_show_side(name: str) -> bool:
    """Whether a module of `report` may draw."""
    is_named_so = name.startswith("report.") and name.rpartition(".")[2].startswith(SHOWING_NAMES)
    return is_named_so or any(below(name, folder) for folder in SHOWING)


ALLOWED |= {
    name: ("errors", "engine.runtime", "explain", "report", "drawing")
    for name in modules(PACKAGE)
    if is_show_side(name)
}


def is_private(name: object) -> bool:
    """Whether something is a name with one underscore in front."""
    return (
        isinstance(name, str) and name.startswith("_") and name != "_" and not name.startswith("__")
    )


NAME_OF = {
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.Constant: "value",
}


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a syntax tree but for operators and contexts: `ast.walk` takes thrice as long."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for field in node._fields:
            value = getattr(node, field)
            if isinstance(value, list):
                left += [x for x in value if isinstance(x, ast.AST)]
            elif isinstance(value, ast.AST) and field not in {"ctx", "op"}:
                left.append(value)


@cache
def nodes(path: Path) -> list[ast.AST]:
    """The nodes of a file's syntax tree that import something, or have a private name."""
    found = []
    for node in walk(ast.parse(path.read_text(encoding="utf-8"))):
        kind = type(node)
        if (
            is_private(getattr(node, NAME_OF[kind]))
            if kind in NAME_OF
            else kind in {ast.Import, ast.ImportFrom}
        ):
            found.append(node)
    for node in found:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.body = []  # no tree is kept, which the garbage collector would look at in all other tests
    return found


def import_statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The import statements anywhere in a file."""
    return [node for node in nodes(path) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(path: Path, package: str, known: dict[str, Path]) -> Iterator[tuple[str, bool]]:
    """What a file imports anywhere in it: a name, and whether it is this package's own."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            assert node.module
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [n if n.partition(".")[2] in known else node.module for n in inside]
        for name in names:
            top, _, rest = name.partition(".")
            yield (rest, True) if top == package else (top, False)


def entry(name: str, table: dict[str, tuple[str, ...]]) -> str | None:
    """The line of a table that speaks for a module: the longest that it is below."""
    return max((key for key in table if below(name, key)), key=len, default=None)


def missing_lines(package: Path) -> list[str]:
    """The modules for which the table has no line of their own, or only their whole folder's."""
    return [
        name
        for name in modules(package)
        if entry(name, ALLOWED) in {None, "engine"} and name != "engine"
    ]


def violations(package: Path, name: str = "tapemagic") -> list[str]:
    """The imports that the two tables do not allow, as sentences."""
    known = modules(package)
    found = []
    for module, path in known.items():
        line, outside = entry(module, ALLOWED), entry(module, ALLOWED_OUTSIDE)
        if line is None or outside is None:
            continue
        for target, own in imported(path, name, known):
            if own and (target == "" or not any(below(target, x) for x in (*ALLOWED[line], line))):
                found.append(f"{module} imports {target or name}")
            elif not own and target not in {*ALLOWED_OUTSIDE[outside], *sys.stdlib_module_names}:
                found.append(f"{module} imports {target}")
    return found


def needed_by(module: str, between: dict[str, set[str]]) -> set[str]:
    """All modules that a module imports, by itself or through others."""
    found, left = set[str](), [module]
    while left:
        new = between.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def drawing_finders(package: Path) -> list[str]:
    """The modules called find_..., anywhere in `report`, that import something which draws, as sentences."""
    between = imports_between(package)
    return [
        f"{module} needs {other}"
        for module in between
        if module.startswith("report.") and module.rpartition(".")[2].startswith("find_")
        for other in sorted(needed_by(module, between))
        if below(other, "drawing") or is_show_side(other)
    ]


def test_finding_needs_nothing_that_draws() -> None:
    """What a report finds is data: no `find_*.py`, nor anything that it imports, knows of pictures and pages."""
    finders = [m for m in modules(PACKAGE) if m.startswith("report.") and ".find_" in m]

    assert len(finders) >= len(TABS)
    assert [] == drawing_finders(PACKAGE)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("report/tabs/new/find_new.py", "from tapemagic.drawing import dot"),
        ("report/tabs/new/find_new.py", "from tapemagic.report.tabs.new import show_new"),
        ("report/tabs/new/find_new.py", "def f():\n    import tapemagic.report.tabs.new.live_new"),
        ("report/tabs/new/helper.py", "from tapemagic.report.html import page"),
    ],
)
def test_a_planted_find_that_draws_is_found(tmp_path: Path, module: str, line: str) -> None:
    """The check above can fail, also where a module between them does it."""
    for path in (
        "drawing/dot",
        "report/html",
        "report/tabs/new/show_new",
        "report/tabs/new/live_new",
    ):
        plant(tmp_path / f"{path}.py", "")
    plant(tmp_path / "report/tabs/new/find_new.py", "from tapemagic.report.tabs.new import helper")
    plant(tmp_path / "report/tabs/new/helper.py", "")
    plant(tmp_path / module, line)

    [sentence] = drawing_finders(tmp_path)
    assert sentence.startswith("report.tabs.new.find_new needs ")


def test_an_analysis_loads_nothing_that_draws() -> None:
    """The registry imports what shows a tab only when it is shown, and the text of programs when it is requested."""
    loaded = loaded_by(
        "import tapemagic.report.analysis; from tapemagic.report.tabs import TABS; "
        "[tab.find for tab in TABS if tab.name != 'code']"
    )

    assert "tapemagic.report.tabs.graph.find_graph" in loaded
    assert [] == [m for m in loaded if m.startswith(("tapemagic.drawing", "tapemagic.programs"))]


@pytest.mark.parametrize("tab", TABS, ids=[tab.name for tab in TABS])
def test_a_tab_is_its_folder_and_its_entry(tab: Tab) -> None:
    """The functions that the registry imports by name are there."""
    names = modules(PACKAGE)

    assert callable(tab.find)
    assert callable(tab.show.text)
    assert callable(tab.show.html)
    assert tab.live is None or callable(tab.live.html)
    assert tab.is_live == (f"report.tabs.{tab.name}.live_{tab.name}" in names)


def test_every_folder_of_a_tab_has_an_entry() -> None:
    """No tab is forgotten in the registry."""
    folders = {m.split(".")[2] for m in modules(PACKAGE) if m.startswith("report.tabs.")}

    assert {tab.name for tab in TABS} == folders


def test_every_module_has_its_place() -> None:
    """A new module is added to the table, so that somebody decides where it stands."""
    assert [] == missing_lines(PACKAGE)


def test_imports_point_downwards() -> None:
    """No module imports one which it is not to know."""
    assert [] == violations(PACKAGE)


def imports_between(package: Path, name: str = "tapemagic") -> dict[str, set[str]]:
    """The modules that each module imports, both by their dotted names."""
    known = modules(package)
    return {
        module: {target for target, own in imported(path, name, known) if own} - {module}
        for module, path in known.items()
    }


def test_no_import_cycle() -> None:
    """Neither modules nor folders import each other in a circle, also by imports inside of functions."""
    between = imports_between(PACKAGE)
    folders: dict[str, set[str]] = {}
    for module, targets in between.items():
        here = str(entry(module, ALLOWED))
        there = {str(entry(target, ALLOWED)) for target in targets}
        folders.setdefault(here, set()).update(there - {here, ""})

    assert list(TopologicalSorter(between).static_order())
    assert list(TopologicalSorter(folders).static_order())


def test_a_planted_cycle_is_found(tmp_path: Path) -> None:
    """The check above can fail."""
    plant(tmp_path / "engine/tape/tape.py", "from tapemagic.engine.tape import sweep")
    plant(tmp_path / "engine/tape/sweep.py", "def f():\n    from tapemagic.engine.tape import tape")

    with pytest.raises(CycleError):
        list(TopologicalSorter(imports_between(tmp_path)).static_order())


@pytest.mark.parametrize(
    ("module", "line", "sentence"),
    [
        ("engine/tape/tape.py", "from tapemagic.engine import rules", "engine.tape.tape imports engine.rules"),
        ("engine/tape/sweep.py", "import tapemagic.engine.rules", "engine.tape.sweep imports engine.rules"),
        ("engine/rules/fft.py", "from tapemagic.engine.tape import tape", "engine.rules.fft imports engine.tape.tape"),
        ("engine/rules/fft.py", "def f():\n    import scipy", "engine.rules.fft imports scipy"),
        ("engine/tensor/tensor.py", "import IPython", "engine.tensor.tensor imports IPython"),
        ("explain/snapshot.py", "from tapemagic import tape", "explain.snapshot imports tape"),
        ("drawing/dot.py", "from tapemagic.engine import tape", "drawing.dot imports engine.tape"),
        ("drawing/dot.py", "import tapemagic", "drawing.dot imports tapemagic"),
    ],
)  # fmt: skip
def test_a_planted_violation_is_found(
    tmp_path: Path, module: str, line: str, sentence: str
) -> None:
    """The checker notices an import that points upwards, however it is written."""
    for path in (
        "__init__",
        "engine/rules/__init__",
        "engine/tape/__init__",
        "engine/tape/tape",
        "tape",
    ):
        plant(tmp_path / f"{path}.py", "")
    plant(tmp_path / module, line)

    assert [sentence] == violations(tmp_path)


def plant(path: Path, source: str) -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")


def test_a_module_without_a_place_is_found(tmp_path: Path) -> None:
    """The checker notices a module that the table does not know."""
    plant(tmp_path / "engine" / "newcomer.py", "")
    plant(tmp_path / "newcomer.py", "")

    assert ["engine.newcomer", "newcomer"] == missing_lines(tmp_path)


HEAVY = ("IPython", "ipywidgets", "anywidget", "graphviz", "pygraphviz", "pytest", "matplotlib")


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after a statement, and had not before it."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True, check=True, timeout=60
    )  # fmt: skip
    return set(run.stdout.split())


def packages(modules: set[str]) -> list[str]:
    """The packages of modules that are not of the standard library."""
    return sorted({name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names))


def test_import_loads_numpy_and_nothing_else() -> None:
    """``import tapemagic`` stays light: notebooks, layers, TensorFlow's names and programs come when asked for."""
    loaded = loaded_by("import tapemagic")

    assert ["numpy", "tapemagic"] == packages(loaded)
    later = ("tapemagic.nn", "tapemagic.tf", "tapemagic.programs")
    assert [] == [name for name in loaded if name.startswith(later)]


def test_computing_needs_no_notebook() -> None:
    """Gradients, programs and models load nothing that a notebook or a picture needs."""
    loaded = loaded_by(
        "import numpy as np, tapemagic as tm; from tapemagic import nn; f = lambda x: np.sum(np.sin(x) * x); "
        "tm.hessian(f)(np.ones(2)); g = tm.function(tm.grad(f)); g(np.ones(2)), g(np.ones(2)); "
        "tm.check_gradients(f, np.ones(2)); model = nn.Sequential([nn.Dense(1)]); model.compile('sgd', 'mse'); "
        "model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)"
    )

    drawing = {"anywidget", "graphviz", "IPython", "ipywidgets", "pygraphviz", "traitlets"}
    assert drawing.isdisjoint(packages(loaded))


@pytest.mark.thorough
def test_a_heavy_import_is_found() -> None:
    """The check above could fail: it sees each of the packages that it is to keep out."""
    there = {package for package in HEAVY if find_spec(package)}

    assert {"IPython", "pytest"} <= there <= loaded_by(f"import tapemagic, {', '.join(there)}")
