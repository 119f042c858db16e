"""Programs as data: steps in a row, each an operation on values from before, loops and branches among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Step:
    """An operation on earlier values: those of the given numbers."""

    op: str
    args: tuple[int, ...]
    params: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Block:
    """Steps on so many inputs; values are numbered, first the inputs, then what each step gives."""

    inputs: int
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """A block, a point at which to differentiate it, and random numbers to weigh its derivatives with.

    Attributes
    ----------
    seed : int
        What it was drawn from.
    block : Block
    points : tuple of array
        The inputs.
    weights : tuple of array
        A cotangent for each output.
    directions : tuple of array
        A cotangent for each gradient, in second order.
    """

    seed: int
    block: Block
    points: tuple[Any, ...]
    weights: tuple[Any, ...]
    directions: tuple[Any, ...]


@dataclass(frozen=True)
class Library:
    """What a program is run by.

    Attributes
    ----------
    functions : mapping of str to callable
        The operations, by the names that steps call them.
    loop : callable
        ``loop(times, body, x, others)`` repeats ``x = body(x, *others)``.
    branch : callable
        ``branch(test, yes, no, args)`` gives ``yes(*args)`` if the number `test` is positive, else ``no(*args)``.
    """

    functions: Mapping[str, Function]
    loop: Function
    branch: Function


def execute(block: Block, library: Library, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of a block."""
    values = trace(block, library, inputs)
    return [values[i] for i in block.outputs]


def trace(block: Block, library: Library, inputs: Sequence[Any]) -> list[Any]:
    """All values of a block."""
    values = list(inputs)
    for step in block.steps:
        values.append(perform(step, library, [values[i] for i in step.args]))
    return values


def perform(step: Step, library: Library, args: list[Any]) -> Any:
    """The value of a step."""
    if step.op == "loop":
        carried, *others = args
        body = _as_function(step.params["body"], library)
        return library.loop(step.params["times"], body, carried, others)
    if step.op == "branch":
        test, *others = args
        yes, no = (_as_function(step.params[side], library) for side in ("yes", "no"))
        return library.branch(test, yes, no, others)
    return library.functions[step.op](*args, **step.params)


def _as_function(block: Block, library: Library) -> Function:
    return lambda *args: execute(block, library, args)[0]


def by_turns(times: int, body: Function, x: Any, others: Sequence[Any]) -> Any:
    """An ordinary ``for``."""
    for _ in range(times):
        x = body(x, *others)
    return x


def by_value(test: Any, yes: Function, no: Function, args: Sequence[Any]) -> Any:
    """An ordinary ``if``."""
    return yes(*args) if test > 0 else no(*args)


def middles(block: Block) -> list[int]:
    """A few of the values between inputs and outputs, whose gradients are compared, too."""
    stride = max(1, len(block.steps) // 4)
    numbers = range(block.inputs, block.inputs + len(block.steps), stride)
    without = {"split", "constant"}
    ops = {k: block.steps[k - block.inputs].op for k in numbers}
    return [k for k, op in ops.items() if op not in without and k not in block.outputs]


def count(block: Block) -> int:
    """How many operations a block runs."""
    return sum(_weight(step) for step in block.steps)


def _weight(step: Step) -> int:
    if step.op == "loop":
        return int(step.params["times"]) * count(step.params["body"])
    if step.op == "branch":
        return max(count(step.params["yes"]), count(step.params["no"]))
    return step.op not in {"constant", "part"}


def names(block: Block) -> Iterator[str]:
    """The operations of a block, and of those inside it."""
    for step in block.steps:
        yield step.op
        for value in step.params.values():
            if isinstance(value, Block):
                yield from names(value)


def pruned(block: Block) -> Block:
    """The block without the steps that no output needs."""
    needed = set(block.outputs)
    for k, step in reversed(list(enumerate(block.steps, block.inputs))):
        if k in needed:
            needed.update(step.args)
    kept = [k for k in range(block.inputs, block.inputs + len(block.steps)) if k in needed]
    renamed = {k: i for i, k in enumerate([*range(block.inputs), *kept])}
    steps = [block.steps[k - block.inputs] for k in kept]
    return Block(
        block.inputs,
        tuple(Step(s.op, tuple(renamed[i] for i in s.args), s.params) for s in steps),
        tuple(renamed[i] for i in block.outputs),
    )


# -- as text --------------------------------------------------------------------------------------

SPELLED = {
    **{op: f"{{}} {op} {{}}" for op in ("+", "-", "*", "/", "@", "**")},
    "constant": "{value}",
    "times": "{} * {by}",
    "plus": "{by} + {}",
    "from": "{by} - {}",
    "over": "{by} / {}",
    "raised": "{} ** {by}",
    "item": "{}[{index}]",
    "part": "{}[{k}]",
    "where_greater": "np.where({} > {}, {}, {})",
}
"""How operations are written that are no functions of NumPy."""

LISTED = {
    "concatenate": "np.concatenate",
    "stack": "np.stack",
    "multi_dot": "np.linalg.multi_dot",
    **{name: f"np.{name}" for name in ("vstack", "hstack", "dstack", "column_stack")},
}
"""Functions of a list."""

OURS = {
    "spectral", "general", "singular", "orthogonal", "logdet", "lstsq", "select", "average",
    "eigenvalues", "root",
}  # fmt: skip
"""Functions of functions.py."""


def text(program: Program) -> str:
    """The program as lines of Python, nearly all of which would run."""
    block = program.block
    points = [f"v{i} = {_literal(point)}" for i, point in enumerate(program.points)]
    outputs = zip(block.outputs, program.weights, strict=True)
    targets = [f"# target v{i}, weighed with {_literal(weight)}" for i, weight in outputs]
    return "\n".join([*points, *_lines(block, "v"), *targets])


def _lines(block: Block, letter: str) -> Iterator[str]:
    for k, step in enumerate(block.steps, block.inputs):
        args = [f"{letter}{i}" for i in step.args]
        name = f"{letter}{k}"
        if step.op == "loop":
            yield f"{name} = {args[0]}"
            yield f"for _ in range({step.params['times']}):"
            yield from _inside(step.params["body"], name, [name, *args[1:]])
        elif step.op == "branch":
            yield f"if {args[0]} > 0:"
            yield from _inside(step.params["yes"], name, args[1:])
            yield "else:"
            yield from _inside(step.params["no"], name, args[1:])
        else:
            yield f"{name} = {_call(step, args)}"


def _inside(block: Block, result: str, args: list[str]) -> Iterator[str]:
    """The lines of a block inside another one."""
    yield f"    {', '.join(f'w{j}' for j in range(len(args)))} = {', '.join(args)}"
    yield from (f"    {line}" for line in _lines(block, "w"))
    yield f"    {result} = w{block.outputs[0]}"


def _call(step: Step, args: list[str]) -> str:
    params = {key: _literal(value) for key, value in step.params.items()}
    if step.op in SPELLED:
        return SPELLED[step.op].format(*args, **params)
    if step.op in LISTED:
        args = [f"[{', '.join(args)}]"]
    elif step.op == "einsum":
        args = [params.pop("subscripts"), *args]
    ours = step.op in OURS or step.op.startswith("nn.")
    name = LISTED.get(step.op) or (step.op if ours else f"np.{step.op}")
    return f"{name}({', '.join([*args, *(f'{key}={param}' for key, param in params.items())])})"


def _literal(value: Any) -> str:
    """A parameter or an array as Python."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"np.array({np.asarray(value).tolist()!r})"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(part)}, " for part in value).rstrip() + ")"
    return repr(value)
