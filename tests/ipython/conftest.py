"""One IPython shell for all tests, with a fresh namespace and fresh magics for each."""

from __future__ import annotations

import gc
import linecache
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tapemagic.engine.events import CELL_FILE
from tapemagic.ipython import magics
from tests.ipython.kernels import Kernel, kernel

Run = Callable[[str], Any]
IMPORTS = "import numpy as np\nimport tapemagic as tm"


@pytest.fixture(scope="session")
def plain_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    """A shell without history and without the extension."""
    config = Config()
    config.HistoryManager.enabled = False
    folder = str(tmp_path_factory.mktemp("ipython"))
    yield InteractiveShell.instance(config=config, ipython_dir=folder)
    InteractiveShell.clear_instance()
    gc.unfreeze()


@pytest.fixture(scope="module", autouse=True)
def little_garbage() -> None:
    """A shell collects garbage whenever it is reset: it need not look at all tests and libraries each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def shell(plain_shell: InteractiveShell) -> Iterator[InteractiveShell]:
    """The shell with the extension loaded, nothing in its namespace but the usual imports, and no cells before."""
    plain_shell.reset(new_session=False)
    for file in filter(CELL_FILE.search, [*linecache.cache]):
        del linecache.cache[file]
    plain_shell.run_cell(f"%load_ext tapemagic\n{IMPORTS}").raise_error()
    yield plain_shell
    plain_shell.extension_manager.unload_extension("tapemagic")
    plain_shell.config.pop("TapeMagics", None)
    if "ipywidgets" in sys.modules:
        sys.modules["ipywidgets"].Widget.close_all()


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """One kernel for all tests of a module, which leave it in order."""
    with kernel(tmp_path_factory.mktemp("kernel")) as started:
        yield started


@pytest.fixture
def run(shell: InteractiveShell) -> Run:
    """Runs a cell that succeeds; the value of its last expression."""

    def run(source: str) -> Any:
        result = shell.run_cell(source)
        result.raise_error()
        return result.result

    return run


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw as for a screen of any size: nothing but the number of nodes closes a part."""
    monkeypatch.setattr(magics, "_screens", None)


@pytest.fixture
def variables(shell: InteractiveShell) -> dict[str, Any]:
    """The notebook's variables."""
    return shell.user_ns


@pytest.fixture
def refused(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Runs a cell that is refused with a UsageError; its one line, without the words in front."""

    def refused(source: str) -> str:
        before = dict(shell.user_ns)
        capsys.readouterr()

        result = shell.run_cell(source)

        error = result.error_before_exec or result.error_in_exec
        assert type(error).__name__ == "UsageError"
        printed = capsys.readouterr()
        assert printed.out == ""
        start, line = printed.err.rstrip("\n").split(" ", 1)
        assert start == "UsageError:"
        assert "\n" not in line
        changed = {
            name for name in {*before, *shell.user_ns} if not _same(name, before, shell.user_ns)
        }
        assert not changed - {"_i", "_ii", "_iii"}
        return line

    return refused


def _same(name: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    return name in before and name in after and before[name] is after[name]
