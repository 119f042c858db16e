"""Makes a program that shows a difference as small as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.crosscheck.generator import NUMPY
from benchmarks.crosscheck.programs import Block, Program, Step, pruned, trace

Test = Callable[[Program], bool]
Change = Callable[[Program, int], Program | None]


def shrink(program: Program, fails: Test) -> Program:
    """A small program which fails, made of parts of one that does.

    Parameters
    ----------
    program : Program
    fails : callable
        Whether a program still shows what is looked for.
    """
    program = _first([unrolled(program)], fails) or program
    program = _first(_targets(program), fails) or program
    before = None
    while program is not before:
        before = program
        program = _first(_without_a_target(program), fails) or program
        program = _promoted(program, fails)
        for change in (_frozen, _bypassed):
            program = _each_step(program, change, fails)
    return program


def _first(candidates: Any, fails: Test) -> Program | None:
    return next((candidate for candidate in candidates if fails(candidate)), None)


def _targets(program: Program) -> Iterator[Program]:
    """The same program with each of its values in turn for its only target, the early ones first."""
    for k, value in enumerate(_values(program)):
        if k >= program.block.inputs and not isinstance(value, tuple):
            yield _rebuilt(program, program.block.steps, (k,))


def _without_a_target(program: Program) -> Iterator[Program]:
    """The same program with one target less."""
    outputs = program.block.outputs
    for k in outputs if len(outputs) > 1 else ():
        yield _rebuilt(program, program.block.steps, tuple(i for i in outputs if i != k))


def _promoted(program: Program, fails: Test) -> Program:
    """Replace values by inputs: several neighbours at once, then single ones."""
    size = len(program.block.steps)
    while size:
        for start in reversed(range(0, len(program.block.steps), size)):
            chosen = range(start, min(start + size, len(program.block.steps)))
            candidate = _as_inputs(program, [k + program.block.inputs for k in chosen])
            if len(candidate.block.steps) < len(program.block.steps) and fails(candidate):
                program = candidate
                break
        else:
            size //= 2
    return program


def _as_inputs(program: Program, numbers: list[int]) -> Program:
    """The program with some values given, instead of computed."""
    block, values = program.block, _values(program)
    numbers = [k for k in numbers if k not in block.outputs and not isinstance(values[k], tuple)]
    rest = [k for k in range(block.inputs, len(values)) if k not in numbers]
    order = [*range(block.inputs), *numbers, *rest]
    renamed = {k: i for i, k in enumerate(order)}
    steps = [block.steps[k - block.inputs] for k in rest]
    moved = Block(
        block.inputs + len(numbers),
        tuple(replace(s, args=tuple(renamed[i] for i in s.args)) for s in steps),
        tuple(renamed[k] for k in block.outputs),
    )
    points = (*program.points, *(values[k] for k in numbers))
    return _cleaned(replace(program, block=moved, points=points))


def _each_step(program: Program, change: Change, fails: Test) -> Program:
    """Apply a change to one step after the other, the last one first, where the program still fails."""
    k = len(program.block.steps)
    while k := min(k, len(program.block.steps)):
        k -= 1
        candidate = change(program, k)
        if candidate is not None and fails(candidate):
            program = candidate
    return program


def _frozen(program: Program, k: int) -> Program | None:
    """The program with the value of a step as a constant."""
    value = _values(program)[program.block.inputs + k]
    steps = list(program.block.steps)
    if steps[k].op == "constant" or isinstance(value, tuple):
        return None
    steps[k] = Step("constant", (), {"value": value})
    return _rebuilt(program, tuple(steps), program.block.outputs)


def _bypassed(program: Program, k: int) -> Program | None:
    """The program with a step left out: with one of its inputs in its place, if shape and kind allow that."""
    values, block = _values(program), program.block
    number = block.inputs + k
    for i in block.steps[k].args:
        if _kind(values[i]) == _kind(values[number]) is not None:
            steps = [
                replace(step, args=tuple(i if j == number else j for j in step.args))
                for step in block.steps
            ]
            outputs = tuple(i if j == number else j for j in block.outputs)
            return _rebuilt(program, tuple(steps), outputs)
    return None


def _kind(value: Any) -> Any:
    """Shape and dtype of an array."""
    return None if isinstance(value, tuple) else (value.shape, value.dtype)


def unrolled(program: Program) -> Program:
    """The program without loops and branches: the steps which they ran."""
    block, values = program.block, _values(program)
    steps: list[Step] = []
    renamed = {k: k for k in range(block.inputs)}

    def put(inner: Block, args: list[int]) -> int:
        names = dict(enumerate(args))
        for k, step in enumerate(inner.steps, inner.inputs):
            steps.append(replace(step, args=tuple(names[i] for i in step.args)))
            names[k] = block.inputs + len(steps) - 1
        return names[inner.outputs[0]]

    for k, step in enumerate(block.steps, block.inputs):
        args = [renamed[i] for i in step.args]
        if step.op == "loop":
            for _ in range(step.params["times"]):
                args[0] = put(step.params["body"], args)
            renamed[k] = args[0]
        elif step.op == "branch":
            side = "yes" if values[step.args[0]] > 0 else "no"
            renamed[k] = put(step.params[side], args[1:])
        else:
            steps.append(replace(step, args=tuple(args)))
            renamed[k] = block.inputs + len(steps) - 1
    outputs = tuple(renamed[k] for k in block.outputs)
    return replace(program, block=Block(block.inputs, tuple(steps), outputs))


def _values(program: Program) -> list[Any]:
    values = trace(program.block, NUMPY, program.points)
    return [v if isinstance(v, tuple) else np.asarray(v) for v in values]


def _rebuilt(program: Program, steps: tuple[Step, ...], outputs: tuple[int, ...]) -> Program:
    """The program with other steps and targets."""
    return _cleaned(replace(program, block=Block(program.block.inputs, steps, outputs)))


def _cleaned(program: Program) -> Program:
    """Without steps and inputs that nothing reads, and with a cotangent for everything."""
    block = pruned(program.block)
    read = {*block.outputs, *(i for step in block.steps for i in step.args)}
    kept = [i for i in range(block.inputs) if i in read]
    numbers = [*kept, *range(block.inputs, block.inputs + len(block.steps))]
    renamed = {k: i for i, k in enumerate(numbers)}
    block = Block(
        len(kept),
        tuple(replace(s, args=tuple(renamed[i] for i in s.args)) for s in block.steps),
        tuple(renamed[k] for k in block.outputs),
    )
    smaller = replace(program, block=block, points=tuple(program.points[i] for i in kept))
    values = _values(smaller)
    weights = tuple(_numbers(values[k]) for k in block.outputs)
    return replace(smaller, weights=weights, directions=tuple(map(_numbers, smaller.points)))


def _numbers(like: Any) -> Any:
    """Random numbers of a shape and kind, always the same."""
    rng = np.random.default_rng(like.shape)
    numbers = rng.normal(size=like.shape)
    if like.dtype.kind == "c":
        numbers = numbers + 1j * rng.normal(size=like.shape)
    return np.asarray(np.round(numbers, 3))
