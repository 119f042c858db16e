"""The gradients of a report: values, or the reason for each None, and the full matrices."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from tapemagic.drawing import matrices, values
from tapemagic.drawing.elements import element, escape_text, listing
from tapemagic.drawing.styles import BAD, QUIET, SMALL
from tapemagic.drawing.thumbnails import legend
from tapemagic.explain.formatting import format_shape, format_size, printable
from tapemagic.report.findings import Findings
from tapemagic.report.glossary import explained, tooltip
from tapemagic.report.tabs.gradients.check_result import Check
from tapemagic.report.tabs.gradients.find_gradients import Derivative
from tapemagic.report.tabs.gradients.own_gradients import OwnGradient

MAX_OWN = 30
"""The number of rows for gradients that the program took itself."""
MAX_ROWS = 60
MAX_PICTURED = 16
"""The number of rows that have pictures."""
PICTURED = ("vector", "matrix", "image")
OUTCOMES = {"agrees": "", "differs": BAD, "lacks": BAD, "not checked": ""}
CHECKED = (
    "Checked by finite differences: the recorded operations were repeated with slightly changed inputs (same branches "
    "and constants)."
)
RERUN = "Checked by finite differences: the cell ran again with slightly changed inputs."
HIGHER = "A second derivative is compared with the differences of the first, and so on."


def text(findings: Findings) -> str:
    """Return the gradients as equations, and the full matrices."""
    equations = "\n".join([*map(equation, rows_of(findings)[:MAX_ROWS]), *_notes(findings)])
    parts = [equations, own_text(findings.own_gradients), matrices.text(findings.matrices)]
    return "\n\n".join(filter(None, parts))


def html(findings: Findings) -> str:
    """Return a table of gradients for each target, and the full matrices."""
    if not (findings.derivatives or findings.own_gradients):
        return ""
    rows = rows_of(findings)[:MAX_ROWS]
    pictured = rows[:MAX_PICTURED]
    groups = [list(group) for _, group in groupby(rows, lambda entry: entry.target)]
    # Targets with one gradient each share a table, or each row would have headings.
    if all(len(group) == 1 for group in groups):
        groups = [rows]
    tables = [_table(group, {id(entry) for entry in pictured}) for group in groups if group]
    notes = [*_notes(findings), *legend(entry.value for entry in pictured)]
    shown = (explained(escape_text(note), "finite differences") for note in notes)
    parts = [*tables, *(element("div", SMALL, note) for note in shown)]
    return "".join(parts) + own(findings.own_gradients) + matrices.html(findings.matrices)


def rows_of(findings: Findings) -> list[Derivative]:
    """The gradients target by target; after a None, those of higher order are left out."""
    place = {target: k for k, target in enumerate(entry.target for entry in findings.derivatives)}
    ended: set[tuple[str, str]] = set()
    rows = []
    # sorted() is stable: within a target, the order of the sources and of the derivatives stays.
    for entry in sorted(findings.derivatives, key=lambda entry: place[entry.target]):
        pair = (entry.target, entry.source)
        if pair not in ended:
            rows.append(entry)
        if entry.value is None:
            ended.add(pair)
    return rows


def own_text(gradients: Sequence[OwnGradient]) -> str:
    """The gradients that the program took itself, as equations."""
    rest = len(gradients) - MAX_OWN
    more = [f"and {rest:,} more gradients of the cell"] if rest > 0 else []
    return "\n".join([*(printable(str(entry)) for entry in gradients[:MAX_OWN]), *more])


def own(gradients: Sequence[OwnGradient]) -> str:
    """Return the table of the gradients that the program took itself."""
    if not gradients:
        return ""
    rows = []
    for entry in gradients[:MAX_OWN]:
        symbol = f"{entry.name} = {entry.symbol}" if entry.name else entry.symbol
        reason = element("div", QUIET, escape_text(entry.reason)) if entry.reason else ""
        origin = element("span", QUIET, escape_text(f", {entry.origin}"))
        value = "<b>None</b>" if entry.text is None else escape_text(entry.text)
        check = f"; {_check_html(entry.check)}" if entry.check else ""
        rows.append([f"<code>{escape_text(symbol)}</code>", value + origin + reason + check])
    rest = len(gradients) - MAX_OWN
    more = element("div", QUIET, f"and {rest:,} more") if rest > 0 else ""
    return listing(("in the cell", "value"), rows, (0, 1)) + more


def equation(derivative: Derivative) -> str:
    """Return a derivative as an equation; a None has its reason."""
    if derivative.value is None:
        return printable(f"{derivative.symbol} = None: {'; '.join(_remarks(derivative))}")
    size = format_size(derivative.shape) if derivative.value.kind in PICTURED else ""
    start = f"{derivative.symbol} = {size}{', ' * bool(size)}"
    lines = f"{start}{values.text(derivative.value)}{remark(derivative)}".split("\n")
    indent = "\n" + " " * len(printable(start))
    return indent.join(map(printable, lines))


def remark(derivative: Derivative) -> str:
    """Return the words after a value: that it is the gradient of a sum, what it lacks, and how it compares."""
    note = f", {derivative.note}" if derivative.note else ""
    return note + "".join(f"; {words}" for words in _remarks(derivative))


def _remarks(derivative: Derivative) -> list[str]:
    """The parts that a derivative lacks, and how it compares with finite differences."""
    compared = derivative.check.text if _has_words(derivative) else ""  # type: ignore[union-attr]
    return _joinable([words for words in (derivative.reason, compared) if words])


def _joinable(parts: Sequence[str]) -> list[str]:
    """Return parts of a sentence of which only the last may end in a full stop."""
    return [*(part.removesuffix(".") for part in parts[:-1]), *parts[-1:]]


def _has_words(derivative: Derivative) -> bool:
    """Return True if a check has its own words: what a derivative lacks is its reason already."""
    return derivative.check is not None and derivative.check.outcome != "lacks"


def _table(rows: Sequence[Derivative], pictured: Collection[int]) -> str:
    """The gradients of one target as a table."""
    head = (tooltip("gradient", "gradient"), "shape", "value", "remarks")
    body = [_cells(entry, id(entry) in pictured) for entry in rows]
    count = 4 if any(cells[3] for cells in body) else 3
    return listing(head[:count], [cells[:count] for cells in body], (0, 2, 3))


def _cells(derivative: Derivative, pictured: bool) -> tuple[str, str, str, str]:
    """A row of the table as HTML."""
    symbol = f"<code>{escape_text(derivative.symbol)}</code>"
    value, check = derivative.value, derivative.check
    size = format_shape(derivative.shape)
    note = "" if value is None else derivative.note
    words = [escape_text(part) for part in (note, derivative.reason or "") if part]
    if check is not None and _has_words(derivative):
        words.append(_check_html(check))
    number = "<b>None</b>"
    if value is not None:
        number = values.html(value, pictured, bad=not value.is_finite)
    return symbol, size, number, "; ".join(_joinable(words))


def _check_html(check: Check) -> str:
    return element("span", OUTCOMES[check.outcome], escape_text(check.text))


def _notes(findings: Findings) -> list[str]:
    """Notes on rows that are not shown, and on what was checked by finite differences."""
    rows = rows_of(findings)
    more = [f"and {len(rows) - MAX_ROWS:,} more"] if len(rows) > MAX_ROWS else []
    if len(rows) < len(findings.derivatives):
        more.append("Where a derivative is None, so are those of higher order.")
    gradients = findings.tabs["gradients"]
    # The tab Training shows the sentence, if there is one.
    if gradients.next_step and findings.training is None:
        more.append(gradients.next_step)
    checks = [x.check for x in gradients.checks() if x.check.outcome != "not checked"]
    if checks:
        how = RERUN if all(check.is_rerun for check in checks) else CHECKED
        more.append(f"{how} {HIGHER}" if _has_higher_order(findings) else how)
    return more


def _has_higher_order(findings: Findings) -> bool:
    return (
        any(entry.order > 1 for entry in findings.derivatives)
        or any(entry.higher for entry in findings.own_gradients)
        or any(matrix.kind == "hessian" for matrix in findings.matrices)
    )
