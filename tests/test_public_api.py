"""What ``import tapemagic`` offers, and that all of it is explained."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import runpy
import statistics
import subprocess
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapemagic
from tools.reference import public_modules, public_names

PUBLIC = tapemagic.__all__
FOLDERS = {
    "drawing", "engine", "explain", "lazy", "ipython", "kernels", "nbval", "programs", "report", "tape",
    "version",
}  # fmt: skip
EXAMPLES = re.compile(r"Examples\n *-{8}\n\s*\S")
SECTION = re.compile(
    r"^(?:Other )?Parameters\n-+\n((?:.*\n?)*?)(?=^\w[\w ]*\n-{3,}|\Z)", re.MULTILINE
)
NAMES = re.compile(r"^\*{0,2}\w+(?:, \*{0,2}\w+)*(?= *:|$)", re.MULTILINE)
ITEMS = re.compile(r"^- `(\w+)`:", re.MULTILINE)


def test_type_checkers_see_the_public_names() -> None:
    """A stub exports a name if it is imported ``as`` itself, or defined there; here these are all."""
    tree = ast.parse(Path(tapemagic.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    exported = [x.name for node in imports for x in node.names if x.asname == x.name]
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]

    assert sorted(exported + defined) == tapemagic.__all__
    assert {"typing"} == {node.module for node in imports if not node.names[0].asname}


def test_modules_are_imported_when_needed() -> None:
    """A public name is imported when it is first used; a star import, and completion, know them all."""
    code = (
        "import sys, tapemagic\n"
        "pooling = 'tapemagic.engine.operations.pooling'\n"
        "assert pooling not in sys.modules\n"
        "assert 'max_pool2d' in dir(tapemagic)\n"
        "assert pooling not in sys.modules\n"
        "assert tapemagic.max_pool2d is sys.modules[pooling].max_pool2d\n"
        "assert 'max_pool2d' in vars(tapemagic)\n"
        "assert not {'tapemagic.nn', 'tapemagic.tf'} & set(sys.modules)\n"
        "tapemagic.nn.Dense, tapemagic.tf.math\n"
        "from tapemagic import *\n"
        "assert set(tapemagic.__all__) <= set(globals())\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_types_for_checkers_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """What mypy and Pyright read of a user's program, when `make types` checks it, is so when it runs."""
    stated = []

    def check(value: Any, kind: Any) -> None:
        kinds = typing.get_args(kind) if isinstance(kind, types.UnionType) else [kind]
        assert isinstance(value, tuple(typing.get_origin(each) or each for each in kinds))
        stated.append(value)

    monkeypatch.setattr(typing, "assert_type", check)
    runpy.run_path(str(Path(__file__).parent / "typing" / "user_program.py"))

    assert len(stated) > 60


def test_completion_without_running() -> None:
    """Editors complete by jedi, which only reads the code: also the tape of a ``with`` block."""
    jedi = pytest.importorskip("jedi")
    expected = {
        "with tm.GradientTape() as t:\n    t.explai": "explain",
        "tm.nn.Bidirect": "Bidirectional",
    }
    for code, name in expected.items():
        lines = f"import tapemagic as tm\n{code}".splitlines()
        found = jedi.Script("\n".join(lines)).complete(len(lines), len(lines[-1]))

        assert [name] == [each.name for each in found]


def test_no_such_name() -> None:
    """A name that is not public raises Python's own error."""
    with pytest.raises(AttributeError, match="module 'tapemagic' has no attribute 'tanh'"):
        tapemagic.tanh  # noqa: B018


def test_all_is_what_is_there() -> None:
    """No public name of ours is left out of ``__all__``; folders of the package are no offer."""
    for name in PUBLIC:
        getattr(tapemagic, name)  # the first mention loads it
    there = {name for name, offered in vars(tapemagic).items() if ours(offered)}

    assert set(PUBLIC) == {name for name in there - FOLDERS if not name.startswith("_")}


def ours(offered: Any) -> bool:
    """Whether an object is this package's, and not what a module needs to explain its types."""
    origin = offered.__name__ if inspect.ismodule(offered) else getattr(offered, "__module__", "")
    return origin.partition(".")[0] == "tapemagic"


def test_version() -> None:
    """There is a version number, and it is one that pip understands."""
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|(a|b|rc)\d+)?", tapemagic.__version__)


def undocumented(name: str, offered: Any) -> str | None:
    """What the documentation of a public object lacks, in words."""
    doc = vars(offered).get("__doc__") if inspect.isclass(offered) else offered.__doc__
    if not doc:
        return f"{name} has no docstring"
    if not EXAMPLES.search(doc) and not inspect.ismodule(offered):
        return f"{name} has no example in its docstring"
    return None


@pytest.mark.parametrize("name", PUBLIC)
def test_documented(name: str) -> None:
    """Every public name has a docstring; classes and functions have an example in it."""
    assert undocumented(name, getattr(tapemagic, name)) is None


def of_package(package: str) -> Iterator[tuple[str, Any]]:
    """The public classes and functions of a package and its public modules, by their full names."""
    for path, module in public_modules().items():
        if path == package or path.startswith(f"{package}."):
            for name in public_names(module):
                offered = getattr(module, name)
                if inspect.isclass(offered) or inspect.isroutine(offered):
                    yield f"{path}.{name}", offered


def test_networks_are_documented() -> None:
    """All that tapemagic.nn offers has a docstring with an example."""
    lacks = {name: undocumented(name, offered) for name, offered in of_package("tapemagic.nn")}

    assert len(lacks) > 200
    assert list(filter(None, lacks.values())) == []


def named_parameters(doc: str | None) -> set[str]:
    """The names in the sections of parameters of a docstring, or at the beginning of the items of a list."""
    doc = inspect.cleandoc(doc or "")
    lines = [line for section in SECTION.finditer(doc) for line in NAMES.findall(section[1])]
    return {name for line in [*lines, *ITEMS.findall(doc)] for name in re.findall(r"\w+", line)}


def undocumented_parameters(offered: Any, others: dict[str, Any]) -> set[str]:
    """The parameters that neither an object's docstring nor one that applies to it describes.

    These are the docstrings of the base classes, of the package, and of `others` to which the object's docstring says
    "see". A function of a few parameters may describe them in its sentences instead.
    """
    kinds = (
        [k for k in offered.__mro__ if k is not object] if inspect.isclass(offered) else [offered]
    )
    docs = [k.__doc__ or "" for k in kinds]
    seen = [name for doc in docs for name in re.findall(r"\b[Ss]ee `(?:\w+\.)*(\w+)`", doc)]
    docs += [others[name].__doc__ for name in seen if name in others]
    modules = [".".join(k.__module__.split(".")[:3]) for k in kinds]
    docs += [sys.modules[name].__doc__ for name in modules]

    documented = set[str]().union(*map(named_parameters, docs))
    if not inspect.isclass(offered):
        sentences = f"{offered.__doc__} {docs[-1]}"
        documented |= {
            n for code in re.findall(r"`([^`]+)`", sentences) for n in re.findall(r"\w+", code)
        }
    parameters = inspect.signature(offered).parameters.values()
    return {p.name for p in parameters if p.kind is not p.VAR_KEYWORD} - documented


def test_parameters_of_networks_are_documented() -> None:
    """Each parameter in tapemagic.nn is described: by the object itself, or where all objects of its kind are."""
    offered = dict(of_package("tapemagic.nn"))
    others = {name.rpartition(".")[2]: value for name, value in offered.items()}
    lacks = {name: undocumented_parameters(value, others) for name, value in offered.items()}

    assert {name: missing for name, missing in lacks.items() if missing} == {}


def test_an_undescribed_parameter_is_found() -> None:
    """A parameter counts where the base class describes it, and not where it only takes it."""

    class Base:
        """A base class.

        Parameters
        ----------
        name, label : str
            Words.
        """

        def __init__(self, name: str, label: str, size: int) -> None:
            self.name, self.label, self.size = name, label, size

    class Derived(Base):
        """A class of which `color` is no parameter that a section describes."""

        def __init__(self, name: str, label: str, size: int, color: str) -> None:
            super().__init__(name, label, size)
            self.color = color

    assert undocumented_parameters(Base, {}) == {"size"}
    assert undocumented_parameters(Derived, {}) == {"size", "color"}


def test_names_of_tensorflow_are_documented() -> None:
    """All that tapemagic.tf offers has a docstring."""
    lacks = [undocumented(name, offered) for name, offered in of_package("tapemagic.tf")]

    assert len(lacks) > 500
    assert [words for words in lacks if words and words.endswith("no docstring")] == []


def test_public_names_can_be_pickled() -> None:
    """Classes and functions are found again by their names, as processes that share work need."""
    for package in ("tapemagic.nn", "tapemagic.tf"):
        for name, offered in of_package(package):
            assert pickle.loads(pickle.dumps(offered)) is offered, name  # noqa: S301 (our own bytes)


def test_a_missing_docstring_is_found() -> None:
    """The check above can fail: for a class without words, and for words without an example."""

    class Bare(tapemagic.errors.TapeError):
        pass

    def described() -> None:
        """Says what it does, but shows nothing."""

    assert undocumented("Bare", Bare) == "Bare has no docstring"
    assert undocumented("described", described) == "described has no example in its docstring"


V = tapemagic.Variable([1.0, 2.0])
X = tapemagic.Variable(2.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tapemagic.GradientTape(1, 2, 3), "GradientTape.__init__() takes from 1 to 3"),
        (lambda: tapemagic.GradientTape().gradient(X), "GradientTape.gradient() missing 1"),
        (lambda: tapemagic.GradientTape().watch(), "GradientTape.watch() missing 1"),
        (lambda: tapemagic.GradientTape().stop_recording(1), "GradientTape.stop_recording() takes"),
        (lambda: pow(V, 2, 3), "Tensor.__pow__() takes 2 positional arguments"),
        (lambda: statistics.mean(V), "a Tensor isn't an exact fraction"),
        (lambda: hash(V[0]), "a Tensor cannot be in a set"),
        (lambda: hash(V), "a Variable cannot be in a set"),
        (lambda: tape_of(X).gradient(X, "w"), "Pass the tensor itself, without quotation marks: w"),
        (lambda: tapemagic.value_and_grad(lambda x: (x, 1))(2.0), "return only the value to"),
    ],
)
def test_errors_name_what_the_user_wrote(call: Callable[[], Any], words: str) -> None:
    """No class or function appears in a message that a program cannot know."""
    with pytest.raises(TypeError, match=re.escape(words)):
        call()


def tape_of(*watched: Any) -> tapemagic.GradientTape:
    """A tape that recorded nothing but what it watches."""
    with tapemagic.GradientTape() as tape:
        tape.watch(watched)
    return tape


def test_a_function_made_by_frompyfunc_has_a_name_that_can_be_written() -> None:
    """The message for it contains Python, and no remark of NumPy's."""
    function = np.frompyfunc(lambda x: x * x, 1, 1)
    with (
        tapemagic.GradientTape(),
        pytest.raises(
            tapemagic.errors.NoDerivativeError, match=r"^np.frompyfunc\(<lambda>, ...\) "
        ),
    ):
        function(V)
