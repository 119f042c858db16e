"""A program differentiated by PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.crosscheck.answers import Answers, Arrays, small
from benchmarks.crosscheck.programs import Library, Program, by_turns, by_value, middles, trace


def torch_backend() -> Callable[[Program], Answers]:
    """PyTorch in double precision; its gradients of complex numbers are ours."""
    import torch

    from benchmarks.crosscheck.torch_functions import FUNCTIONS

    torch.set_num_threads(1)
    library = Library(FUNCTIONS, by_turns, by_value)

    def differentiated(ys: Any, xs: Any, weights: Any, again: bool) -> Any:
        """The gradients, zeros where nothing is connected."""
        kept = [
            (y, torch.as_tensor(w)) for y, w in zip(ys, weights, strict=True) if y.requires_grad
        ]
        asked = [x for x in xs if x.requires_grad]
        found: Any = [None] * len(asked)
        if kept and asked:
            targets, cotangents = zip(*kept, strict=True)
            found = torch.autograd.grad(
                targets, asked, cotangents, create_graph=again, retain_graph=True, allow_unused=True
            )
        gradients = dict(zip(map(id, asked), found, strict=True))
        answers = [gradients.get(id(x)) for x in xs]
        return [torch.zeros_like(x) if g is None else g for g, x in zip(answers, xs, strict=True)]

    def answers(program: Program) -> Answers:
        xs = [torch.tensor(point, requires_grad=True) for point in program.points]
        values = trace(program.block, library, xs)
        ys = [values[k] for k in program.block.outputs]
        between = [values[k] for k in middles(program.block)]
        gradients = differentiated(ys, xs, program.weights, again=True)
        found = {
            "values": ys,
            "middles": differentiated(ys, [*between, *xs], program.weights, again=False),
            "gradients": gradients,
            "second": differentiated(gradients, xs, program.directions, again=False),
        }
        if small(program):
            y = ys[0]
            units = torch.eye(y.numel(), dtype=y.dtype).reshape((-1, *y.shape))
            rows = [differentiated([y], xs, [unit], again=False) for unit in units]
            found["jacobians"] = [
                torch.stack(parts).reshape((*y.shape, *x.shape))
                for parts, x in zip(zip(*rows, strict=True), xs, strict=True)
            ]
        return Answers({name: _arrays(tensors) for name, tensors in found.items()})

    def _arrays(tensors: Any) -> Arrays:
        return [x.numpy(force=True) for x in tensors]

    return answers
