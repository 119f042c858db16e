"""No folder reads another's private names, read from the source with ast."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_layers import ALLOWED, PACKAGE, entry, is_private, modules, nodes, plant

SHARED = {
    "_value": "engine.tensor",
    "_id": "engine.tensor",
    "_read": "engine.tensor",
    "_trainable": "engine.tensor",
    "_tracked": "engine.recording",
    "_notes_scopes": "engine.recording",
    "_append": "engine.recording",
    "_add_bytes": "engine.recording",
    "_prune": "engine.recording",
    "_rewatched": "engine.recording",
    "_variable_read": "engine.recording",
    "_record_event": "engine.recording",
    "_sweep_begins": "engine.recording",
    "_sweep_ends": "engine.recording",
    "_rule_begins": "engine.recording",
    "_rule_ends": "engine.recording",
    "_python_numbers": "engine.recording",
    "_records": "engine.recording",
}
"""Inside of the engine, the private names of tensors and live tapes that the hot path reads, and whose they are."""

OUTSIDE = {"_current_frames", "_fields", "_getframe", "_make", "_NoValue", "_replace"} | {
    "_repr_mimebundle_"
}
"""Names that only look private: those of Python, NumPy and IPython."""


def defined(tree: list[ast.AST]) -> Iterator[str]:
    """The private names that a module defines: functions, classes, variables, attributes of self and slots."""
    for node in tree:
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.Name(name, ast.Store()):
                yield name
            case ast.Attribute(ast.Name("self"), name, ast.Store()):
                yield name
            case ast.Constant(str(name)):
                yield name


def read(tree: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """The private names that a module reads of something else than itself, with their lines."""
    for node in tree:
        match node:
            case ast.Attribute(ast.Name("self" | "cls"), _) | ast.Attribute(
                ast.Call(ast.Name("super")), _
            ):
                pass
            case ast.Attribute(_, name) if name not in OUTSIDE:
                yield node.lineno, name
            case ast.ImportFrom(str(module), names) if module.startswith("tapemagic"):
                yield from ((node.lineno, alias.name) for alias in names if is_private(alias.name))


def foreign_names(package: Path) -> list[str]:
    """The private names that a folder reads and does not define, as sentences."""
    own: dict[str | None, set[str]] = {}
    found: dict[str, list[tuple[int, str]]] = {}
    for name, path in modules(package).items():
        tree = nodes(path)
        own.setdefault(entry(name, ALLOWED), set()).update(defined(tree))
        found[name] = list(read(tree))
    return [
        f"{name or 'tapemagic'} reads {private} on line {line}"
        for name, reads in found.items()
        for line, private in reads
        if private not in own[entry(name, ALLOWED)]
        and not (private in SHARED and name.startswith("engine."))
    ]


def test_no_folder_reads_private_names_of_another() -> None:
    """A name that others need is public."""
    assert [] == foreign_names(PACKAGE)


def test_shared_names_are_defined_where_the_list_says() -> None:
    """The list of shared names has no stale line."""
    for private, owner in SHARED.items():
        names = {
            name
            for module, path in modules(PACKAGE).items()
            if entry(module, ALLOWED) == owner and private in path.read_text(encoding="utf-8")
            for name in defined(nodes(path))
        }

        assert private in names, f"{owner} does not define {private}"


def test_planted_reads_are_found(tmp_path: Path) -> None:
    """The checker notices a private attribute and a private import, and allows a folder's own."""
    plant(tmp_path / "engine/tape/tape.py", "class Tape:\n    _records = []\n")
    plant(tmp_path / "engine/tape/sweep.py", "def f(tape):\n    return tape._records\n")
    plant(tmp_path / "explain/snapshot.py", "def f(tape):\n    return tape._records\n")
    plant(tmp_path / "drawing/dot.py", "from tapemagic.engine.tape.tape import _helper\n")

    assert [
        "drawing.dot reads _helper on line 1",
        "explain.snapshot reads _records on line 2",
    ] == foreign_names(tmp_path)
