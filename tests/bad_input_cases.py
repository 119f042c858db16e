"""What users ask wrongly of tapes, tensors and transforms of functions: one table of calls, errors and messages.

``CASES[public name][what is wrong]`` is a triple: the call, given the `User` of test_bad_input.py, the class of the
error, and words of its message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.errors import (
    ConsumedTapeError,
    CustomGradientError,
    DtypeError,
    FunctionError,
    GradientError,
    ImmutableError,
    ImmutableVariableError,
    NotATensorError,
    NotNumbersError,
    NotRecordingError,
    NotWatchableError,
    OptionError,
    RankError,
    ShapeError,
    TapeStateError,
    UnhashableError,
    UnsupportedArgumentError,
    VariablesKeywordError,
)

Case = tuple[Callable[[Any], Any], type[Exception], str]
Table = dict[str, dict[str, Case]]

OBJECTS = np.array([1.0, None, 3.0], dtype=object)
RAGGED = [[1.0], [2.0, 3.0]]
NO_ARRAY = "[[1.0], [2.0, 3.0]] isn't an array, because its rows differ in length or depth: pad them to one length"
NO_NUMBERS = "pass numbers, nested lists of numbers, or an array, if necessary with .astype(float)"
NO_FUNCTION = "of type Tensor: pass f itself, not its value f(x)"


def square(x: Any) -> Any:
    """A function of one array."""
    return x * x


def total(x: Any) -> Any:
    """A function that returns one number."""
    return np.sum(x * x)


def nothing(_x: Any) -> None:
    """A function that forgot its return."""


def generated(*parts: Any) -> Any:
    """A generator."""
    yield from parts


def endless(x: Any) -> list[Any]:
    """A list that contains itself, after a tensor."""
    parts = [x]
    parts.append(parts)
    return parts


def endless_dict() -> dict[str, Any]:
    """A dict that contains itself."""
    held: dict[str, Any] = {}
    held["a"] = held
    return held


DEEP: Any = 1.0
"""A list that is nested too deeply even to be shown."""
for _ in range(100_000):  # Python 3.12 and newer go down far
    DEEP = [DEEP]


class Mute:
    """Something that cannot be shown."""

    def __repr__(self) -> str:
        raise ValueError("no repr")


def pulled(u: Any, grad_fn: Any, *inputs: Any) -> Any:
    """The gradient of a function with a gradient of its own, on a tape of its own."""
    inputs = inputs or (u.c,)
    function = tm.custom_gradient(lambda *xs: (xs[0] * 1.0, grad_fn))
    with tm.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
    return tape.gradient(y, inputs)


def captured(u: Any, grad_fn: Any) -> Any:
    """The same of a function that reads a variable."""
    function = tm.custom_gradient(lambda x: (x * u.w, grad_fn))
    with tm.GradientTape() as tape:
        y = function(u.c)
    return tape.gradient(y, u.w)


def changeable(first: Any, later: Any) -> Any:
    """A function that returns something else when it is called again."""
    calls = []

    def function(x: Any) -> Any:
        calls.append(x)
        return first(x) if len(calls) == 1 else later(x)

    return function


def gradient_of(u: Any, function: Any) -> Any:
    """The gradient of a function in the user's constant, on a tape of its own."""
    with tm.GradientTape() as tape:
        tape.watch(u.c)
        y = function(u.c)
    return tape.gradient(y, u.c)


def add_in_place(u: Any) -> None:
    """``v += 1``, as a statement."""
    u.w += 1.0


def delete_item(u: Any) -> None:
    """``del v[0]``."""
    del u.w[0]


SOURCES: dict[str, Case] = {
    "a set": (lambda u: {u.w, u.c}, UnhashableError, "a Variable cannot be in a set"),
    "a set of others": (
        lambda u: u.tape.gradient(u.y, {1.0}),
        NotATensorError,
        "a source must be a Tensor or a Variable, not {1.0} of type set. Pass several tensors as a list",
    ),
    "a generator": (
        lambda u: u.tape.gradient(u.y, generated(u.w)),
        NotATensorError,
        "of type generator. Pass several tensors as a list, a tuple or a dict.",
    ),
    "the values of a dict": (
        lambda u: u.tape.gradient(u.y, {"w": u.w}.values()),
        NotATensorError,
        "of type dict_values. Pass several tensors as a list, a tuple or a dict.",
    ),
    "None": (
        lambda u: u.tape.gradient(u.y, None),
        NotATensorError,
        "a source must be a Tensor or a Variable, not None",
    ),
    "an array": (
        lambda u: u.tape.gradient(u.y, u.a),
        NotATensorError,
        "of type ndarray. Plain arrays aren't on the tape: write x = tapemagic.Variable(x) above the tape.",
    ),
    "an array of objects": (
        lambda u: u.tape.gradient(u.y, OBJECTS),
        NotATensorError,
        "not array([1.0, None, 3.0], dtype=object) of type ndarray",
    ),
    "a number": (
        lambda u: u.tape.gradient(u.y, 1.0),
        NotATensorError,
        "not 1.0 of type float. Write x = tapemagic.Variable(x) above the tape.",
    ),
    "text": (lambda u: u.tape.gradient(u.y, "w"), NotATensorError, "not 'w' of type str"),
    "a function": (
        lambda u: u.tape.gradient(u.y, square),
        NotATensorError,
        "of type function. Pass its result, or differentiate the function with tapemagic.grad.",
    ),
    "a reference": (
        lambda u: u.tape.gradient(u.y, [u.w.ref()]),
        NotATensorError,
        "of type Reference. Pass its tensor, with .deref().",
    ),
    "None deep inside": (
        lambda u: u.tape.gradient(u.y, {"w": u.w, "b": [(u.c, None)]}),
        NotATensorError,
        "a source must be a Tensor or a Variable, not None",
    ),
    "a dict that contains itself": (
        lambda u: u.tape.gradient(u.y, {"w": u.w, "more": endless(u.w)}),
        NotATensorError,
        "a dict of tensors contains itself, or is nested too deeply",
    ),
    "a list that is nested deeply": (
        lambda u: u.tape.gradient(u.y, DEEP),
        NotATensorError,
        "a list of tensors contains itself, or is nested too deeply",
    ),
    "something that cannot be shown": (
        lambda u: u.tape.gradient(u.y, Mute()),
        NotATensorError,
        "a source must be a Tensor or a Variable, not <Mute> of type Mute",
    ),
    "another tape": (lambda u: u.tape.gradient(u.y, u.tape), NotATensorError, "of type GradientTape"),
}  # fmt: skip

TARGETS: dict[str, Case] = {
    "target None": (
        lambda u: u.tape.gradient(None, u.w),
        NotATensorError,
        "Argument `target` should be a Tensor, or a list or nested structure of Tensors and Variables",
    ),
    "target None in a list": (
        lambda u: u.tape.gradient([u.y, None], u.w),
        NotATensorError,
        "a target must be a Tensor or a Variable, not None of type NoneType. A gradient that is None can't",
    ),
    "target an array": (
        lambda u: u.tape.gradient(u.y.numpy(), u.w),
        NotATensorError,
        "Comparisons and argmax return plain arrays, because they have no derivative.",
    ),
    "target a comparison": (
        lambda u: u.tape.gradient(u.y > 1.0, u.w),
        NotATensorError,
        "a target must be a Tensor or a Variable, not array([False,",
    ),
    "target a function": (
        lambda u: u.tape.gradient(lambda: u.y, u.w),
        NotATensorError,
        "Pass its result, or differentiate the function with tapemagic.grad.",
    ),
    "target that contains itself": (
        lambda u: u.tape.gradient(endless(u.y), u.w),
        NotATensorError,
        "a list of tensors contains itself, or is nested too deeply: pass the tensors in a flat list",
    ),
    "target a generator": (
        lambda u: u.tape.gradient(generated(u.y), u.w),
        NotATensorError,
        "a target must be a Tensor or a Variable",
    ),
}

WEIGHTS: dict[str, Case] = {
    "weights of another length": (
        lambda u: u.tape.gradient(u.y, u.w, np.ones(2)),
        ShapeError,
        "output_gradients has shape (2,) for a target of shape (3,): the shapes must be equal",
    ),
    "weights of another rank": (
        lambda u: u.tape.gradient(u.y, u.w, np.ones((1, 3))),
        ShapeError,
        "output_gradients has shape (1, 3) for a target of shape (3,)",
    ),
    "one vector for two": (
        lambda u: u.tape.gradient([u.y, [u.y, u.y]], u.w, [[1.0, 1.0, 1.0]]),
        ShapeError,
        "output_gradients is [[1.0, 1.0, 1.0]], which can't be assigned to 3 targets: pass",
    ),
    "weights that contain themselves": (
        lambda u: u.tape.gradient(u.y, u.w, endless(u.w)),
        NotATensorError,
        "a list of tensors contains itself, or is nested too deeply",
    ),
    "two numbers for one": (
        lambda u: u.tape.gradient(np.sum(u.y), u.w, [1.0, 2.0]),
        ShapeError,
        "output_gradients has 2 entries for 1 targets: pass one for each target",
    ),
    "no weights": (
        lambda u: u.tape.gradient(u.y, u.w, []),
        ShapeError,
        "output_gradients has shape (0,) for a target of shape (3,)",
    ),
    "too many weights": (
        lambda u: u.tape.gradient(u.y, u.w, [np.ones(3), np.ones(3)]),
        ShapeError,
        "output_gradients has 2 entries for 1 targets: pass one for each target",
    ),
    "too few weights": (
        lambda u: u.tape.gradient([u.y, u.y], u.w, [np.ones(3)]),
        ShapeError,
        "output_gradients has 1 entries for 2 targets",
    ),
    "weights None": (
        lambda u: u.tape.gradient([u.y, u.y], u.w, [None, np.ones(3)]),
        NotATensorError,
        "an entry of output_gradients is None: write ones for the plain gradient of that target, zeros to drop it",
    ),
    "weights with other keys": (
        lambda u: u.tape.gradient({"y": u.y}, u.w, {"z": np.ones(3)}),
        ShapeError,
        "output_gradients has the keys ['z'], the target ['y']",
    ),
    "complex weights": (
        lambda u: u.tape.gradient(u.y, u.w, np.ones(3) * 1j),
        ShapeError,
        "output_gradients is complex128 for a target that is float64: pass real weights",
    ),
    "weights of text": (
        lambda u: u.tape.gradient(u.y, u.w, "abc"),
        NotATensorError,
        "output_gradients must contain numbers, not 'abc' of type str",
    ),
    "weights of objects": (
        lambda u: u.tape.gradient(u.y, u.w, OBJECTS),
        NotATensorError,
        "output_gradients must contain numbers, not array([1.0, None, 3.0], dtype=object)",
    ),
    "weights a set": (
        lambda u: u.tape.gradient(u.y, u.w, {1.0}),
        NotATensorError,
        "output_gradients must contain numbers, not {1.0} of type set",
    ),
    "weights a generator": (
        lambda u: u.tape.gradient(u.y, u.w, generated(1.0, 1.0, 1.0)),
        NotATensorError,
        "output_gradients must contain numbers, not <generator object",
    ),
    "weights ragged": (
        lambda u: u.tape.gradient(u.y, u.w, RAGGED),
        NotATensorError,
        "output_gradients must contain numbers, not [[1.0], [2.0, 3.0]] of type list",
    ),
}

UNCONNECTED: dict[str, Case] = {
    f"unconnected {value!r}": (
        lambda u, value=value: u.tape.gradient(u.y, u.w, None, value),  # type: ignore[misc]
        OptionError,
        f"Unknown value for unconnected_gradients: {value!r}; write 'none' or 'zero'",
    )
    for value in (None, "ZERO", "nonsense", 0, ["zero"], {})
} | {
    "unconnected endless": (
        lambda u: u.tape.gradient(u.y, u.w, None, DEEP),
        OptionError,
        "Unknown value for unconnected_gradients: <list>; write 'none' or 'zero'",
    )
}

NEVER_ENTERED = "this GradientTape was never entered, and has recorded nothing: enter it first, with 'with tape:'"

PFOR = "write experimental_use_pfor=True, and other options by name"

TAPES: Table = {
    "GradientTape": {
        "persistent text": (
            lambda _: tm.GradientTape("no"),
            OptionError,
            "persistent must be True or False, not 'no': write persistent=True",
        ),
        "persistent a tensor": (
            lambda u: tm.GradientTape(u.w),
            OptionError,
            "persistent must be True or False, not Variable([1., 2., 3.], name='w')",
        ),
        "watch_accessed_variables a list": (
            lambda u: tm.GradientTape(watch_accessed_variables=[u.w]),
            OptionError,
            "watch_accessed_variables must be True or False, not [Variable(",
        ),
        "an unknown option": (
            lambda _: tm.GradientTape(presistent=True),  # type: ignore[call-arg]
            TypeError,
            "unexpected keyword argument 'presistent'",
        ),
    },
    "GradientTape.watch": {
        "an array": (
            lambda u: u.tape.watch(u.a),
            NotWatchableError,
            "the argument of watch() must be a Tensor or a Variable, not array([1., 2., 3.]) of type ndarray",
        ),
        "None": (lambda u: u.tape.watch(None), NotWatchableError, "not None of type NoneType"),
        "text": (lambda u: u.tape.watch("w"), NotWatchableError, "not 'w' of type str"),
        "a number": (lambda u: u.tape.watch(1.0), NotWatchableError, "not 1.0 of type float"),
        "a set": (lambda u: u.tape.watch({1.0}), NotWatchableError, "Pass several tensors as a list"),
        "a dict that contains itself": (
            lambda u: u.tape.watch(endless_dict()),
            NotWatchableError,
            "a dict of tensors contains itself, or is nested too deeply",
        ),
        "a generator": (
            lambda u: u.tape.watch(generated(u.w)),
            NotWatchableError,
            "Pass several tensors as a list, a tuple or a dict.",
        ),
        "an array deep inside": (
            lambda u: u.tape.watch([u.w, {"a": (u.c, u.a)}]),
            NotWatchableError,
            "not array([1., 2., 3.]) of type ndarray",
        ),
        "a tape that was never entered": (
            lambda u: tm.GradientTape().watch(u.w),
            TapeStateError,
            "watch() before the tape records: write 'with GradientTape() as tape:' first",
        ),
    },
    "GradientTape.gradient": SOURCES
    | TARGETS
    | WEIGHTS
    | UNCONNECTED
    | {"never entered": (lambda u: tm.GradientTape().gradient(u.y, u.w), NotRecordingError, NEVER_ENTERED)},
    "GradientTape.jacobian": {
        "never entered": (
            lambda u: tm.GradientTape(persistent=True).jacobian(u.y, u.w),
            NotRecordingError,
            NEVER_ENTERED,
        ),
        "row by row an array": (
            lambda u: u.tape.jacobian(u.y, u.w, experimental_use_pfor=np.ones(2)),
            OptionError,
            f"experimental_use_pfor must be True or False, not array([1., 1.]): {PFOR}",
        ),
        "two targets": (
            lambda u: u.tape.jacobian([u.y, u.y], u.w),
            NotATensorError,
            "of type list. For several, call it once for each, on a persistent tape.",
        ),
        "target None": (
            lambda u: u.tape.jacobian(None, u.w),
            NotATensorError,
            "jacobian takes one Tensor or Variable as its target, not None",
        ),
        "target an array": (
            lambda u: u.tape.jacobian(u.a, u.w),
            NotATensorError,
            "jacobian takes one Tensor or Variable as its target, not array([1., 2., 3.]) of type ndarray.",
        ),
        "source an array": (
            lambda u: u.tape.jacobian(u.y, [u.a]),
            NotATensorError,
            "a source must be a Tensor or a Variable, not array([1., 2., 3.])",
        ),
        "source a set": (lambda u: u.tape.jacobian(u.y, {1}), NotATensorError, "not {1} of type set"),
        "source None": (lambda u: u.tape.jacobian(u.y, None), NotATensorError, "a source must"),
        "unconnected": (
            lambda u: u.tape.jacobian(u.y, u.w, "zeros"),
            OptionError,
            "Unknown value for unconnected_gradients: 'zeros'",
        ),
    },
    "GradientTape.source": {
        "never entered": (lambda u: tm.GradientTape().source(u.y, u.c), NotRecordingError, NEVER_ENTERED),
        "an order of zero": (lambda u: u.tape.source(u.y, u.c, 0), OptionError, "an integer from 1 to 9"),
        "an array as source": (lambda u: u.tape.source(u.y, np.ones(3)), NotATensorError, "of type ndarray"),
    },
    "GradientTape.batch_jacobian": {
        "never entered": (lambda u: tm.GradientTape().batch_jacobian(u.b, u.m), NotRecordingError, NEVER_ENTERED),
        "row by row text": (
            lambda u: u.tape.batch_jacobian(u.b, u.m, experimental_use_pfor="no"),
            OptionError,
            f"experimental_use_pfor must be True or False, not 'no': {PFOR}",
        ),
        "target of one axis": (
            lambda u: u.tape.batch_jacobian(u.y, u.m),
            ShapeError,
            "Shape (3,) must have rank at least 2: the first axis of batch_jacobian's target counts the examples",
        ),
        "source of one axis": (
            lambda u: u.tape.batch_jacobian(u.b, u.w),
            ShapeError,
            "the first axis of batch_jacobian's source counts the examples; for a single one, use jacobian",
        ),
        "one number": (lambda u: u.tape.batch_jacobian(u.s, u.s), ShapeError, "Shape () must have rank at least 2"),
        "batches of different sizes": (
            lambda u: u.tape.batch_jacobian(u.b, tm.constant(np.ones((3, 2)))),
            ShapeError,
            "Need first dimension of target shape (2, 3) and source shape (3, 2) to match",
        ),
        "an empty batch for a full one": (
            lambda u: u.tape.batch_jacobian(u.b, tm.constant(np.ones((0, 3)))),
            ShapeError,
            "Need first dimension of target shape (2, 3) and source shape (0, 3) to match",
        ),
        "two sources": (
            lambda u: u.tape.batch_jacobian(u.b, [u.m]),
            NotATensorError,
            "batch_jacobian takes one Tensor or Variable as its source, not [Variable(",
        ),
        "source None": (
            lambda u: u.tape.batch_jacobian(u.b, None),
            NotATensorError,
            "batch_jacobian takes one Tensor or Variable as its source, not None",
        ),
        "target an array": (
            lambda u: u.tape.batch_jacobian(np.ones((2, 3)), u.m),
            NotATensorError,
            "batch_jacobian takes one Tensor or Variable as its target, not array(",
        ),
        "unconnected": (
            lambda u: u.tape.batch_jacobian(u.b, u.m, "ZERO"),
            OptionError,
            "Unknown value for unconnected_gradients: 'ZERO'",
        ),
    },
    "GradientTape.stop_recording": {
        "never entered": (
            lambda _: tm.GradientTape().stop_recording().__enter__(),
            NotRecordingError,
            "Trying to stop recording a tape which is not recording: enter it first, with 'with tape:'",
        )
    },
    "GradientTape.reset": {
        "never entered": (
            lambda _: tm.GradientTape().reset(),
            TapeStateError,
            "Tape is not recording: reset() belongs inside its 'with' block",
        )
    },
}  # fmt: skip


def _paused_twice(u: Any) -> None:
    with u.tape.stop_recording(), u.tape.stop_recording():
        pass


def _reset_in_a_pause(u: Any) -> None:
    with u.tape.stop_recording():
        u.tape.reset()


CLOSED: Table = {
    "GradientTape.stop_recording": {
        "after the block": (
            lambda u: u.tape.stop_recording().__enter__(),
            TapeStateError,
            "Tape is not recording: stop_recording() belongs inside its 'with' block",
        )
    },
    "GradientTape.reset": {
        "after the block": (
            lambda u: u.tape.reset(),
            TapeStateError,
            "Tape is not recording: reset() belongs inside its 'with' block",
        )
    },
}
"""What is wrong of a tape that is not recording."""

LIVE: Table = {
    "numpy": {
        "a variable as axis": (
            lambda u: np.sum(u.m, axis=u.s),
            UnsupportedArgumentError,
            "sum(..., axis=...) has no derivative in 'axis': pass it as a plain value, with x.numpy()",
        )
    },
    "GradientTape": {
        "entered twice": (
            lambda u: u.tape.__enter__(),
            TapeStateError,
            "Tape is still recording: leave its first 'with' block before entering it again",
        )
    },
    "GradientTape.stop_recording": {
        "in a pause": (_paused_twice, TapeStateError, "Tape is not recording: stop_recording()")
    },
    "GradientTape.reset": {"in a pause": (_reset_in_a_pause, TapeStateError, "Tape is not recording: reset()")},
}  # fmt: skip
"""What is wrong of one that is."""

ROW_BY_ROW = (
    "GradientTape must be created with persistent=True to compute a Jacobian row by row: leave "
    "experimental_use_pfor out"
)

NOT_PERSISTENT: Table = {
    "GradientTape.jacobian": {
        "row by row": (lambda u: u.tape.jacobian(u.y, u.w, experimental_use_pfor=False), ConsumedTapeError, ROW_BY_ROW)
    },
    "GradientTape.batch_jacobian": {
        "row by row": (
            lambda u: u.tape.batch_jacobian(u.b, u.m, experimental_use_pfor=False),
            ConsumedTapeError,
            ROW_BY_ROW,
        )
    },
}  # fmt: skip
"""What is wrong of a tape that is not persistent."""

TWICE = (
    "can only be used to compute one set of gradients (or jacobians): get all of them in one call"
)

USED_UP: dict[str, Case] = {
    "gradient": (lambda u: u.tape.gradient(u.y, u.w), ConsumedTapeError, TWICE),
    "jacobian": (lambda u: u.tape.jacobian(u.y, u.w), ConsumedTapeError, TWICE),
    "batch_jacobian": (lambda u: u.tape.batch_jacobian(u.b, u.m), ConsumedTapeError, TWICE),
    "watch": (
        lambda u: u.tape.watch(u.w),
        TapeStateError,
        "watch() on a tape that was already used. A non-persistent tape gives one set of gradients: use",
    ),
    "stop_recording": (
        lambda u: u.tape.stop_recording().__enter__(),
        NotRecordingError,
        "Trying to stop recording a tape which is not recording: it was already used. A non-persistent tape gives",
    ),
    "reset": (
        lambda u: u.tape.reset(),
        TapeStateError,
        "Tape is not recording: it was already used. A non-persistent tape gives one set of gradients: use",
    ),
    "a bad option": (lambda u: u.tape.gradient(u.y, u.w, None, "nonsense"), OptionError, "'nonsense'"),
}  # fmt: skip
"""What is wrong of a tape that has given its gradient."""

# -- tensors --------------------------------------------------------------------------------------


def _made(make: Any) -> dict[str, Case]:
    """What neither constant, nor Tensor, nor Variable makes a tensor of."""
    return {
        "None": (lambda _: make(None), NotNumbersError, "not object such as None"),
        "text": (lambda _: make("abc"), NotNumbersError, f"not <U3 such as 'abc': {NO_NUMBERS}"),
        "a list of text": (lambda _: make(["1", "2"]), NotNumbersError, "such as ['1', '2']"),
        "objects": (lambda _: make(OBJECTS), NotNumbersError, "a tensor holds numbers, not object"),
        "a set": (lambda _: make({1.0}), NotNumbersError, "not object such as {1.0}"),
        "a dict": (lambda _: make({"a": 1.0}), NotNumbersError, "not object such as {'a': 1.0}"),
        "a generator": (lambda _: make(generated(1.0)), NotNumbersError, "such as <generator obj"),
        "a function": (lambda _: make(np.sin), NotNumbersError, "not object such as <ufunc 'sin'>"),
        "a date": (lambda _: make(np.datetime64("2020")), NotNumbersError, "not datetime64[Y]"),
        "records": (lambda _: make(np.zeros(2, [("a", "f8")])), NotNumbersError, "[('a', '<f8')]"),
        "a huge integer": (lambda _: make(10**30), NotNumbersError, "not object such as 1000000"),
        "ragged": (lambda _: make(RAGGED), NotNumbersError, NO_ARRAY),
        "None as a float": (lambda _: make(None, dtype=float), NotNumbersError, "such as None"),
        "text as a float": (lambda _: make("abc", dtype=float), NotNumbersError, "such as 'abc'"),
        "ragged as a float": (lambda _: make(RAGGED, dtype=float), NotNumbersError, NO_ARRAY),
        "an unknown dtype": (
            lambda _: make(1.0, dtype="flot"),
            DtypeError,
            "a tensor can't have the dtype 'flot': write a numeric dtype, such as dtype='float64'",
        ),
        "a dtype of text": (lambda _: make(1.0, dtype="U8"), DtypeError, "have the dtype 'U8'"),
        "a dtype of objects": (
            lambda _: make([1.0], dtype=object),
            DtypeError,
            "can't have the dtype <class 'object'>",
        ),
        "complex as a float": (
            lambda _: make(1j, dtype=float),
            DtypeError,
            "1j does not fit into the dtype float64: omit the dtype, or convert the value first",
        ),
        "NaN as an integer": (
            lambda _: make(np.nan, dtype=int),
            DtypeError,
            "nan does not fit into int64: its range is -9223372036854775808 to 9223372036854775807",
        ),
        "a fraction as an integer": (
            lambda _: make([1.0, 2.7], dtype="int64"),
            DtypeError,
            "2.7 does not fit into int64: round it first, with np.round; or use another dtype",
        ),
        "an array of fractions as integers": (
            lambda _: make(np.array([[0.5]]), dtype="int64"),
            DtypeError,
            "0.5 does not fit into int64",
        ),
        "too large for its dtype": (
            lambda _: make(300, dtype="int8"),
            DtypeError,
            "300 does not fit into int8: its range is -128 to 127; or use another dtype",
        ),
        "negative without a sign": (
            lambda _: make(-1, dtype="uint8"),
            DtypeError,
            "-1 does not fit into uint8: its range is 0 to 255",
        ),
        "infinity as an integer": (lambda _: make([np.inf], dtype=int), DtypeError, "inf does not fit into int64"),
        "an integer too large for a float": (
            lambda _: make(10**400, dtype=float),
            NotNumbersError,
            "not object such as 1000000",
        ),
        "an array of complex numbers as floats": (
            lambda _: make(np.array([1j]), dtype=float),
            DtypeError,
            "array([0.+1.j]) does not fit into the dtype float64",
        ),
        "a tensor for a dtype": (
            lambda u: make(1.7, dtype=u.n),
            DtypeError,
            "a tensor can't have the dtype Tensor([0, 1, 2]): write a numeric dtype, such as dtype='float64'",
        ),
        "an array for a dtype": (lambda u: make(1.7, dtype=u.a), DtypeError, "the dtype array([1"),
        "an endless dict for a dtype": (
            lambda _: make(1.0, dtype=endless_dict()),
            DtypeError,
            "a tensor can't have the dtype {'a': {...}}",
        ),
        "an endless list": (
            lambda _: make(DEEP),
            NotNumbersError,
            "<list> isn't an array, because its rows differ in length or depth",
        ),
        "something that cannot be shown": (lambda _: make(Mute()), NotNumbersError, "as <Mute>:"),
    }  # fmt: skip


LAID_OUT = "pass a tuple of integers with as many elements, or a single number to fill it with"

TENSORS: Table = {
    "constant": _made(tm.constant)
    | {
        "another shape": (
            lambda u: tm.constant(u.a, shape=(2, 2)),
            ShapeError,
            f"cannot reshape a value of shape (3,) to shape (2, 2): {LAID_OUT}",
        ),
        "a tensor with fractions as integers": (
            lambda u: tm.constant(u.c, dtype="int64"),
            DtypeError,
            "0.5 does not fit into int64",
        ),
        "an endless shape": (
            lambda _: tm.constant(1.0, shape=DEEP),
            ShapeError,
            f"cannot reshape a value of shape () to shape <list>: {LAID_OUT}",
        ),
        "a negative length": (lambda _: tm.constant(1.0, shape=(-1,)), ShapeError, LAID_OUT),
        "a fraction for a shape": (lambda _: tm.constant(1.0, shape=2.5), ShapeError, "shape 2.5"),
        "text for a shape": (lambda _: tm.constant(1.0, shape="ab"), ShapeError, "to shape 'ab'"),
    },
    "Tensor": _made(tm.Tensor)
    | {
        "a tensor for astype": (
            lambda u: u.c.astype(u.n),
            DtypeError,
            "a tensor can't have the dtype Tensor([0, 1, 2]): write a numeric dtype",
        ),
        "writing": (
            lambda u: u.c.__setitem__(0, 1.0),
            ImmutableError,
            "a Tensor cannot be written into: build a new one with np.where or np.concatenate",
        ),
        "sorting in place": (lambda u: u.c.sort(), ImmutableError, "write np.sort(x)"),
        "filling": (lambda u: u.c.fill(0.0), ImmutableError, "write np.full_like(x, value)"),
        "partitioning": (lambda u: u.c.partition(1), ImmutableError, "write np.partition(x, kth)"),
        "hashing": (
            lambda u: {u.c: 0.1},
            UnhashableError,
            "element by element: write tuple(x.tolist()) for its numbers, or x.ref() for this Tensor",
        ),
        "truth of several": (
            lambda u: bool(u.c),
            RankError,
            "the truth value of a Tensor of shape (3,) is ambiguous: write np.any(x > 0) or np.all(x > 0), or np.where",
        ),
        "float of several": (
            lambda u: float(u.c),
            RankError,
            "float() needs a single number, but this Tensor has shape (3,): take one element, x[0]",
        ),
        "int of several": (lambda u: int(u.c), RankError, "int() needs a single number, but this"),
        "complex of several": (lambda u: complex(u.c), RankError, "complex() needs a single number"),
        "index of several": (lambda u: [1.0][u.n], RankError, "int() needs a single number"),
        "index that is no whole number": (
            lambda u: [1.0, 2.0][u.c[1]],
            DtypeError,
            "a Tensor of float64 isn't an integer: write int(x) to use it as an index",
        ),
        "format of several": (
            lambda u: f"{u.c:.2f}",
            RankError,
            "the format '.2f' is for a single number, but this tensor has shape (3,)",
        ),
        "length of one": (lambda u: len(u.c[0]), RankError, "a Tensor of one number has no len(): it has no axes"),
        "iteration over one": (
            lambda u: list(u.c[0]),
            RankError,
            "a Tensor of one number cannot be iterated over: it has no axes",
        ),
    },
    "Variable": _made(tm.Variable)
    | {
        "trainable text": (
            lambda _: tm.Variable(1.0, "float32"),  # type: ignore[arg-type]
            OptionError,
            "trainable must be True or False, not 'float32': write trainable=True, and other options by name",
        ),
        "trainable an array": (
            lambda u: tm.Variable(1.0, trainable=u.a),
            OptionError,
            "trainable must be True or False, not array([1., 2., 3.])",
        ),
        "a name that is no text": (
            lambda _: tm.Variable(1.0, name=3),  # type: ignore[arg-type]
            OptionError,
            "a variable's name must be a string, not 3: write name='w'",
        ),
        "assign another shape": (
            lambda u: u.w.assign([1.0, 2.0]),
            ShapeError,
            "cannot assign a value of shape (2,) to 'w', which has shape (3,): a variable keeps its shape",
        ),
        "assign one number": (lambda u: u.w.assign(1.0), ShapeError, "a value of shape () to 'w'"),
        "assign None": (lambda u: u.w.assign(None), NotNumbersError, "such as None"),
        "assign text": (lambda u: u.w.assign("abc"), NotNumbersError, "such as 'abc'"),
        "assign objects": (lambda u: u.w.assign(OBJECTS), NotNumbersError, "not object such as"),
        "assign ragged": (lambda u: u.w.assign(RAGGED), NotNumbersError, NO_ARRAY),
        "assign complex": (
            lambda u: u.w.assign([1j, 0.0, 0.0]),
            DtypeError,
            "cannot assign a value of complex128 to 'w', which is float64: assign np.real(...)",
        ),
        "assign a fraction": (
            lambda _: tm.Variable([1, 2]).assign([3.0, 2.7]),
            DtypeError,
            "2.7 does not fit into int64: round it first, with np.round; or use another dtype",
        ),
        "assign NaN to a whole number": (
            lambda _: tm.Variable(1).assign(np.nan),
            DtypeError,
            "nan does not fit into int64: its range is",
        ),
        "assign too large a number": (
            lambda _: tm.Variable(1, dtype="int8").assign(300),
            DtypeError,
            "300 does not fit into int8: its range is -128 to 127",
        ),
        "assign_add a fraction": (lambda _: tm.Variable(1).assign_add(0.9), DtypeError, "0.9 does not fit into int64"),
        "assign_sub below zero": (
            lambda _: tm.Variable(1, dtype="uint8").assign_sub(2),
            DtypeError,
            "-1 does not fit into uint8",
        ),
        "assign a fraction to a part": (
            lambda _: tm.Variable([1, 2])[0].assign(0.5),
            DtypeError,
            "0.5 does not fit into int64",
        ),
        "assign_add another shape": (
            lambda u: u.w.assign_add([1.0, 2.0]),
            ShapeError,
            "cannot add a value of shape (2,) to 'w', which has shape (3,)",
        ),
        "assign_add a larger one": (
            lambda u: u.w.assign_add(np.ones((2, 3))),
            ShapeError,
            "cannot assign a value of shape (2, 3) to 'w', which has shape (3,)",
        ),
        "assign_add None": (lambda u: u.w.assign_add(None), NotNumbersError, "such as None"),
        "assign_add ragged": (lambda u: u.w.assign_add(RAGGED), NotNumbersError, NO_ARRAY),
        "assign_add complex": (lambda u: u.w.assign_add(1j), DtypeError, "complex128 to 'w'"),
        "assign_sub another shape": (
            lambda u: u.w.assign_sub([1.0, 2.0]),
            ShapeError,
            "cannot subtract a value of shape (2,) to 'w'",
        ),
        "assign_sub text": (lambda u: u.w.assign_sub("a"), NotNumbersError, "such as 'a'"),
        "assign to a part another shape": (
            lambda u: u.w[:2].assign([1.0, 2.0, 3.0]),
            ShapeError,
            "cannot assign a value of shape (3,) to a part of shape (2,) of 'w'",
        ),
        "assign to a part None": (lambda u: u.w[:2].assign(None), NotNumbersError, "such as None"),
        "assign to a part ragged": (lambda u: u.w[:2].assign(RAGGED), NotNumbersError, NO_ARRAY),
        "assign to a part complex": (
            lambda u: u.w[:2].assign(1j),
            DtypeError,
            "cannot assign a value of complex128 to 'w'",
        ),
        "adding in place": (
            add_in_place,
            ImmutableVariableError,
            "an in-place operator cannot change the variable 'w': write v.assign_add(...)",
        ),
        "writing": (lambda u: u.w.__setitem__(0, 1.0), ImmutableError, "a Variable cannot be written into"),
        "deleting": (delete_item, ImmutableError, "nothing can be deleted from a Variable"),
        "hashing": (lambda u: {u.w: 0.1}, UnhashableError, "a Variable cannot be in a set, or a"),
        "truth of several": (lambda u: bool(u.w), RankError, "of a Variable of shape (3,) is ambi"),
        "float of several": (lambda u: float(u.w), RankError, "this Variable has shape (3,)"),
        "length of one": (lambda u: len(u.s), RankError, "a Variable of one number has no len()"),
    },
}  # fmt: skip

# -- derivatives of one's own -----------------------------------------------------------------------

CUSTOM: Table = {
    "function": {
        "no function": (
            lambda u: tm.function(u.y),
            OptionError,
            "tm.function takes a function, not Tensor([ 1., 8., 36.]): write tm.function(f)",
        ),
        "a class": (lambda _: tm.function(Mute), OptionError, "tm.function takes a function, not <class"),
        "a generator": (
            lambda _: tm.function(generated),
            FunctionError,
            "tm.function takes no function that is a generator: return a list",
        ),
        "no programs": (
            lambda _: tm.function(square, max_programs=0),
            OptionError,
            "max_programs must be a positive integer, not 0: write max_programs=8",
        ),
        "a source before there is one": (
            lambda u: tm.function(square).source(u.c),
            FunctionError,
            "square has no program for such arguments yet: call it twice",
        ),
    },
    "custom_gradient": {
        "no function": (
            lambda u: tm.custom_gradient(u.y),
            CustomGradientError,
            f"expected a function, not Tensor([ 1., 8., 36.]) {NO_FUNCTION}",
        ),
        "no pair": (
            lambda u: tm.custom_gradient(square)(u.c),
            CustomGradientError,
            "its result and a gradient function: write return y, grad. It returned Tensor([0.25, 1. , 4. ])",
        ),
        "nothing": (
            lambda u: tm.custom_gradient(nothing)(u.c),
            CustomGradientError,
            "return y, grad. It returned None",
        ),
        "a gradient, not a function": (
            lambda u: tm.custom_gradient(lambda x: (x, x))(u.c),
            CustomGradientError,
            "must return a pair, its result and a gradient function",
        ),
        "text as the result": (
            lambda u: tm.custom_gradient(lambda _: ("abc", square))(u.c),
            CustomGradientError,
            "<lambda> must return tensors, numbers or structures of them, not 'abc'",
        ),
        "None as the result": (
            lambda u: tm.custom_gradient(lambda _: (None, square))(u.c),
            CustomGradientError,
            "must return tensors, numbers or structures of them, not None",
        ),
        "a tensor by keyword": (
            lambda u: tm.custom_gradient(lambda x, b: (x * b, square))(u.c, b=u.c),
            CustomGradientError,
            "<lambda>(b=...) passes a tensor by keyword, but grad_fn returns gradients",
        ),
        "too few gradients": (
            lambda u: pulled(u, lambda g: g, u.c, u.w),
            CustomGradientError,
            "custom_gradient function expected to return 2 gradients, but returned 1 instead.",
        ),
        "too many gradients": (
            lambda u: pulled(u, lambda g: (g, g)),
            CustomGradientError,
            "custom_gradient function expected to return 1 gradients, but returned 2 instead.",
        ),
        "no gradients": (
            lambda u: pulled(u, lambda _: []),
            CustomGradientError,
            "expected to return 1 gradients, but returned 0 instead.",
        ),
        "a gradient of another shape": (
            lambda u: pulled(u, lambda g: g[0]),
            CustomGradientError,
            "returned a gradient of shape () for argument 0 of shape (3,): the shapes must be equal",
        ),
        "a gradient of text": (
            lambda u: pulled(u, lambda _: "abc"),
            CustomGradientError,
            "returned 'abc' of type str as the gradient of argument 0: return a tensor, an array or a number",
        ),
        "a set of gradients": (
            lambda u: pulled(u, lambda _: {1.0}),
            CustomGradientError,
            "returned {1.0} of type set as the gradient of argument 0",
        ),
        "grad_fn without upstream": (
            lambda u: pulled(u, lambda: None),
            CustomGradientError,
            "an upstream gradient for each tensor that <lambda> returned, here 1: write def grad(g0)",
        ),
        "grad_fn with too many": (
            lambda u: pulled(u, lambda a, b: a * b),
            CustomGradientError,
            "here 1: write def grad(g0)",
        ),
        "a variable behind grad_fn's back": (
            lambda u: captured(u, lambda g: g),
            VariablesKeywordError,
            "variables that aren't among its arguments: 'w'. Write def grad(upstream, variables=None), and return",
        ),
        "a variable and a grad_fn in C": (
            lambda u: captured(u, max),
            VariablesKeywordError,
            "grad_fn must accept keyword argument 'variables'",
        ),
        "no gradients of variables": (
            lambda u: captured(u, lambda g, variables: g),  # noqa: ARG005
            CustomGradientError,
            "must return a pair, the gradients of the arguments and a list of the variables' gradients, not Tensor(",
        ),
        "too few gradients of variables": (
            lambda u: captured(u, lambda g, variables: (g, [])),  # noqa: ARG005
            CustomGradientError,
            "returned 0 gradients for 1 variables",
        ),
    },
    "stop_gradient": {
        "None": (lambda _: tm.stop_gradient(None), NotNumbersError, "not object such as None"),
        "text": (lambda _: tm.stop_gradient("abc"), NotNumbersError, "such as 'abc'"),
        "a set": (lambda _: tm.stop_gradient({1.0}), NotNumbersError, "such as {1.0}"),
        "None in a list": (lambda u: tm.stop_gradient([u.c, None]), NotNumbersError, "None"),
        "ragged": (lambda _: tm.stop_gradient(RAGGED), NotNumbersError, NO_ARRAY),
    },
    "grad_pass_through": {
        "no function": (
            lambda u: tm.grad_pass_through(u.y),
            FunctionError,
            f"expected a function, not Tensor([ 1., 8., 36.]) {NO_FUNCTION}",
        ),
        "another shape": (
            lambda u: gradient_of(u, tm.grad_pass_through(np.sum)),
            CustomGradientError,
            "the grad_fn of sum returned a gradient of shape () for argument 0 of shape (3,)",
        ),
        "nothing": (
            lambda u: tm.grad_pass_through(nothing)(u.c),
            CustomGradientError,
            "nothing must return tensors, numbers or structures of them, not None",
        ),
    },
    "recompute_grad": {
        "no function": (lambda u: tm.recompute_grad(u.y), FunctionError, NO_FUNCTION),
        "nothing": (
            lambda u: tm.recompute_grad(nothing)(u.c),
            CustomGradientError,
            "nothing must return tensors, numbers or structures of them, not None",
        ),
        "text": (lambda u: tm.recompute_grad(lambda _: "abc")(u.c), CustomGradientError, "not 'abc' of type str"),
        "something else the second time": (
            lambda u: gradient_of(u, tm.recompute_grad(changeable(square, lambda x: x[:2]))),
            FunctionError,
            "function returned shapes [(3,)], and [(2,)] when it was computed again for its gradient: a",
        ),
    },
}  # fmt: skip

# -- derivatives of functions -----------------------------------------------------------------------

WITHOUT_TENSOR = (
    "returned 1.0 of type float, not a tensor: compute it with NumPy from its arguments, without float() or "
    ".numpy()"
)


def _argument(what: str) -> str:
    return f"argument 0 of square must be a number or an array, not {what}"


def _of_arguments(f: Any) -> dict[str, Case]:
    """What the functional interface of TensorFlow refuses; `f` computes and differentiates at once."""
    return {
        "no function": (lambda u: f(u.y), FunctionError, NO_FUNCTION),
        "returns None": (
            lambda u: f(nothing)(u.c),
            FunctionError,
            "Cannot differentiate a function that returns None; did you forget to return a value from nothing?",
        ),
        "returns a float": (lambda u: f(lambda _: 1.0)(u.c), NotATensorError, WITHOUT_TENSOR),
        "returns text": (lambda u: f(lambda _: "a")(u.c), NotATensorError, "returned 'a' of type"),
        "returns None in a list": (
            lambda u: f(lambda x: [x, None])(u.c),
            NotATensorError,
            "<lambda> returned None of type NoneType, not a tensor",
        ),
        "arguments by keyword": (
            lambda u: f(square)(x=u.c),
            FunctionError,
            "Functions to be differentiated cannot receive keyword arguments. Pass x by position",
        ),
        "text": (lambda _: f(square)("ab"), NotNumbersError, _argument("'ab' of type str")),
        "None": (lambda _: f(square)(None), NotNumbersError, _argument("None of type NoneType")),
        "a set": (lambda _: f(square)({1.0}), NotNumbersError, _argument("{1.0} of type set")),
        "objects": (lambda _: f(square)(OBJECTS), NotNumbersError, "dtype=object) of type ndarray"),
        "ragged": (lambda _: f(square)(RAGGED), NotNumbersError, _argument("[[1.0], [2.0, 3.0]] of type list")),
        "None beside a tensor": (lambda u: f(square)([u.c, None]), NotNumbersError, _argument("None of type NoneType")),
        "names and positions": (
            lambda u: f(np.multiply, [0, "y"])(u.c, u.c),
            OptionError,
            "params must be all strings or all integers; got [0, 'y'].",
        ),
        "an unknown name": (
            lambda u: f(square, ["z"])(u.c),
            OptionError,
            "params names 'z', which square does not have: its arguments are x",
        ),
        "a name that is not given": (
            lambda u: f(lambda x, y=2.0: x * y, ["y"])(u.c),
            OptionError,
            "params names 'y', which <lambda> did not receive: pass it by position",
        ),
        "names of a function in C": (
            lambda u: f(max, ["x"])(u.c),
            OptionError,
            "params has names, but Python can't inspect the parameters of max: use positions",
        ),
        "a position too far": (
            lambda u: f(square, [1])(u.c),
            OptionError,
            "params has the position 1, but square received 1 arguments",
        ),
        "a fraction": (lambda u: f(square, [0.5])(u.c), OptionError, "all integers; got [0.5]."),
        "one position": (
            lambda u: f(square, 0)(u.c),
            OptionError,
            "params must be a list of names or positions, not 0: write params=[0], or params=['x']",
        ),
        "one name": (lambda u: f(square, "x")(u.c), OptionError, "names or positions, not 'x'"),
        "a set of positions": (lambda u: f(square, {0})(u.c), OptionError, "positions, not {0}"),
        "no position": (
            lambda u: f(square, [])(u.c),
            OptionError,
            "params is empty: name at least one argument, or leave it out for all",
        ),
    }  # fmt: skip


def _weighed(f: Any) -> dict[str, Case]:
    return {
        "weights of another shape": (
            lambda u: f(square)(u.c, dy=np.ones(2)),
            ShapeError,
            "output_gradients has shape (2,) for a target of shape (3,)",
        ),
        "weights of text": (
            lambda u: f(square)(u.c, dy="abc"),
            NotATensorError,
            "output_gradients must contain numbers, not 'abc'",
        ),
    }


def _pulled_back(function: Any, params: Any = None) -> Any:
    """make_vjp, at once."""
    differentiable = tm.make_vjp(function, params)
    return lambda *args, **kwargs: differentiable(*args, **kwargs)[1]()


def _of_variables(f: Any) -> dict[str, Case]:
    return {
        "no function": (lambda u: f(u.y), FunctionError, NO_FUNCTION),
        "no variables": (
            lambda u: f(square)(u.c),
            FunctionError,
            "square has to read a tapemagic.Variable; for gradients with respect to arguments, use gradients_function",
        ),
        "returns None": (lambda u: f(nothing)(u.c), FunctionError, "a function that returns None"),
        "returns a float": (lambda u: f(lambda: float(u.s) / 2)(), NotATensorError, WITHOUT_TENSOR),
    }


def _pull_twice(u: Any) -> Any:
    _, vjp = tm.make_vjp(square, persistent=False)(u.c)
    return vjp(), vjp()


FUNCTIONAL: Table = {
    "make_vjp": _of_arguments(_pulled_back)
    | {
        "pulled back twice": (_pull_twice, ConsumedTapeError, TWICE),
        "persistent text": (
            lambda u: tm.make_vjp(square, persistent="no")(u.c),  # type: ignore[arg-type]
            OptionError,
            "persistent must be True or False, not 'no'",
        ),
    },
    "gradients_function": _of_arguments(tm.gradients_function) | _weighed(tm.gradients_function),
    "value_and_gradients_function": _of_arguments(tm.value_and_gradients_function)
    | _weighed(tm.value_and_gradients_function),
    "val_and_grad_function": _of_arguments(tm.val_and_grad_function)
    | _weighed(tm.val_and_grad_function),
    "implicit_grad": _of_variables(tm.implicit_grad),
    "implicit_val_and_grad": _of_variables(tm.implicit_val_and_grad),
}

WHOLE = "but only real and complex numbers have derivatives: write"


def _transformed(f: Any) -> dict[str, Case]:
    """What grad and its kin refuse, all of them."""
    return {
        "no function": (lambda u: f(u.y), FunctionError, NO_FUNCTION),
        "returns None": (lambda u: f(nothing)(u.c), FunctionError, "a value from nothing?"),
        "returns a float": (lambda u: f(lambda _: 1.0)(u.c), NotATensorError, WITHOUT_TENSOR),
        "returns a set": (lambda u: f(lambda _: {1})(u.c), NotATensorError, "returned {1} of type"),
        "text": (lambda _: f(square)("ab"), NotNumbersError, _argument("'ab' of type str")),
        "None": (lambda _: f(square)(None), NotNumbersError, _argument("None of type NoneType")),
        "a set": (lambda _: f(square)({1.0}), NotNumbersError, _argument("{1.0} of type set")),
        "a generator": (lambda _: f(square)(generated()), NotNumbersError, "of type generator"),
        "objects": (lambda _: f(square)(OBJECTS), NotNumbersError, "dtype=object) of type ndarray"),
        "a whole number": (lambda _: f(square)(3), NotATensorError, f"argument 0 of square holds int64, {WHOLE} 3.0"),
        "whole numbers": (
            lambda _: f(square)(np.array([1, 2])),
            NotATensorError,
            f"argument 0 of square holds int64, {WHOLE} x.astype(float)",
        ),
        "None in a dict": (
            lambda u: f(square)({"a": u.c, "b": None}),
            NotNumbersError,
            _argument("None of type NoneType"),
        ),
        "argnums text": (
            lambda u: f(square, "x")(u.c),
            OptionError,
            "argnums must be a position, or a tuple of positions, not 'x'",
        ),
        "argnums a list": (
            lambda u: f(square, [0])(u.c),
            OptionError,
            "argnums must be a position, or a tuple of positions, not [0]",
        ),
        "argnums a fraction": (
            lambda u: f(square, 0.0)(u.c),
            OptionError,
            "argnums must be a position, or a tuple of positions, not 0.0",
        ),
        "argnums too far": (
            lambda u: f(square, 1)(u.c),
            OptionError,
            "argnums has the position 1, but square received 1 arguments by position",
        ),
        "argnums something that cannot be shown": (
            lambda u: f(square, Mute())(u.c),
            OptionError,
            "argnums must be a position, or a tuple of positions, not <Mute>",
        ),
        "a list that contains itself": (
            lambda u: f(square)(endless(u.c)),
            NotATensorError,
            "a list of tensors contains itself, or is nested too deeply",
        ),
        "a dict that contains itself": (
            lambda _: f(square)(endless_dict()),
            NotATensorError,
            "a dict of tensors contains itself, or is nested too deeply",
        ),
        "argnums empty": (lambda u: f(square, ())(u.c), OptionError, "argnums is empty: name at"),
    }  # fmt: skip


def _by_keyword(f: Any) -> dict[str, Case]:
    return {
        "by keyword": (
            lambda u: f(square)(x=u.c),
            OptionError,
            "argnums has the position 0, but square received 0 arguments by position",
        )
    }


def _of_one_number(f: Any) -> dict[str, Case]:
    return {
        "several numbers": (
            lambda u: f(square)(u.c),
            ShapeError,
            "square returned shape (3,), but a gradient needs a single number: sum it with np.sum, or use jacobian",
        )
    }


def _times_vector(function: Any, argnums: Any = 0) -> Any:
    """Hvp, with the vector that fits its first argument."""
    product = tm.hvp(function, argnums)
    return lambda *args: product(*args, *args[:1])


AT_LEAST_ONE = "square is differentiated with respect to its arguments: pass at least one argument"

VECTOR_SHAPE = "the vector has shape (2,), but must have shape (3,)"

TRANSFORMS: Table = {
    "grad": _transformed(tm.grad) | _by_keyword(tm.grad) | _of_one_number(tm.grad),
    "value_and_grad": _transformed(tm.value_and_grad)
    | _by_keyword(tm.value_and_grad)
    | _of_one_number(tm.value_and_grad),
    "jacobian": _transformed(tm.jacobian) | _by_keyword(tm.jacobian),
    "hessian": _transformed(tm.hessian) | _by_keyword(tm.hessian),
    "hvp": _transformed(_times_vector)
    | _of_one_number(_times_vector)
    | {
        "no vector": (
            lambda u: tm.hvp(total)(u.c),
            FunctionError,
            "the Hessian-vector product of total takes its arguments, followed by the vector",
        ),
        "a vector of another shape": (lambda u: tm.hvp(total)(u.c, np.ones(2)), ShapeError, VECTOR_SHAPE),
        "a vector that contains itself": (
            lambda u: tm.hvp(total)(u.c, endless(1.0)),
            NotATensorError,
            "a list of tensors contains itself, or is nested too deeply",
        ),
        "a complex vector": (
            lambda u: tm.hvp(total)(u.c, 1j * u.a),
            ShapeError,
            "the vector is complex128, but must be float64: pass real numbers",
        ),
        "a vector of text": (
            lambda u: tm.hvp(total)(u.c, ["a", "b", "c"]),
            NotNumbersError,
            "must be numbers of shape (3,), not",
        ),
        "no numbers": (
            lambda u: tm.hvp(total)(u.c, None),
            NotNumbersError,
            "the vector must be numbers of shape (3,), not None of type NoneType",
        ),
        "a ragged vector": (lambda u: tm.hvp(total)(u.c, RAGGED), NotNumbersError, NO_ARRAY),
        "a vector with other keys": (
            lambda u: tm.hvp(lambda d: total(d["a"]))({"a": u.c}, {"b": u.c}),
            ShapeError,
            "does not have the structure of {'a': Tensor(",
        ),
    },
    "vjp": {
        "no function": (lambda u: tm.vjp(u.y, u.c), FunctionError, NO_FUNCTION),
        "no arguments": (lambda _: tm.vjp(square), OptionError, AT_LEAST_ONE),
        "text": (lambda _: tm.vjp(square, "ab"), NotNumbersError, _argument("'ab' of type str")),
        "returns None": (lambda u: tm.vjp(nothing, u.c), FunctionError, "a value from nothing?"),
        "returns a float": (lambda u: tm.vjp(lambda _: 1.0, u.c), NotATensorError, WITHOUT_TENSOR),
        "a cotangent of another shape": (
            lambda u: tm.vjp(square, u.c)[1](np.ones(2)),
            ShapeError,
            "the cotangent has shape (2,), but must have shape (3,)",
        ),
        "a complex cotangent": (
            lambda u: tm.vjp(square, u.c)[1](1j * u.a),
            ShapeError,
            "the cotangent is complex128, but must be float64: pass real numbers",
        ),
        "a cotangent that contains itself": (
            lambda u: tm.vjp(square, u.c)[1](endless(u.c)),
            NotATensorError,
            "a list of tensors contains itself, or is nested too deeply",
        ),
        "cotangent None": (
            lambda u: tm.vjp(square, u.c)[1](None),
            NotNumbersError,
            "the cotangent must be numbers of shape (3,), not None of type NoneType",
        ),
        "cotangents of another structure": (
            lambda u: tm.vjp(lambda x: {"p": x}, u.c)[1]({"q": u.c}),
            ShapeError,
            "does not have the structure of {'p': Tensor(",
        ),
    },
    "jvp": {
        "no function": (lambda u: tm.jvp(u.y, (u.c,), (u.c,)), FunctionError, NO_FUNCTION),
        "no tuples": (
            lambda u: tm.jvp(square, u.c, u.c),
            OptionError,
            "jvp takes primals and tangents as tuples: write jvp(f, (x,), (v,))",
        ),
        "too few tangents": (
            lambda u: tm.jvp(square, (u.c,), ()),
            ShapeError,
            "() of type tuple does not have the structure of (Tensor(",
        ),
        "a tangent of another shape": (
            lambda u: tm.jvp(square, (u.c,), (np.ones(2),)),
            ShapeError,
            "the tangent has shape (2,), but must have shape (3,)",
        ),
        "no arguments": (lambda _: tm.jvp(square, (), ()), OptionError, AT_LEAST_ONE),
        "a complex tangent": (
            lambda u: tm.jvp(square, (u.c,), (1j * u.a,)),
            ShapeError,
            "the tangent is complex128, but must be float64: pass real numbers",
        ),
        "a primal that contains itself": (
            lambda u: tm.jvp(square, (endless(u.c),), (u.c,)),
            NotATensorError,
            "a list of tensors contains itself, or is nested too deeply",
        ),
        "a tangent that contains itself": (
            lambda u: tm.jvp(square, (u.c,), (endless(1.0),)),
            NotATensorError,
            "a tuple of tensors contains itself, or is nested too deeply",
        ),
        "tangent None": (
            lambda u: tm.jvp(square, (u.c,), (None,)),
            NotNumbersError,
            "the tangent must be numbers of shape (3,), not None of type NoneType",
        ),
        "returns None": (lambda u: tm.jvp(nothing, (u.c,), (u.c,)), FunctionError, "a function that returns None"),
    },
    "check_gradients": {
        "no function": (lambda u: tm.check_gradients(u.y, 1.0), FunctionError, NO_FUNCTION),
        "no inputs": (
            lambda _: tm.check_gradients(square),
            OptionError,
            "check_gradients needs a point: pass the function's inputs after it",
        ),
        "a whole number": (
            lambda _: tm.check_gradients(square, 3),
            NotATensorError,
            "input 0 (x) must contain real or complex numbers, not 3 of type int",
        ),
        "text": (lambda _: tm.check_gradients(square, "ab"), NotATensorError, "not 'ab' of type"),
        "ragged": (lambda _: tm.check_gradients(square, RAGGED), NotATensorError, "of type list"),
        "NaN": (
            lambda _: tm.check_gradients(square, [1.0, np.nan]),
            GradientError,
            "input 0 (x) at [1] is nan, so there is no derivative to compare",
        ),
        "order 0": (
            lambda _: tm.check_gradients(square, 1.0, order=0),
            OptionError,
            "order must be an integer of at least 1, not 0: write order=2",
        ),
        "order text": (
            lambda _: tm.check_gradients(square, 1.0, order="a"),  # type: ignore[arg-type]
            OptionError,
            "order must be an integer of at least 1, not 'a'",
        ),
        "tolerance text": (
            lambda _: tm.check_gradients(square, 1.0, tolerance="a"),  # type: ignore[arg-type]
            OptionError,
            "tolerance must be a positive number, not 'a': write tolerance=1e-7",
        ),
        "tolerance None": (
            lambda _: tm.check_gradients(square, 1.0, tolerance=None),  # type: ignore[arg-type]
            OptionError,
            "tolerance must be a positive number, not None",
        ),
        "tolerance several": (
            lambda u: tm.check_gradients(square, 1.0, tolerance=u.a),
            OptionError,
            "tolerance must be a positive number, not array([1., 2., 3.])",
        ),
        "seed text": (
            lambda _: tm.check_gradients(square, 1.0, seed="a"),  # type: ignore[arg-type]
            OptionError,
            "seed must be a non-negative integer, not 'a': write seed=0",
        ),
        "seed negative": (
            lambda _: tm.check_gradients(square, 1.0, seed=-1),
            OptionError,
            "seed must be a non-negative integer, not -1",
        ),
        "returns None": (lambda _: tm.check_gradients(nothing, 1.0), NotATensorError, "end it with 'return'"),
        "returns text": (
            lambda _: tm.check_gradients(lambda _: "ab", 1.0),
            NotATensorError,
            "the function returned 'ab' of type str, not numbers",
        ),
    },
}  # fmt: skip

CASES: Table = {**TAPES, **TENSORS, **CUSTOM, **FUNCTIONAL, **TRANSFORMS}
