"""What has to hold for each entry of the case tables; each check raises where it does not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest

from tapemagic import GradientTape, Tensor, constant
from tapemagic.engine import recording
from tapemagic.engine.gradcheck.check import check_gradients
from tapemagic.engine.nest import leaves
from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.recording import Record
from tapemagic.engine.registry import COMPOSITES, no_derivative
from tapemagic.engine.tape import base_tape as memory
from tapemagic.engine.tape.sweep import fit
from tapemagic.engine.tensor import operators as arithmetic
from tests.rules.harness import Case, Plain, Refused, Special

BATCH = 3


def run(entry: Any, outer: GradientTape | None = None) -> tuple[GradientTape, list[Tensor], Any]:
    """Call an entry on watched tensors: the tape, the tensors, and the result."""
    tensors = list(map(constant, entry.inputs))
    watched = [x for x in tensors if x.dtype.kind in "fc"]
    if outer is not None:
        outer.watch(watched)
    with GradientTape(persistent=True) as tape:
        tape.watch(watched)
        result = entry.call(*tensors)
    return tape, tensors, result


@contextmanager
def silence() -> Iterator[None]:
    """Let NumPy warn unheard."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check_value(case: Case) -> None:
    """The value on tensors is the value on bare arrays."""
    expected = leaves(case.call(*case.inputs))
    _, _, result = run(case)
    actual = leaves(result)

    assert [(np.shape(y), y.dtype) for y in expected] == [(y.shape, y.dtype) for y in actual]
    for y, z in zip(expected, actual, strict=True):
        np.testing.assert_allclose(np.asarray(z), y, rtol=1e-13, atol=1e-15)


def check_recorded(case: Case) -> None:
    """The call goes through the entry of the table that the case is for."""
    composite = COMPOSITES.get(case.function)
    if composite is None:
        assert case.function in {record.operation.function for record in run(case)[0].records}
        return
    spy = Mock(side_effect=composite)
    with patch.dict(COMPOSITES, {case.function: spy}):
        run(case)
    spy.assert_called()


def check_derivatives(case: Case) -> None:
    """First and second derivatives are those of difference quotients."""
    check_gradients(case.call, *case.inputs, order=2)


def check_nested(case: Case) -> None:
    """The gradient is the same whether or not another tape listens."""
    assert_close(gradient(case), gradient(case, nested=True))


def check_slim(case: Case) -> None:
    """The gradient is the same where tapes keep nothing that the rules claim not to read."""
    expected = gradient(case)
    with (
        patch.object(recording, "SMALL", 0),
        patch.object(arithmetic, "SMALL", 0),
        patch.object(memory, "SLIM_AFTER_BYTES", 0),
    ):
        assert_close(expected, gradient(case))
        assert_close(expected, gradient(case, nested=True))


def check_single(case: Case) -> None:
    """In single precision, values have NumPy's dtype, and gradients their source's."""
    single = replace(case, inputs=tuple(map(_in_single_precision, case.inputs)))
    expected = [np.asarray(y).dtype for y in leaves(single.call(*single.inputs))]
    _, tensors, result = run(single)

    assert [y.dtype for y in leaves(result)] == expected
    for nested in (False, True):
        found = gradient(single, nested)
        assert [x.dtype for x in tensors] == [g.dtype for g in found]


def _in_single_precision(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)[()]


def gradient(case: Case, nested: bool = False) -> list[Tensor]:
    """The gradient of the sum of a case's outputs, with or without another tape that listens."""
    with GradientTape() if nested else nullcontext() as outer:
        tape, tensors, result = run(case, outer)
        found: list[Tensor] = tape.gradient(result, tensors, unconnected_gradients="zero")
    return found


def assert_close(expected: list[Tensor], actual: list[Tensor]) -> None:
    """Two lists of tensors are equal, but for rounding."""
    for a, b in zip(expected, actual, strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-12, atol=1e-14)


def check_batch(case: Case) -> None:
    """Rules give for several cotangents at once what they give for each of them."""
    tape, _, _ = run(case)
    for record, tracked in asked(tape):
        gs = [cotangent(record.output, seed) for seed in range(BATCH)]
        several = isinstance(record.output, tuple)
        together = tuple(map(np.stack, zip(*gs, strict=True))) if several else np.stack(gs)
        for position in tracked:
            _compare_batch(record, position, gs, together)


def asked(tape: GradientTape) -> Iterator[tuple[Record, list[int]]]:
    """The records of a tape, each with the positions of the inputs whose rules a sweep asks."""
    for record in tape.records:
        if record.operation.joint_rule is no_derivative:
            continue
        known = [k for k, i in enumerate(record.ids) if i in tape._tracked]
        yield record, [k for k in known if rule_of(record.operation, k) is not None]


def _compare_batch(record: Record, position: int, gs: list[Any], together: Any) -> None:
    batched = ask(record, position, together)
    x = record.values[position]
    place = f"{record.operation.name}, argument {position}"

    assert np.shape(batched)[:1] == (BATCH,), f"{place}: no batch axis in {np.shape(batched)}"
    for g, dx in zip(gs, batched, strict=True):
        single = fit(ask(record, position, g), x, record.operation, position)
        sliced = fit(dx, x, record.operation, position)
        np.testing.assert_allclose(sliced, single, rtol=1e-10, atol=1e-12, err_msg=place)


def rule_of(operation: Any, position: int) -> Any:
    """The rule of an operation for its argument at `position`."""
    return operation.rule_for(position)


def ask(record: Record, position: int, g: Any) -> Any:
    """What a rule answers to the cotangent `g`."""
    rule = rule_of(record.operation, position)
    return dense(rule(g, record.output, *record.values, **(record.params or {})))


def cotangent(output: Any, seed: int = 0) -> Any:
    """Random numbers of the shape and kind of an output, or of each of several."""
    if isinstance(output, tuple):
        return tuple(cotangent(part, seed + 10 * k) for k, part in enumerate(output))
    rng = np.random.default_rng(seed)
    g = rng.normal(size=output.shape)
    if output.dtype.kind == "c":
        g = g + 1j * rng.normal(size=output.shape)
    return np.asarray(g)[()]


def check_jacobian(case: Case) -> None:
    """A Jacobian, contracted with a cotangent, is the gradient with that cotangent; another tape changes nothing."""
    for outer in (None, GradientTape()):
        with outer or nullcontext():
            tape, tensors, result = run(case, outer)
            for seed, y in enumerate(_differentiable(result)):
                g = np.random.default_rng(seed).normal(size=y.shape)
                expected = tape.gradient(y, tensors, g, "zero")
                found = tape.jacobian(y, tensors, "zero")
                for x, a, b in zip(tensors, expected, found, strict=True):
                    assert (b.shape, b.dtype) == (y.shape + x.shape, x.dtype)
                    contracted = np.tensordot(g, b.numpy(), y.ndim)
                    np.testing.assert_allclose(contracted, a.numpy(), rtol=1e-9, atol=1e-11)


def check_special(special: Special) -> None:
    """The gradients at a special point are the written ones, also where another tape listens."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tape, tensors, result = run(special)
        alone = tape.gradient(_differentiable(result), tensors)
        with GradientTape() as outer:
            tape, tensors, result = run(special, outer)
            heard = tape.gradient(_differentiable(result), tensors)

    assert special.warns == bool(caught), [str(warning.message) for warning in caught]
    for gradients in (alone, heard):
        for x, expected, actual in zip(tensors, special.expected, gradients, strict=True):
            if expected is None or actual is None:
                assert expected is actual
                continue
            assert (actual.dtype, actual.shape) == (x.dtype, x.shape)
            np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-12, equal_nan=True)


def _differentiable(result: Any) -> list[Tensor]:
    """The tensors in a result that can be targets."""
    return [y for y in leaves(result) if isinstance(y, Tensor)]


def check_plain(plain: Plain) -> None:
    """The value is NumPy's, and no tape can follow it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # np.fix, from NumPy 2.5 on
        expected = plain.call(*plain.inputs)
        tape, tensors, result = run(plain)

    for y, z in zip(leaves(expected), leaves(result), strict=True):
        np.testing.assert_equal(z.numpy() if isinstance(z, Tensor) else z, y)
        assert getattr(z, "dtype", None) == getattr(y, "dtype", None)
    for z in _differentiable(result):
        assert [None] * len(tensors) == tape.gradient([z], tensors)


def check_refused(refused: Refused) -> None:
    """The call raises the error that it should."""
    with pytest.raises(refused.error, match=refused.match):
        run(refused)
