"""The lessons in notebooks/: their parts, their order, their links, their length, and where the seeds' examples are."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

COURSE = Path(__file__).resolve().parents[1] / "notebooks"
README = (COURSE / "README.md").read_text(encoding="utf-8")
LESSONS = sorted(COURSE.glob("*.ipynb"))
LINK = re.compile(r"(?<!!)\[[^][]*\]\(([^()\s]+)\)")
SEEDS = range(1, 6)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")

each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@cache
def cells_of(path: Path) -> list[Any]:
    """The cells of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [SimpleNamespace(**cell | {"source": "".join(cell["source"])}) for cell in cells]


def texts_of(path: Path) -> list[str]:
    """The sources of a notebook's cells of text, without their code spans and blocks."""
    texts = [cell.source for cell in cells_of(path) if cell.cell_type == "markdown"]
    return [re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL) for text in texts]


def anchors(text: str) -> set[str]:
    """The names by which the headings of a Markdown text can be linked to."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows() -> list[tuple[int, str, str, str]]:
    """The seed, the example, the notebook and the cell of each row in the table of the README."""
    found = re.findall(r"^\| (\d) \| (.+) \| ([\w-]+) \| ([\w-]+) \|$", README, re.MULTILINE)
    return [(int(seed), example, notebook, cell) for seed, example, notebook, cell in found]


def numbers(text: str) -> list[float]:
    """The numbers in a text that are not parts of words."""
    return [float(number) for number in re.findall(rf"(?<![\w.]){NUMBER.pattern}(?!\w)", text)]


def output_of(cell: Any) -> str:
    """The text that a cell of code shows."""
    shown = [
        output.get("text", output.get("data", {}).get("text/plain", "")) for output in cell.outputs
    ]
    return "\n".join("".join(text) for text in shown)


def minutes_to_read(path: Path) -> float:
    """The time it takes to read a lesson aloud, to its exercises: 130 words a minute, four seconds a line of code."""
    words = lines = 0
    for cell in cells_of(path):
        if cell.source.startswith("## Exercises"):
            break
        if cell.cell_type == "markdown":
            words += len(re.sub(r"!?\[!\[.*\)|\]\([^)]*\)", "", cell.source).split())
        else:
            code = filter(None, cell.source.splitlines())
            lines += sum(not line.startswith(("import ", "from ", "%load_ext")) for line in code)
    return words / 130 + lines * 4 / 60


def listed() -> list[str]:
    """The files of the lessons that the README links to, in its order."""
    return re.findall(r"^\| \[[^]]+\]\(([^)]+\.ipynb)\) \|", README, re.MULTILINE)


@each_lesson
def test_the_parts_of_a_lesson(path: Path) -> None:
    """A title, objectives, exercises, folded solutions, and a way on, in this order."""
    texts = [cell.source for cell in cells_of(path) if cell.cell_type == "markdown"]
    parts = [
        r"# \w",
        r"In this lesson you\n\n- ",
        r"## Exercises",
        r"<details><summary>Solutions</summary>\n\n",
        r"## What next\n",
    ]

    places = [[k for k, text in enumerate(texts) if re.match(part, text)] for part in parts]

    assert [1] * len(parts) == [len(place) for place in places], dict(
        zip(parts, places, strict=True)
    )
    assert places == sorted(places)
    assert (places[0], places[1], places[-1]) == ([0], [1], [len(texts) - 1])
    assert texts[places[3][0]].rstrip().endswith("</details>")


@each_lesson
def test_each_exercise_has_a_solution(path: Path) -> None:
    """The numbers of the exercises are those of the solutions."""
    texts = [cell.source for cell in cells_of(path) if cell.cell_type == "markdown"]
    exercises = [int(m[1]) for text in texts if (m := re.match(r"\*\*(\d+)\.\*\*", text))]
    [solutions] = [text for text in texts if text.startswith("<details>")]

    assert exercises == list(range(1, len(exercises) + 1))
    assert exercises == [int(n) for n in re.findall(r"^(\d+)\. ", solutions, re.MULTILINE)]
    assert len(exercises) >= 2


@each_lesson
def test_the_cells_have_names(path: Path) -> None:
    """Each cell has a name of its own, and the first cell of code loads what the lesson uses."""
    names = [cell.id for cell in cells_of(path)]

    assert len(names) == len(set(names))
    assert next(c.source for c in cells_of(path) if c.cell_type == "code").startswith("%load_ext")


@pytest.mark.parametrize(
    "path", [*LESSONS, COURSE / "README.md"], ids=lambda path: path.stem.lower()
)
def test_links_lead_somewhere(path: Path) -> None:
    """A link to a file of the repository names one that is there, and a heading that it has."""
    texts = texts_of(path) if path.suffix == ".ipynb" else [README]
    for target in (link for text in texts for link in LINK.findall(text) if "://" not in link):
        name, _, heading = target.partition("#")
        file = path.parent / name if name else path
        assert file.is_file(), target
        assert not heading or heading in anchors(file.read_text(encoding="utf-8")), target


def test_the_order_of_the_lessons() -> None:
    """The README lists every lesson in the order of the files, and each lesson leads to the one behind it."""
    files = [path.name for path in LESSONS]
    assert files == listed()
    for path, following in zip(LESSONS, [*files[1:], "README.md"], strict=True):
        assert LINK.findall(cells_of(path)[-1].source)[0] == following, path.name


def test_five_minutes_are_five() -> None:
    """The first lesson promises five minutes in its title and in the README, and takes them."""
    [minutes] = re.findall(r"^\| \[01 .+ \| (\d+) \|$", README, re.MULTILINE)

    assert cells_of(LESSONS[0])[0].source.startswith("# tapemagic in five minutes\n")
    assert minutes == "5"
    assert 4 < minutes_to_read(LESSONS[0]) <= 5


def test_every_seed_has_examples() -> None:
    """The table of examples is there, and each row is there once."""
    assert set(SEEDS) == {seed for seed, *_ in rows()}
    assert (
        len(rows())
        == len(set(rows()))
        == len(re.findall(r"^\| \d \| .+\|.+\|.+\|$", README, re.MULTILINE))
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_examples_of_a_seed(seed: int) -> None:
    """The cell of each example is there, and shows the numbers that its row names."""
    for _, example, notebook, name in (row for row in rows() if row[0] == seed):
        [cell] = [cell for cell in cells_of(COURSE / f"{notebook}.ipynb") if cell.id == name]
        if ": " in example:
            # Reports round to six digits.
            shown, named = numbers(output_of(cell)), numbers(example.rpartition(": ")[2])
            missing = [each for each in named if not np.isclose(each, shown, rtol=1e-5).any()]
            assert [] == missing, (notebook, name, example)


@each_lesson
def test_no_text_names_a_seed(path: Path) -> None:
    """Where an example comes from is in the table of the README, and does not disturb the lesson."""
    assert not [text for text in texts_of(path) if re.search(r"\[seed \d", text, re.IGNORECASE)]
