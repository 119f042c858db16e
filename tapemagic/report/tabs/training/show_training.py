"""The training of a report: the loss and the gradients over the steps of a loop."""

from __future__ import annotations

from tapemagic.drawing.elements import FONT, aligned, element, escape_text, image
from tapemagic.drawing.inset_plots import figure
from tapemagic.drawing.styles import QUIET, RULE, SMALL
from tapemagic.explain.formatting import printable
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.training.find_training import Training
from tapemagic.report.tabs.training.series import Series

SIZES = "|…| is the size of a number, and the Euclidean norm of an array"

LINE = f"border-bottom:{RULE}"

MAX_COLUMNS = 9
"""Maximum number of columns of a table with a row for each step; a wider one has a column for each."""


def text(findings: Findings) -> str:
    """Return the training as a table of a few steps, with notes on what looks wrong."""
    training = findings.training
    if training is None:
        return ""
    lines = [f"{caption(training)}; {SIZES}", *aligned(_table(training), right=True)]
    return "\n".join(map(printable, [*lines, *notes(training), *_next_step(findings)]))


def html(findings: Findings) -> str:
    """Return the training as line plots, with notes on what looks wrong and a table."""
    training = findings.training
    if training is None:
        return ""
    plots = "".join(map(_image, (training.loss, *training.gradients)))
    sentences = [*notes(training), *_next_step(findings)]
    remarks = "".join(element("div", "margin:2px 0", escape_text(words)) for words in sentences)
    sizes = element("div", SMALL, escape_text(f"{caption(training)}; {SIZES}"))
    return sizes + remarks + element("div", "display:flex;flex-wrap:wrap", plots) + _rows(training)


def caption(training: Training) -> str:
    """Say how many steps there are, and which line takes the gradients."""
    loss, steps = training.loss.name, f"{training.steps:,} steps"
    if not training.gradients:
        where = "" if training.line is None else f" on line {training.line}"
        return f"{steps}, each a value of {loss}{where}; no tape.gradient took its gradients by Variables"
    where = "" if training.line is None else f", taken on line {training.line}"
    return f"{steps}, each a value of {loss} with its gradients{where}"


def notes(training: Training) -> list[str]:
    """Sentences on what looks wrong, and on what is not shown."""
    sentences = [f"Note: {words}." for words in training.flags]
    if training.more:
        sentences.append(
            f"Not shown: the Variables with smaller gradients, {training.more:,} in number."
        )
    return sentences


def _next_step(findings: Findings) -> list[str]:
    """A sentence on one more step."""
    step = findings.tabs["gradients"].next_step if "gradients" in findings.tabs else ""
    return [step] if step else []


def _table(training: Training) -> list[tuple[str, ...]]:
    rows = [training.headings, *training.rows]
    # Transposed, a wide table has a row for each Variable, and fits the page.
    return rows if len(training.headings) <= MAX_COLUMNS else list(zip(*rows, strict=True))


def _rows(training: Training) -> str:
    """The table as HTML."""
    head, *rows = ([escape_text(cell) for cell in row] for row in _table(training))
    heads = "".join(f"<th>{cell}" for cell in head)
    body = "".join(
        f'<tr style="{LINE}">{"".join(f"<td>{cell}" for cell in row)}</tr>' for row in rows
    )
    style = f"border-collapse:collapse;text-align:right;white-space:nowrap;{FONT}"
    table = f'<table cellpadding="5" style="{style}"><tr style="{LINE};{QUIET}">{heads}</tr>{body}</table>'
    return element("div", "overflow-x:auto", table)


def _image(series: Series) -> str:
    numbers = [value for value in series.values if value == value]  # noqa: PLR0124 -- nan is not equal to itself
    svg = figure([series], series.name)
    if not svg:
        return ""
    words = f"{series.name} over {series.count:,} steps, from {numbers[0]:.6g} to {numbers[-1]:.6g}"
    return image(svg, words, "max-width:100%;margin:4px 12px 4px 0")
