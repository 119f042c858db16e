"""Several programs of one function as one text, as a student pastes it into a cell."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm


def pasted(text: str) -> dict[str, Any]:
    """The names that a text defines."""
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 (the text is the package's own)
    return names


def labels(text: str) -> str:
    """The comments above functions, in one line."""
    return " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))


def test_ways_are_functions_with_names_of_their_own():
    """The error and the imports are there once, and constants of one text have one name each."""

    @tm.function
    def f(x, k=2):
        if np.sum(x * np.array([1.0, 2.0, 7.0])[: len(x)]) > 0:
            return x**k
        return x * np.array([1.5, 2.5, 3.5])

    plus, minus, short = tm.constant([1.0, 2.0, 3.0]), tm.constant([-1.0, -2.0, -3.0]), 2.0
    for _ in range(2):
        results = f(plus), f(minus), f(tm.constant([short, short]), k=3)
    text = f.source()
    assert text.count("class Retrace") == text.count("import numpy as np") == 1
    assert labels(text).startswith(
        'f is for x: array of shape (3,), float64; k = 2; "if np.sum(x * '
    )
    names = pasted(text)
    for name, given, result in zip(
        ("f", "f_2", "f_3"), (plus, minus, np.array([short, short])), results, strict=True
    ):
        np.testing.assert_array_equal(names[name](np.asarray(given)), result)
    assert "is true f_2 is for x: array of shape (3,), float64; k = 2; " in labels(text)
    assert "is false f_3 is for x: array of shape (2,), float64; k = 3" in labels(text)
    assert "def f_2" not in f.source(tm.constant([1.0, 2.0]), k=3)
    f(minus)
    assert f.source() == text  # in the order in which they were made


def test_rounds_of_a_loop_are_counted():
    """A condition that is asked in each round has one entry."""

    @tm.function
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    for x in (3.0, 3.0, 1.5, 1.5):
        halved(tm.constant(x))
    text = labels(halved.source())
    assert '"while x > 1" (line ' in text
    assert "is true 2 times, then false halved_2 is for" in text
    assert text.endswith("is true, then false")


def test_programs_of_another_value_that_is_read_say_which():
    """Calls with one signature lead to several programs if a value that the function reads changes."""
    factor = 2.0

    @tm.function
    def f(x):
        return x * factor

    for k in range(4):
        factor = 2.0 if k < 2 else 3.0
        f(tm.constant(1.0))
    text = f.source()
    assert labels(text) == "f is for x: float64; factor = 2.0 f_2 is for x: float64; factor = 3.0"


def test_numbers_texts_and_models_among_arguments():
    """Arrays are named by their kinds, and what is taken for granted by its value."""

    @tm.function
    def f(x, how, scale, w):
        return x * scale + w if how == "up" else x - scale

    w = tm.Variable(1.0)
    for how, scale in (("up", 0.5), ("down", 0.25)):
        for _ in range(2):
            f(tm.constant(1.0), how, scale, w)
    text = f.source()
    assert "f is for x: float64; how = 'up'; scale = 0.5; w: float64" in text
    assert "f_2 is for x: float64; how = 'down'; scale = 0.25" in text


def test_defaults_that_other_calls_give_are_said():
    """The program of a call that leaves an argument out holds for its default."""

    @tm.function
    def q(t, k=3.0, *, how="up", other=0.0):
        return t * k if how == "up" else t - k - other

    x = tm.constant(2.0)
    for _ in range(2):
        q(x), q(x, 5.0), q(x, how="down")
    assert labels(q.source()) == (
        "q is for t: float64; k = 3.0; how = 'up' "
        "q_2 is for t: float64; k = 5.0; how = 'up' "
        "q_3 is for t: float64; how = 'down'; k = 3.0"
    )


def test_programs_without_arguments_that_read_one_variable():
    """Labels name the value that differs. The Variable is neither compared nor hashed."""
    w, data, rate = tm.Variable([1.0, 2.0]), np.ones(2), 0.1

    @tm.function
    def step():
        w.assign_sub(rate * data)
        return w * rate

    for k in range(4):
        rate = 0.1 if k < 2 else 0.2
        step()
    text = step.source()
    assert labels(text).startswith("step is for rate = 0.1")
    assert "step_2 is for rate = 0.2" in labels(text)
    names = pasted(text)
    for name, factor in ("step", 0.1), ("step_2", 0.2):
        for found in names[name](np.ones(2), np.ones(2)):
            np.testing.assert_allclose(found, (1 - factor) * (factor if found[0] < 0.5 else 1))
