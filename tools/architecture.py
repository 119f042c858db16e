"""Write docs/architecture.dot and .svg: the imports between the parts of the package. --check compares the .dot.

A part is a folder or a module of tapemagic/, or of engine/ and report/. An arrow that follows from others is omitted:
if a imports b and b imports c, a may import c too.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tapemagic"
DOT = ROOT / "docs" / "architecture.dot"
SVG = DOT.with_suffix(".svg")

PUBLIC = "import tapemagic"
OPENED = ("engine", "report")
"""Folders whose parts are drawn separately."""

COLOURS = {
    "engine": "#cfe3ff",
    "explain": "#dcfce7",
    "report": "#dcfce7",
    "drawing": "#fef3c7",
    "ipython": "#fce7f3",
    "errors": "#e5e7eb",
    PUBLIC: "#ede9fe",
}
OTHERS = "#ede9fe"

HEAD = """\
// Written by tools/architecture.py.
digraph architecture {
  graph [bgcolor="transparent", ranksep=0.36, nodesep=0.3, newrank=true, splines=spline,
         fontname="Helvetica,Arial,sans-serif", fontsize=16, fontcolor="#7d8590"]
  node [shape=box, style="rounded,filled", color="#57606a", penwidth=1, fontname="Helvetica,Arial,sans-serif",
        fontsize=14, fontcolor="#1f2328", height=0.38, margin="0.14,0.06"]
  edge [color="#7d8590", penwidth=1.3, arrowsize=0.7]
"""

Graph = dict[str, set[str]]


def part(module: str) -> str:
    """The part that a module, by its name with dots, belongs to."""
    names = module.split(".")[1:]
    if not names:
        return PUBLIC
    return "/".join(names[: 2 if names[0] in OPENED else 1])


def module_of(path: Path) -> str:
    """The name with dots of the module in a file."""
    names = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imports(tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """Iterate over the modules of the package that a module imports, also inside its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module


def dependencies() -> Graph:
    """Map each part to the parts that it imports."""
    files = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
    graph: Graph = {}
    for module, path in files.items():
        own = part(module)
        if own in OPENED:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {part(name) for name in imports(tree, files.keys())}
        graph.setdefault(own, set()).update(found - {own, *OPENED})
    return graph


def reachable(graph: Graph) -> Graph:
    """All parts that each part needs, also by way of others."""
    found: Graph = {}
    for start in graph:
        found[start], waiting = set(), [start]
        while waiting:
            new = graph[waiting.pop()] - found[start]
            found[start] |= new
            waiting += new
    return found


def arrows(graph: Graph) -> Iterator[tuple[str, str, bool]]:
    """The imports that do not follow from others; the last entry says whether they close a circle."""
    needs = reachable(graph)
    for start, ends in sorted(graph.items()):
        for end in sorted(ends):
            circle = start in needs[end]
            ways = (other for other in ends - {end} if other not in needs[end])
            if circle or not any(end in needs[way] and start not in needs[way] for way in ways):
                yield start, end, circle


def text() -> str:
    """The picture in DOT, the same for the same imports."""
    graph = dependencies()
    lines = [HEAD]
    grouped = defaultdict(list)
    for name in sorted(graph):
        grouped[name.partition("/")[0]].append(name)
    for group, names in grouped.items():
        nodes = []
        for name in names:
            label = name.partition("/")[2] or name
            folder = (PACKAGE / name).is_dir()
            colour = COLOURS.get(group, OTHERS)
            nodes.append(f'"{name}" [label="{label}{"/" * folder}", fillcolor="{colour}"]')
        if group in OPENED:
            lines.append(
                f'  subgraph "cluster_{group}" {{\n    label="{group}/"; labeljust=l; labelloc=b; margin=14'
            )
            lines.append('    style="rounded,filled"; color="#7d8590"; fillcolor="#7d859018"')
            lines += [f"    {node}" for node in nodes]
            lines.append("  }")
        else:
            lines += [f"  {node}" for node in nodes]
    lines.append("")
    for start, end, circle in arrows(graph):
        lines.append(f'  "{start}" -> "{end}"{" [color=red]" * circle}')
    return "\n".join([*lines, "}", ""])


def main() -> int:
    """Write the picture, or compare what it is made from."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing, and fail if it is out of date"
    )
    source = text()
    if parser.parse_args().check:
        if DOT.exists() and DOT.read_text(encoding="utf-8") == source:
            return 0
        print(f"{DOT.name} is not what the imports say: `make figure` draws it anew")
        return 1
    DOT.write_text(source, encoding="utf-8")
    subprocess.run([shutil.which("dot") or "dot", "-Tsvg", f"-o{SVG}", DOT], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
