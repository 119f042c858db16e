"""Try other tools on notebooks with reports: ``python -m tools.other_tools papermill``, or all of them without names.

Each tool is installed into an environment of its own in build/other-tools, with this package. The table "Where it runs"
of docs/report.md says what this printed.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "other-tools"
SHOWN = ("dy/dx", "9.14112", "5.01001")
"""What a report of the cell below shows: a heading, the target and its gradient."""

SETUP = "%load_ext tapemagic\nimport numpy as np\nx = 3.0"
TAPE = "%%tape x\ny = x * x + np.sin(x)"
GRADIENT = "tape.gradient(y, x)"
HOMEWORK = "slope = 2 * x + np.cos(x)"
TEST = "assert abs(slope - tape.gradient(y, x)) < 1e-9"
APP = """import marimo

app = marimo.App()


@app.cell
def _():
    import numpy as np
    import tapemagic as tm

    x = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = x * x + np.sin(x)
    tape.report(y, x)
    return
"""


class Tool(NamedTuple):
    """A tool: the packages to install, the commands to run, and the file in which the report must stand.

    With `static`, reports are no widgets: the tool's pages show widgets only with the network.
    """

    packages: str
    commands: tuple[str, ...]
    result: str
    static: bool = False


TOOLS = {
    "papermill": Tool("papermill ipykernel", ("papermill slope.ipynb out.ipynb",), "out.ipynb"),
    "jupytext": Tool(
        "jupytext nbconvert ipykernel",
        ("jupytext --to py:percent slope.ipynb", "jupytext --to ipynb --execute -o out.ipynb slope.py"),
        "out.ipynb",
    ),
    "nbgrader": Tool(
        "nbgrader ipykernel",
        (
            "nbgrader generate_assignment sheet",
            "copy source/sheet submitted/ada/sheet",
            "nbgrader autograde sheet",
            "nbgrader generate_feedback sheet",
        ),
        "feedback/ada/sheet/homework.html",
        static=True,
    ),
    "marimo": Tool("marimo", ("marimo export html app.py -o out.html --no-include-code",), "out.html"),
    "Jupyter Book 1": Tool(
        "jupyter-book<2 ipykernel", ("jupyter-book build book",), "book/_build/html/slope.html", static=True
    ),
}  # fmt: skip


def notebook(*sources: str, grading: dict[str, Any] | None = None) -> Any:
    """A notebook of code cells, with the metadata of nbgrader for some of them."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    for cell in cells:
        if grading and cell.source in grading:
            cell.metadata["nbgrader"] = {"schema_version": 3, "task": False, **grading[cell.source]}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def write_files(folder: Path) -> None:
    """Write the notebooks and settings that the commands read."""
    slope = notebook(SETUP, TAPE, GRADIENT)
    solution = f"### BEGIN SOLUTION\n{HOMEWORK}\n### END SOLUTION"
    graded = {
        solution: {"grade": False, "grade_id": "slope", "locked": False, "solution": True},
        TEST: {"grade": True, "grade_id": "test", "locked": True, "solution": False, "points": 1},
    }
    books = {
        "slope.ipynb": slope,
        "book/slope.ipynb": slope,
        "source/sheet/homework.ipynb": notebook(SETUP, TAPE, solution, TEST, grading=graded),
    }
    for name, book in books.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(book, folder / name)
    (folder / "app.py").write_text(APP)
    (folder / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'slopes'\n"
    )
    (folder / "book" / "_config.yml").write_text("title: Slopes\n")
    (folder / "book" / "_toc.yml").write_text("format: jb-book\nroot: slope\n")


def run(command: str, folder: Path, scripts: Path, static: bool) -> None:
    """Run a command of an environment, or copy a folder."""
    name, *arguments = command.split()
    if name == "copy":
        shutil.copytree(*(folder / x for x in arguments), dirs_exist_ok=True)
        return
    environment = os.environ | {
        "TAPEMAGIC_WIDGETS": "0" if static else "1",
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": "",
    }
    done = subprocess.run(
        [scripts / name, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def missing_from(file: Path) -> list[str]:
    """The parts of a report that a file, a notebook or a page, doesn't show."""
    text = file.read_text()
    if file.suffix == ".ipynb":
        outputs = [o for cell in json.loads(text)["cells"] for o in cell.get("outputs", ())]
        text = "".join("".join(o.get("data", {}).get("text/html", "")) for o in outputs)
    return [words for words in SHOWN if words not in html.unescape(text)]


def try_tool(name: str) -> str:
    """Install a tool, run its commands, and say what its result shows."""
    tool, folder = TOOLS[name], FOLDER / name.replace(" ", "-")
    environment = folder / "venv"
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    if not scripts.exists():
        venv.create(environment, with_pip=True)
    pip = (scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, *tool.packages.split(), ROOT], check=True)
    files = folder / "files"
    shutil.rmtree(files, ignore_errors=True)
    write_files(files)
    for command in tool.commands:
        run(command, files, scripts, tool.static)
    package = tool.packages.split()[0].partition("<")[0]
    version = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    found = subprocess.run(
        [scripts / "python", "-c", version, package], capture_output=True, text=True, check=True
    )
    missing = missing_from(files / tool.result)
    shown = f"lacks {', '.join(missing)}" if missing else "shows the report"
    return f"{name} {found.stdout.strip()}: {tool.result} {shown}"


if __name__ == "__main__":
    for wanted in sys.argv[1:] or TOOLS:
        print(try_tool(wanted), flush=True)
