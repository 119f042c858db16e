"""Checkpoints: the paths, numbers and lists that TensorFlow 2.21 returns, and values that come back."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapemagic import tf
from tapemagic.errors import OptionError, WeightsError


class Net(tf.keras.Model):
    """A model that creates its variables at its first call."""

    def __init__(self) -> None:
        super().__init__()
        self.l1 = tf.keras.layers.Dense(5)

    def call(self, x: Any) -> Any:
        """Call the layer."""
        return self.l1(x)


def parts() -> tuple[Any, Any, Any]:
    """A model, an optimizer, and a checkpoint of both and of a step."""
    net, optimizer = Net(), tf.keras.optimizers.Adam(0.1)
    return net, optimizer, tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, net=net)


def step(net: Any, optimizer: Any, checkpoint: Any) -> float:
    """Train one step."""
    x = tf.reshape(tf.range(6.0), (2, 3))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - 1.0) ** 2)
    variables = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    checkpoint.step.assign_add(1)
    return float(loss)


def test_the_guide(tmp_path: Path) -> None:
    """Paths, the counter, the files that stay, and the list of checkpoints are TensorFlow's."""
    net, optimizer, checkpoint = parts()
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert manager.latest_checkpoint is None
    assert tf.train.latest_checkpoint(tmp_path) is None
    checkpoint.restore(manager.latest_checkpoint)

    paths = []
    for _ in range(4):
        step(net, optimizer, checkpoint)
        paths.append(manager.save())
    assert paths == [str(tmp_path / f"ckpt-{n}") for n in (1, 2, 3, 4)]
    assert manager.checkpoints == paths[2:]
    assert manager.latest_checkpoint == tf.train.latest_checkpoint(tmp_path) == paths[3]
    assert int(checkpoint.save_counter) == 4
    assert sorted(x.name for x in tmp_path.iterdir()) == ["checkpoint", "ckpt-3.npz", "ckpt-4.npz"]
    assert (tmp_path / "checkpoint").read_text().splitlines() == [
        'model_checkpoint_path: "ckpt-4"',
        'all_model_checkpoint_paths: "ckpt-3"',
        'all_model_checkpoint_paths: "ckpt-4"',
    ]
    assert tf.train.CheckpointManager(checkpoint, tmp_path, 3).checkpoints == paths[2:]


@pytest.mark.parametrize("is_built", [True, False])
def test_training_goes_on_from_a_checkpoint(tmp_path: Path, is_built: bool) -> None:
    """Values of variables that exist are assigned at once, others when layers and optimizers create them."""
    net, optimizer, checkpoint = parts()
    for _ in range(3):
        step(net, optimizer, checkpoint)
    path = checkpoint.save(tmp_path / "ckpt")
    expected = [step(net, optimizer, checkpoint) for _ in range(2)]

    other = parts()
    if is_built:
        step(*other)
    status = other[2].restore(path)
    assert int(other[2].step) == 4
    assert int(other[1].iterations) == 3
    assert int(other[2].save_counter) == 1
    status.assert_existing_objects_matched()
    if is_built:
        status.assert_consumed()
    else:
        with pytest.raises(AssertionError, match=r"no variable got: .*net/l1/kernel"):
            status.assert_consumed()
    assert [step(*other) for _ in range(2)] == expected
    status.assert_consumed()


def test_structures_and_a_root(tmp_path: Path) -> None:
    """Variables in lists, dicts, tf.Modules, metrics and other checkpoints have paths."""

    class Two(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.rest = tf.Variable(1.0), [tf.Variable(2.0), {"x": tf.Variable(3.0)}]

    metric = tf.keras.metrics.Mean()
    metric.update_state([1.0, 3.0])
    inner = tf.train.Checkpoint(v=tf.Variable([1, 2]))
    checkpoint = tf.train.Checkpoint(Two(), listed=[tf.Variable(4.0)], metric=metric, inner=inner)
    path = checkpoint.write(tmp_path / "new" / "w")
    assert path == str(tmp_path / "new" / "w")
    names = ["a", "inner/v", "listed/0", "metric/0", "metric/1", "rest/0", "rest/1/x"]
    assert [name for name, _ in tf.train.list_variables(path)] == names
    assert tf.train.load_variable(path, "inner/v").tolist() == [1, 2]

    before = {name: x.numpy() for name, x in checkpoint.variables_by_path().items()}
    for x in checkpoint.variables_by_path().values():
        x.assign(0 * x)
    checkpoint.read(path).assert_consumed()
    after = {name: x.numpy() for name, x in checkpoint.variables_by_path().items()}
    assert all(np.array_equal(before[name], after[name]) for name in names)
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    assert "model/optimizer/0" in tf.train.Checkpoint(model=model).variables_by_path()


def test_bad_checkpoints(tmp_path: Path) -> None:
    """Missing, broken and foreign files, other shapes and wrong arguments; nothing is half-restored."""
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    path = checkpoint.save(tmp_path / "ckpt")
    with pytest.raises(tf.errors.NotFoundError, match=r"there is no checkpoint '.*nothing'"):
        checkpoint.restore(tmp_path / "nothing")
    (tmp_path / "theirs.index").write_bytes(b"")
    with pytest.raises(tf.errors.NotFoundError, match="is TensorFlow's"):
        checkpoint.restore(tmp_path / "theirs")
    with pytest.raises(
        tf.errors.NotFoundError, match="no value named 'u': it has 'save_counter', 'v', 'w'"
    ):
        tf.train.load_variable(tmp_path, "u")

    other = tf.train.Checkpoint(w=tf.Variable(0.0), v=tf.Variable([0.0, 0.0, 0.0]))
    with pytest.raises(WeightsError, match=r"'v' with the shape \(2,\)"):
        other.restore(path).expect_partial()
    assert float(other.w) == 0
    whole = Path(f"{path}.npz").read_bytes()
    Path(f"{path}.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WeightsError, match="is broken"):
        checkpoint.restore(path)
    for value, advice in (
        (1, r"write step=tf\.Variable\(1\)"),
        (iter([1]), "iterator isn't saved"),
        ("a", "pass variables"),
    ):
        with pytest.raises(ValueError, match=advice):
            tf.train.Checkpoint(step=value)
    with pytest.raises(OptionError, match="max_to_keep"):
        tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=0)
    with pytest.raises(OptionError, match="keep_checkpoint_every_n_hours"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 1, keep_checkpoint_every_n_hours=1)


def test_values_that_no_variable_gets(tmp_path: Path) -> None:
    """A warning names them, unless they are expected."""
    path = tf.train.Checkpoint(v=tf.Variable(1.0), w=tf.Variable(2.0)).save(tmp_path / "ckpt")
    partial = tf.train.Checkpoint(v=tf.Variable(0.0))
    with pytest.warns(UserWarning, match="no variable got: w"):
        partial.restore(path)
    assert float(partial.v) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        partial.restore(path).expect_partial()
    more = tf.train.Checkpoint(v=tf.Variable(0.0), w=tf.Variable(0.0), u=tf.Variable(0.0))
    with pytest.raises(AssertionError, match="no values of the variables u"):
        more.restore(path).assert_consumed()
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        more.restore(None).assert_consumed()


def test_intervals_and_numbers(tmp_path: Path) -> None:
    """A manager saves after enough steps, under a given number, and restores or initializes."""
    steps, began = tf.Variable(0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(steps=steps), tmp_path, None, step_counter=steps, checkpoint_interval=3,
        checkpoint_name="at", init_fn=lambda: began.append(1),
    )  # fmt: skip
    assert manager.restore_or_initialize() is None
    assert began == [1]
    saved = []
    for _ in range(7):
        saved.append(manager.save())
        steps.assign_add(1)
    assert [path and path[-4:] for path in saved] == [
        "at-1",
        None,
        None,
        "at-2",
        None,
        None,
        "at-3",
    ]
    assert manager.save(checkpoint_number=17, check_interval=False) == str(tmp_path / "at-17")
    steps.assign(0)
    assert manager.restore_or_initialize() == str(tmp_path / "at-17")
    assert int(steps) == 7
