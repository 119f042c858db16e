"""The small course in docs/teaching, in an environment of its own with the built wheel.

The environment is fresh, and has tapemagic from the wheel. All other packages are those of the environment that runs
this test: a ``.pth`` file leads to them, so that nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEACHING = ROOT / "docs" / "teaching"
COURSE = TEACHING / "course"
EXTENSION = re.compile(r"^tapemagic-[^/]*\.data/data/share/jupyter/labextensions/tapemagic/")
"""The folder in a wheel whose files JupyterLab finds when they are installed."""

pytestmark = [pytest.mark.kernel, pytest.mark.thorough]


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command that succeeds, in the environment alone: nothing leads it to this checkout."""
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("PY", "VIRTUAL"))
    }
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        cwd=cwd,
        env=kept
        | {"JUPYTER_DATA_DIR": str(cwd / ".jupyter"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout; where only the tests of it are there, the one in dist/ that they are to test."""
    folder = ROOT / "dist"
    if (ROOT / "tapemagic").is_dir():
        folder = tmp_path_factory.mktemp("dist")
        pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps")
        # In isolation, pip would download what builds the wheel.
        here = ["--no-build-isolation"] if find_spec("hatch_fancy_pypi_readme") else []
        run(*pip, *here, "-w", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("tapemagic-*.whl")
    return wheel


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new virtual environment, with the wheel and the requirements of the course."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    scheme = {"base": str(folder), "platbase": str(folder)}
    scripts, library = (Path(sysconfig.get_path(x, "venv", scheme)) for x in ("scripts", "purelib"))
    (library / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index")
    run(*pip, "--no-deps", "--ignore-installed", wheel, cwd=folder)
    run(*pip, "-r", COURSE / "requirements.txt", cwd=folder)
    run(python, "-m", "ipykernel", "install", "--sys-prefix", cwd=folder)
    return python


def test_the_wheel_is_complete(wheel: Path) -> None:
    """Every file of the package is in it, data and built front end included, and nothing else."""
    if not (ROOT / "tapemagic").is_dir():
        pytest.skip("the wheel is tested without the checkout of its package")
    files = (path for path in (ROOT / "tapemagic").rglob("*") if path.is_file())
    own = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    with zipfile.ZipFile(wheel) as archive:
        packed = {
            EXTENSION.sub("tapemagic/labextension/", name)
            for name in archive.namelist()
            if ".dist-info/" not in name
        }

    assert own == packed


def test_the_readme_on_pypi_leads_to_the_repository(wheel: Path) -> None:
    """Links and pictures have whole addresses, of the version's tag."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = (x for x in archive.namelist() if x.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()

    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 10
    assert all(link.startswith(("https://", "#")) for link in links)
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    start = r"https://raw\.githubusercontent\.com/tapemagic/tapemagic/v\d+\.\d+"
    assert pictures
    assert all(re.match(start, picture) for picture in pictures)


def test_the_wheel_brings_the_extension_of_jupyterlab(environment: Path, tmp_path: Path) -> None:
    """JupyterLab in the environment of the wheel lists it as whole and enabled, with the version of the package."""
    # As `jupyter labextension list`, of which only the log has the versions.
    code = (
        "import subprocess, sys; subprocess.run([sys.executable, '-m', 'jupyterlab.labextensions', 'list'], "
        "stderr=subprocess.STDOUT, check=True)"
    )
    listed = run(environment, "-c", code, cwd=tmp_path)

    version = run(
        environment, "-c", "import tapemagic; print(tapemagic.__version__)", cwd=tmp_path
    ).strip()
    [line] = re.findall(r"^ *tapemagic .*$", re.sub(r"\x1b\[\d*m", "", listed), re.MULTILINE)
    assert [f"v{version}", "enabled", "OK"] == line.split()[1:4], listed


def test_the_installed_extension_is_that_of_the_checkout() -> None:
    """An editable installation holds a copy, which `make build` and the set-up of the environment renew."""
    installed = Path(sysconfig.get_path("data"), "share/jupyter/labextensions/tapemagic")
    source = ROOT / "tapemagic" / "labextension"
    if not source.is_dir() or not installed.is_dir():
        pytest.skip("there are no two copies to compare")

    def contents(folder: Path) -> dict[str, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    assert contents(source) == contents(installed), "tools/setup_venv.sh dev copies it"


def test_the_course_passes_plain_nbval(wheel: Path, environment: Path, tmp_path: Path) -> None:
    """``pytest --nbval`` and nothing more, on a copy of the course, the template among it."""
    folder = tmp_path / "course"
    shutil.copytree(COURSE, folder)
    shutil.copy(TEACHING / "template.ipynb", folder)
    where = run(environment, "-c", "import tapemagic; print(tapemagic.__file__)", cwd=folder)
    assert environment.parents[1] in Path(where.strip()).parents, where
    assert wheel.name.split("-")[1] in run(
        environment, "-m", "pip", "show", "tapemagic", cwd=folder
    )

    import nbformat

    output = run(environment, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", cwd=folder)

    notebooks = [nbformat.read(path, as_version=4) for path in folder.glob("*.ipynb")]
    cells = sum(cell.cell_type == "code" for notebook in notebooks for cell in notebook.cells)
    assert re.search(rf"\b{cells} passed in", output), output


def test_the_course_renews_itself(environment: Path, tmp_path: Path) -> None:
    """Its script runs a notebook, and leaves the file as it was."""
    path = tmp_path / "01-slopes.ipynb"
    shutil.copy(COURSE / path.name, path)

    assert "01-slopes.ipynb: executed\n" == run(
        environment, COURSE / "renew.py", path, cwd=tmp_path
    )
    assert (COURSE / path.name).read_bytes() == path.read_bytes()
