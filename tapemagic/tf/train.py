"""``tf.train``: checkpoints of variables, layers, models and optimizers, in ``.npz`` files.

The files aren't TensorFlow's: ``ckpt-1.npz`` takes the place of ``ckpt-1.index`` and ``ckpt-1.data-00000-of-00001``.
The paths that methods take and return are TensorFlow's, such as ``folder/ckpt-1``, and so is the file ``checkpoint``
with the names of the latest ones.

Examples
--------
>>> from tempfile import TemporaryDirectory
>>> import tapemagic.tf as tf
>>> step = tf.Variable(1)
>>> checkpoint = tf.train.Checkpoint(step=step)
>>> with TemporaryDirectory() as folder:
...     manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
...     path = manager.save()
...     _ = step.assign(5)
...     _ = checkpoint.restore(manager.latest_checkpoint)
>>> step.numpy()
np.int32(1)
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import OptionError, WeightsError
from tapemagic.nn.module import awaiting_variables
from tapemagic.nn.weights import Stored, read, write
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.variable import ResourceVariable
from tapemagic.tf.errors import NotFoundError
from tapemagic.tf.ops.module import Module

COUNTER = "save_counter"
INDEX = "checkpoint"
"""The name of the file with the names of the latest checkpoints of a folder."""


class Checkpoint:
    """Variables, layers, models, optimizers, and lists and dicts of them, that are saved and restored together.

    Raises ValueError if an argument has no variables, such as a number.

    Parameters
    ----------
    root : object, optional
        An object whose variables are saved without a name before them.
    **kwargs
        Objects by the names under which they're saved; also attributes.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> checkpoint = tf.train.Checkpoint(w=tf.Variable([1.0, 2.0]))
    >>> checkpoint.w.numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._root = root
        self._counter: Any = None
        for name, value in kwargs.items():
            _require_trackable(name, value)
            setattr(self, name, value)
        if root is not None:
            _require_trackable("root", root)

    @property
    def save_counter(self) -> Any:
        """The number of calls of `save`, a Variable."""
        if self._counter is None:
            self._counter = ResourceVariable(0, trainable=False, name=COUNTER, dtype="int64")
        return self._counter

    def variables_by_path(self) -> dict[str, Variable]:
        """Return all variables by the paths under which they're saved."""
        return dict(_variables("", self))

    def parts(self) -> dict[str, Any]:
        """Return the objects that are saved, by name."""
        named = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return named if self._root is None else {"": self._root, **named}

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write a checkpoint with the next number, and note it as the latest one of its folder.

        Parameters
        ----------
        file_prefix : path
            The folder and the beginning of the name, such as "folder/ckpt".
        options : optional
            Not used.

        Returns
        -------
        str
            The path, such as "folder/ckpt-1".
        """
        self.save_counter.assign_add(1)
        path = self._write(f"{file_prefix}-{int(self.save_counter)}", counts=True)
        _write_index(Path(path).parent, [Path(path).name])
        return path

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write a checkpoint without a number, and return its path; `read` restores it."""
        return self._write(str(file_prefix), counts=False)

    def _write(self, path: str, counts: bool) -> str:
        found = self.variables_by_path()
        if counts:
            found[COUNTER] = self.save_counter
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write(f"{path}.npz", {name: np.asarray(x.numpy()) for name, x in found.items()})
        return path

    def restore(self, save_path: Any, options: Any = None) -> Status:
        """Assign the values in a checkpoint to the variables of the same paths.

        Variables that layers and optimizers create only later get their values when they're created.

        Parameters
        ----------
        save_path : path or None
            A path that `save`, `write` or `latest_checkpoint` returned. None restores nothing.
        options : optional
            Not used.

        Returns
        -------
        Status
            Its `assert_consumed()` raises AssertionError if the checkpoint has values that weren't assigned.

        Raises
        ------
        NotFoundError
            If there is no such checkpoint.
        ValueError
            If the shape of a value differs. Nothing is changed.
        WeightsError
            If the file is cut off or broken. Nothing is changed.
        """
        if save_path is None:
            return Status(self, None, {})
        status = Status(self, str(save_path), _read(save_path))
        try:
            status.assign()
        except BaseException:
            status.expect_partial()  # the error says what was wrong
            raise
        return status

    read = restore

    def __repr__(self) -> str:
        return f"<Checkpoint of {', '.join(filter(None, self.parts())) or 'nothing'}>"


class Status:
    """The state of restoring a checkpoint, which `Checkpoint.restore` returns.

    Parameters
    ----------
    checkpoint : Checkpoint
    path : str or None
    values : mapping of str to array
        The values that aren't assigned yet.
    """

    def __init__(self, checkpoint: Checkpoint, path: str | None, values: Mapping[str, Any]) -> None:
        self._checkpoint, self._path = checkpoint, path
        self._names = list(values)
        self._left = dict(values)
        self._is_partial = False

    def assign(self) -> None:
        """Assign the values whose variables exist now, or raise WeightsError and assign none of them."""
        found = self._checkpoint.variables_by_path()
        if COUNTER in self._left:
            found[COUNTER] = self._checkpoint.save_counter
        ready = {name: self._left[name] for name in found if name in self._left}
        for name, value in ready.items():
            variable: Any = found[name]
            is_like = np.can_cast(value.dtype, variable.dtype.name, "same_kind")
            if value.shape != tuple(variable.shape) or not is_like:
                raise WeightsError(
                    f"the checkpoint {self._path!r} has {name!r} with the shape {value.shape} and the dtype "
                    f"{value.dtype}, and the variable has {tuple(variable.shape)} and {variable.dtype.name}: nothing "
                    "was restored"
                )
        for name, value in ready.items():
            found[name].assign(value, read_value=False)
            del self._left[name]
        # The others may belong to layers and optimizers that create their variables later.
        if self._left and any(map(_is_unfinished, self._checkpoint.parts().values())):
            awaiting_variables[id(self)] = self.assign
        else:
            awaiting_variables.pop(id(self), None)

    def __del__(self) -> None:
        if self._left and not self._is_partial:
            warnings.warn(
                f"the checkpoint {self._path!r} has values that no variable got: {', '.join(self._left)}. If that's "
                "intended, write checkpoint.restore(path).expect_partial()",
                UserWarning,
                stacklevel=2,
            )

    def assert_consumed(self) -> Status:
        """Raise AssertionError if a value in the checkpoint wasn't assigned to a variable, or vice versa."""
        self.assert_existing_objects_matched()
        if self._left:
            raise AssertionError(
                f"the checkpoint {self._path!r} has values that no variable got: {', '.join(self._left)}; layers and "
                "optimizers create their variables at their first use"
            )
        return self

    def assert_existing_objects_matched(self) -> Status:
        """Raise AssertionError if a variable isn't in the checkpoint."""
        if self._path is None:
            raise AssertionError(
                "No checkpoint specified (save_path=None); nothing is being restored."
            )
        found = self._checkpoint.variables_by_path()
        lacking = [name for name in found if name not in self._names]
        if lacking:
            raise AssertionError(
                f"the checkpoint {self._path!r} has no values of the variables {', '.join(lacking)}"
            )
        return self

    def assert_nontrivial_match(self) -> Status:
        """Raise AssertionError if no variable but the counter was restored."""
        if set(self._names) <= {*self._left, COUNTER}:
            raise AssertionError(
                f"the checkpoint {self._path!r} has no value of any of the variables"
            )
        return self

    def expect_partial(self) -> Status:
        """Accept values in the checkpoint that no variable gets: nothing is said about them."""
        self._is_partial = True
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: values are assigned at once."""

    run_restore_ops = initialize_or_restore


class CheckpointManager:
    """The latest checkpoints of a folder: older ones are deleted.

    Raises OptionError if `max_to_keep` isn't None or a positive integer.

    Parameters
    ----------
    checkpoint : Checkpoint
    directory : path
        Created by `save`. Checkpoints that another manager wrote there count as well.
    max_to_keep : int or None
        The number of checkpoints that are kept, or None for all.
    checkpoint_name : str, optional
        The beginning of the names.
    step_counter, checkpoint_interval : Variable, int, optional
        Let `save` write only if this many steps have passed since the last checkpoint.
    init_fn : callable, optional
        Called by `restore_or_initialize` if there is no checkpoint.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import tapemagic.tf as tf
    >>> checkpoint = tf.train.Checkpoint(w=tf.Variable(1.0))
    >>> with TemporaryDirectory() as folder:
    ...     manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    ...     for _ in range(3):
    ...         path = manager.save()
    ...     [path[-6:] for path in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
    ) -> None:
        if max_to_keep is not None and _count(max_to_keep) < 1:
            raise OptionError(
                f"max_to_keep must be a positive integer, or None for all checkpoints, not {max_to_keep!r}: write 3"
            )
        if keep_checkpoint_every_n_hours is not None:
            raise OptionError(
                "keep_checkpoint_every_n_hours isn't supported: omit it, and write max_to_keep=None to keep all"
            )
        if checkpoint_interval is not None and step_counter is None:
            raise OptionError("checkpoint_interval counts steps: pass step_counter= as well")
        self.checkpoint = checkpoint
        self.directory = str(directory)
        self.checkpoint_interval = checkpoint_interval
        self._limit, self._name = max_to_keep, checkpoint_name
        self._steps, self._init = step_counter, init_fn
        self._saved_at: int | None = None
        self._paths = _paths_of(Path(directory))

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints, oldest first."""
        return list(self._paths)

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, or None."""
        return self._paths[-1] if self._paths else None

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Write a checkpoint, and delete the oldest ones above the limit.

        Parameters
        ----------
        checkpoint_number : int, optional
            By default the checkpoint's `save_counter`.
        check_interval : bool, optional
            False also writes a checkpoint before `checkpoint_interval` steps have passed.
        options : optional
            Not used.

        Returns
        -------
        str or None
            The path, or None if not enough steps have passed.
        """
        steps = None if self._steps is None else int(self._steps)
        if check_interval and self._is_early(steps):
            return None
        prefix = str(Path(self.directory) / self._name)
        if checkpoint_number is None:
            path = self.checkpoint.save(prefix)
        else:
            self.checkpoint.save_counter.assign_add(1)
            path = self.checkpoint._write(f"{prefix}-{int(checkpoint_number)}", counts=True)
        self._paths = [*(old for old in self._paths if old != path), path]
        self._saved_at = steps
        while self._limit is not None and len(self._paths) > self._limit:
            Path(f"{self._paths.pop(0)}.npz").unlink(missing_ok=True)
        _write_index(Path(self.directory), [Path(old).name for old in self._paths])
        return path

    def _is_early(self, steps: int | None) -> bool:
        """Return True if fewer steps than the interval have passed since the last checkpoint."""
        if steps is None or self.checkpoint_interval is None or self._saved_at is None:
            return False
        return steps < self._saved_at + self.checkpoint_interval

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its path, or call `init_fn` and return None."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint).assert_nontrivial_match()
        elif self._init is not None:
            self._init()
        return self.latest_checkpoint


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Return the path of the latest checkpoint in a folder, or None if it has none.

    Parameters
    ----------
    checkpoint_dir : path
    latest_filename : str, optional
        The name of the file with the names of checkpoints, by default "checkpoint".

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.train.latest_checkpoint("no_such_folder") is None
    True
    """
    paths = _paths_of(Path(checkpoint_dir), latest_filename or INDEX)
    return paths[-1] if paths else None


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Return the names and shapes of the values in a checkpoint, or in the latest one of a folder.

    Parameters
    ----------
    ckpt_dir_or_file : path

    Raises
    ------
    NotFoundError
        If there is no checkpoint.
    """
    values = _read(_file_of(ckpt_dir_or_file))
    return [(name, list(value.shape)) for name, value in sorted(values.items())]


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """Return a value in a checkpoint, or in the latest one of a folder, as an array.

    Parameters
    ----------
    ckpt_dir_or_file : path
    name : str
        One of the names that `list_variables` returns.

    Raises
    ------
    NotFoundError
        If there is no checkpoint, or no value of this name.
    """
    values = _read(_file_of(ckpt_dir_or_file))
    if name not in values:
        raise NotFoundError(
            f"the checkpoint has no value named {name!r}: it has {', '.join(map(repr, sorted(values)))}"
        )
    return values[name]


def _count(value: Any) -> int:
    """Return an integer, or 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _file_of(path: Any) -> Any:
    return (latest_checkpoint(path) or path) if Path(path).is_dir() else path


def _read(path: Any) -> dict[str, Any]:
    """Return the values in a checkpoint by name, or raise NotFoundError."""
    text = str(path).removesuffix(".npz")
    if not Path(f"{text}.npz").is_file():
        if Path(f"{text}.index").is_file():
            raise NotFoundError(
                f"the checkpoint {text!r} is TensorFlow's, and checkpoints are .npz files here: read it in TensorFlow, "
                "and write model.save('net.keras') there, which tf.keras.models.load_model reads"
            )
        raise NotFoundError(
            f"there is no checkpoint {text!r}: pass a path that save() or tf.train.latest_checkpoint(folder) returned"
        )

    def every(stored: Mapping[str, Stored]) -> list[str]:
        return list(stored)

    return read(f"{text}.npz", every)


def _write_index(folder: Path, names: list[str]) -> None:
    """Write TensorFlow's file with the names of the checkpoints in a folder, the latest first."""
    lines = [f'model_checkpoint_path: "{names[-1]}"']
    lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
    (folder / INDEX).write_text("\n".join(lines) + "\n")


def _paths_of(folder: Path, index: str = INDEX) -> list[str]:
    """Return the paths of the checkpoints that are named in a folder's file and exist."""
    try:
        text = (folder / index).read_text()
    except (FileNotFoundError, NotADirectoryError):
        return []
    names = re.findall(r'^all_model_checkpoint_paths: "(.*)"$', text, re.MULTILINE)
    paths = [str(folder / name) for name in names]
    return [path for path in paths if Path(f"{path}.npz").is_file()]


def _require_trackable(name: str, value: Any) -> None:
    """Raise ValueError for an object that has no variables."""
    kinds = (Variable, Checkpoint, Module, nn.Module, nn.optimizers.Optimizer, nn.metrics.Metric)
    if not isinstance(value, (*kinds, list, tuple, dict)):
        advice = (
            "the position of a dataset's iterator isn't saved: leave it out"
            if hasattr(value, "__next__")
            else f"write {name}=tf.Variable({value!r})"
            if isinstance(value, int | float)
            else "pass variables, layers, models and optimizers"
        )
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got "
            f"{shown(value)}: {advice}"
        )


def _variables(
    path: str, value: Any, around: tuple[int, ...] = ()
) -> Iterator[tuple[str, Variable]]:
    """Yield the variables of an object with their paths."""
    if isinstance(value, Variable):
        yield path, value
    elif id(value) in around:
        return
    elif isinstance(value, nn.Module):
        for name, variable in value.named_variables().items():
            yield _joined(path, name), variable
        optimizer = getattr(value, "optimizer", None)
        if isinstance(optimizer, nn.optimizers.Optimizer):
            yield from _variables(_joined(path, "optimizer"), optimizer)
    elif isinstance(value, nn.optimizers.Optimizer | nn.metrics.Metric):
        for number, variable in enumerate(value.variables):
            yield _joined(path, str(number)), variable
    else:
        for name, part in _named_parts(value):
            yield from _variables(_joined(path, name), part, (*around, id(value)))


def _named_parts(value: Any) -> list[tuple[str, Any]]:
    """Return the parts of a container, of a tf.Module or of a Checkpoint, in which variables may be."""
    if isinstance(value, Checkpoint):
        return list(value.parts().items())
    if isinstance(value, Module):
        return sorted(
            (name, part) for name, part in vars(value).items() if not name.startswith("_scope")
        )
    if isinstance(value, Mapping):
        return [(str(name), part) for name, part in value.items()]
    if isinstance(value, list | tuple):
        return [(str(number), part) for number, part in enumerate(value)]
    return []


def _is_unfinished(value: Any) -> bool:
    """Return True if an object may still create variables, such as a layer before its first call."""
    if isinstance(value, nn.Module):
        modules = value.named_modules().values()
        optimizer = getattr(value, "optimizer", None)
        parts = [*modules, *([] if optimizer is None else [optimizer])]
        return not all(getattr(part, "built", True) for part in parts)
    if isinstance(value, nn.optimizers.Optimizer):
        return not value.built
    return any(_is_unfinished(part) for _, part in _named_parts(value))


def _joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path and name else path or name


__all__ = [
    "Checkpoint", "CheckpointManager", "latest_checkpoint", "list_variables", "load_variable",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
