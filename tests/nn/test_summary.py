"""The table that `summary` prints."""

from __future__ import annotations

import numpy as np
import pytest

from tapemagic import nn
from tapemagic.errors import OptionError


def text_of(model: nn.Model, **options: object) -> str:
    """The text of a summary."""
    found: list[str] = []
    model.summary(print_fn=found.append, **options)
    return found[0]


def test_a_stack() -> None:
    """A stack has a row for each layer, and totals with bytes."""
    model = nn.Sequential(
        [nn.Input((784,)), nn.Dense(128, name="hidden"), nn.Dense(10, name="out")]
    )
    model.get_layer("hidden").trainable = False
    model.compile("sgd", "mse")
    model.optimizer.build(model.trainable_variables)
    text = text_of(model)

    assert "│ hidden (Dense)                  │ (None, 128)            │       100,480 │" in text
    assert " Total params: 101,772 (397.55 KB)" in text
    assert " Trainable params: 1,290 (5.04 KB)" in text
    assert " Non-trainable params: 100,480 (392.50 KB)" in text
    assert " Optimizer params: 2 (12.00 B)" in text
    assert {len(line) for line in text.splitlines() if line[0] in "┏┃┡│├└"} == {76}


def test_a_model_that_is_not_built_says_so() -> None:
    """Without shapes there are no numbers, and the text says how to get them."""
    text = text_of(nn.Sequential([nn.Dense(2, name="hidden")]))

    assert "│ ?" in text
    assert "0 (unbuilt)" in text
    assert "Not built yet" in text


def test_branches_and_nested_models() -> None:
    """A model with branches says what each layer is connected to; inner models can be opened."""
    a, b = nn.Input((2,), name="a"), nn.Input((2,), name="b")
    inner = nn.Sequential([nn.Input((4,)), nn.Dense(3, name="deep")], name="inner")
    shared = nn.Dense(4, name="shared")
    model = nn.Model([a, b], inner(shared(a)) * inner(shared(b)))
    text = text_of(model, expand_nested=True, show_trainable=True)

    assert "Connected to" in text
    assert "b[0][0]" in text
    assert "shared[1][0]" in text
    assert "│    └ deep" in text
    assert "Trainable" in text
    assert "Total params: 27 " in text


def test_a_class_of_ones_own() -> None:
    """A class of one's own shows the layers among its attributes."""

    class Own(nn.Model):
        def __init__(self) -> None:
            super().__init__(name="own")
            self.dense = nn.Dense(3, name="dense_of_own")

        def call(self, inputs: object) -> object:
            return self.dense(inputs)

    model = Own()
    model(np.ones((2, 4)))

    assert (
        "│ dense_of_own (Dense)            │ (None, 3)              │            15 │"
        in text_of(model)
    )


def test_a_width_without_room() -> None:
    """A table that is too narrow is refused."""
    with pytest.raises(OptionError, match="no room"):
        nn.Sequential([nn.Dense(1)]).summary(line_length=10)
