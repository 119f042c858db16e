"""The paths of a report: a table for each gradient, with the product of the local derivatives along each path."""

from __future__ import annotations

from tapemagic.drawing.elements import aligned, element, escape_text, listing
from tapemagic.drawing.styles import SMALL
from tapemagic.explain.contributions import percentage
from tapemagic.explain.formatting import printable, relation
from tapemagic.report.findings import Findings
from tapemagic.report.glossary import explained
from tapemagic.report.tabs.paths.find_paths import GradientPath, GradientPaths, PathFindings

HEADINGS = ("path", "local derivatives, multiplied")
HEADINGS_OF_ARRAYS = ("path", "local derivatives", "norm of what it adds")
WHAT = (
    "A path leads through the graph from a source to the target. The local derivatives along a path, multiplied, are "
    "what it adds to the gradient: the gradient is the sum over all paths."
)
ARRAYS = (
    "[2 by 3]: the local derivatives of 2 numbers by 3 others. Norm: the size of an array, the square root of the sum "
    "of its squares."
)


def text(findings: Findings) -> str:
    """The paths as text, or '' if there is nothing to show."""
    paths: PathFindings | None = findings.tabs.get("paths")
    if paths is None:
        return ""
    blocks = [
        "\n".join([title(gradient), *(f"  {line}" for line in _lines(gradient))])
        for gradient in paths.gradients
    ]
    return "\n".join(map(printable, "\n".join([*blocks, *_more(paths)]).split("\n")))


def html(findings: Findings) -> str:
    """The paths as HTML, or '' if there is nothing to show."""
    paths: PathFindings | None = findings.tabs.get("paths")
    if paths is None:
        return ""
    notes = [WHAT, *[ARRAYS] * any(gradient.is_norm for gradient in paths.gradients)]
    parts = [
        element(
            "div",
            SMALL,
            explained(escape_text(" ".join(notes)), "source", "target", "local derivative"),
        )
    ]
    for gradient in paths.gradients:
        parts.append(element("div", "margin:6px 0 2px", escape_text(title(gradient))))
        if gradient.paths:
            parts.append(_table(gradient))
    parts += [element("div", SMALL, escape_text(words)) for words in _more(paths)]
    return "".join(parts)


def title(gradient: GradientPaths) -> str:
    """The number of paths, and the gradient that they add up to."""
    ends, value = (
        f"from {gradient.source} to {gradient.target}",
        f"{gradient.symbol} = {gradient.gradient}",
    )
    if gradient.count == 1:
        return f"1 path {ends}: {value}"
    if not gradient.paths:
        why = f"%why {gradient.target} {gradient.source}"
        return (
            f"{_count(gradient.count)} paths {ends}, too many to list: {why} adds them up by line"
        )
    cancel = "; their signs differ, so they partly cancel" if gradient.is_signed else ""
    return f"{gradient.count} paths {ends}, which add up to {value}{cancel}"


def _count(paths: int) -> str:
    """A number of paths; above a million, about how many."""
    return f"{paths:,}" if paths < 10**6 else f"about 10^{len(str(paths)) - 1}"


def _lines(gradient: GradientPaths) -> list[str]:
    """The paths of one gradient in columns."""
    rows = [
        (_path_text(gradient.source, path), *_cells(gradient, path), _share(path))
        for path in gradient.paths
    ]
    if gradient.rest:
        rows.append((*_rest(gradient), ""))
    return aligned(rows) if rows else []


def _table(gradient: GradientPaths) -> str:
    """The paths of one gradient as a table."""
    heads = [
        *(HEADINGS_OF_ARRAYS if gradient.is_norm else HEADINGS),
        "share of the sizes" if gradient.is_signed else "share",
    ]
    rows = [
        (
            _path_html(gradient.source, path),
            *map(escape_text, _cells(gradient, path)),
            escape_text(_share(path)),
        )
        for path in gradient.paths
    ]
    if gradient.rest:
        rows.append((*map(escape_text, _rest(gradient)), ""))
    return listing(heads, rows, range(len(heads)))


def _cells(gradient: GradientPaths, path: GradientPath) -> tuple[str, ...]:
    """The local derivatives along a path with their product; of arrays, both apart."""
    # Brackets, or the sign of a negative factor would look like a subtraction.
    slopes = " · ".join(
        f"({step.slope})" if k and step.slope.startswith("-") else step.slope
        for k, step in enumerate(path.steps)
    )
    if gradient.is_norm or "[" in slopes:
        norm = path.contribution
        return (slopes, norm) if gradient.is_norm else (f"{slopes} = {norm}",)
    sign = relation(slopes, path.contribution)
    return (slopes if slopes == path.contribution else f"{slopes} {sign} {path.contribution}",)


def _rest(gradient: GradientPaths) -> tuple[str, ...]:
    """The row for the paths that are not written out."""
    more = gradient.count - len(gradient.paths)
    words = f"… and {more} smaller path{'s' * (more > 1)}, together"
    return (words, "", gradient.rest) if gradient.is_norm else (words, gradient.rest)


def _share(path: GradientPath) -> str:
    return "" if path.share is None else percentage(path.share)


def _path_text(source: str, path: GradientPath) -> str:
    """A path in a line, by its operations and their results."""
    names = [name for step in path.steps for name in (step.operation, step.result) if name]
    return " → ".join([source, *names])


def _path_html(source: str, path: GradientPath) -> str:
    """Return a path as HTML, in which the names of values stand out."""
    steps = (
        f"→ {escape_text(step.operation)}"
        + f" → <b>{escape_text(step.result)}</b>" * bool(step.result)
        for step in path.steps
    )
    return " ".join([f"<b>{escape_text(source)}</b>", *steps])


def _more(paths: PathFindings) -> list[str]:
    """A line on gradients that are not shown."""
    return [f"and {paths.more:,} more gradients"] if paths.more else []
