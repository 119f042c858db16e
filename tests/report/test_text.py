"""The report as text, compared with what it shall say."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import numpy as np

import tapemagic as tm
from tapemagic.report.tabs.gradients.show_gradients import equation
from tapemagic.report.tabs.graph.graph import Graph
from tapemagic.report.text import text
from tapemagic.report.verdict.statement import Statement
from tests.report.recordings import chain, product, record, regression, square, with_contents


def test_the_square() -> None:
    """The smallest report."""
    expected = """\
        %%tape: 1 operation, 1 watched variable, differentiating y
        y = 9.0; dy/da = 6.0

        name  role     shape   dtype    value  gradient of y  line
        a     watched  number  float64  3.0    6.0
        y     target   number  float64  9.0    1.0            2

        dy/da = 6.0

        Local derivatives: ∂y/∂a = 6.0

        forward: values (read down ↓)  backward: gradients of y (read up ↑)
        a = 3.0                        ā = 6.0
        y = a² = 3.0² = 9.0            ā = ȳ · 2 · a = 1.0 · 2 · 3.0 = 6.0
                                       ȳ = 1.0

                   value    gradient of y
        1  %%tape
        2  line 2  y = 9.0  1.0"""
    found = square()

    assert dedent(expected) == text(found.with_tab("lines", found.source_lines[:2]))


def test_two_orders() -> None:
    """Derivatives of two orders, one of which is None for a reason."""
    expected = """\
        %%tape: 3 operations, 2 watched variables, differentiating y
        d²y/db² is None: it is zero, because y is linear in b near this point
        y = 5.45578; dy/da = 0.231011, dy/db = 1.81859, d²y/da² = -7.95267

        name  role     shape   dtype    value    gradient of y  line
        a     watched  number  float64  2.0      0.231011
        b     watched  number  float64  3.0      1.81859
        y     target   number  float64  5.45578  1.0            4

        dy/da = 0.231011
        dy/db = 1.81859
        d²y/da² = -7.95267
        d²y/db² = None: it is zero, because y is linear in b near this point

        2 paths from a to y, which add up to dy/da = 0.231011; their signs differ, so they partly cancel
          a → multiply → v1 → multiply → y  3.0 · 0.909297 = 2.72789    52 %
          a → sin → v2 → multiply → y       -0.416147 · 6.0 = -2.49688  48 %
        1 path from b to y: dy/db = 1.81859
          b → multiply → v1 → multiply → y  2.0 · 0.909297 = 1.81859

        Local derivatives: ∂v1/∂a = 3.0, ∂v1/∂b = 2.0, ∂v2/∂a = -0.416147, ∂y/∂v1 = 0.909297, ∂y/∂v2 = 6.0, \
∂v3/∂v2 = 1.0, ∂v4/∂v1 = 1.0, ∂v5/∂a = -0.909297, ∂v6/∂v4 = -0.416147, ∂v6/∂v5 = 6.0, ∂v7/∂v3 = 3.0, \
∂v7/∂b = 0.909297, ∂(dy/da)/∂v6 = 1.0, ∂(dy/da)/∂v7 = 1.0, ∂(dy/db)/∂v3 = 2.0, ∂(dy/db)/∂a = 0.909297

        forward: values (read down"""

    assert text(product()).startswith(dedent(expected))


def test_the_regression() -> None:
    """Variables and constants."""
    expected = """\
        %%tape: 5 operations, 2 watched variables, differentiating y
        y = 106.917; dy/da = [[70.3333], [89.3333]], dy/db = [19.0]

        name  role      shape   dtype    value                                 gradient of y           line
        a     variable  2×1     float64  [[1.0], [2.0]]                        [[70.3333], [89.3333]]
        b     variable  1       float64  [0.5]                                 [19.0]
        x     constant  3×2     float64  [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        t     constant  3×1     float64  [[1.0], [2.0], [3.0]]
        y     target    number  float64  106.917                               1.0                     6

        dy/da = [[70.3333], [89.3333]]
        dy/db = [19.0]"""

    assert text(regression()).startswith(dedent(expected))


def test_large_arrays_and_many_operations() -> None:
    """An array by its shape and range, a count by its thousands."""
    assert "dy/da = 100 elements, 0.0 to 198.0, mean 99.0" in text(
        record(lambda a: np.sum(a**2), np.arange(100.0))
    )
    assert text(chain(2000)).startswith(
        "%%tape: 2,000 operations, 1 watched variable, differentiating y\n"
    )


def test_a_note() -> None:
    """What there is to say comes before the tables."""
    found = replace(square(), verdict=(Statement("left", "y\nleft."),))

    assert "differentiating y\ny left.\n\nname" in text(found)


def test_nothing_at_all() -> None:
    """A recording of nothing is one line."""
    found = with_contents(
        square(),
        variables=(),
        graph=Graph((), ()),
        derivatives=(),
        targets=(),
        operations=0,
        verdict=(),
        trace=None,
        source_lines=(),
    )

    assert "%%tape: 0 operations, 0 watched variables" == text(found)


def test_names_with_line_ends() -> None:
    """A name cannot break a line."""
    found = record(lambda a: a * 2, tm.Variable(1.0, name="w\nx"), **{"k\nl": 1.0})
    found = found.with_tab("trace", None).with_tab("lines", ())

    assert 12 == len(text(found).splitlines())
    assert "k l" in text(found)


def test_derivatives_of_sums() -> None:
    """What is the derivative of a sum says so: the symbol alone would be that of a full matrix, too."""
    array = record(lambda a: a**3, np.array([1.0, 2.0]), order=2, matrices=("jacobian", "hessian"))
    number = record(lambda a: a[0] ** 2 * a[1], np.array([1.0, 2.0]), order=3)

    assert "dy/da = [3.0, 12.0], the gradient of the sum of y\n" in text(array)
    assert "d²y/da² = [6.0, 12.0], the gradient of the sum of dy/da\n" in text(array)
    assert "\nJacobian dy/da, 2×2" in text(array)
    assert "\ndy/da = [4.0, 1.0]\n" in text(number)
    assert "d²y/da² = [6.0, 2.0], the gradient of the sum of dy/da\n" in text(number)
    assert "d³y/da³ = [4.0, 2.0], the gradient of the sum of d²y/da²\n" in text(number)


def test_a_remark() -> None:
    """A gradient that lacks something says what."""
    found = square()
    lacking = replace(found.derivatives[0], summed="y", reason="a part is missing")

    assert "dy/da = 6.0, the gradient of the sum of y; a part is missing" == equation(lacking)
