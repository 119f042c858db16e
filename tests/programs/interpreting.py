"""Programs run call by call, without passes or text: what a trace wrote down, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic import constant
from tapemagic.engine.nest import leaves
from tapemagic.engine.tensor.tensor import Tensor, Traced, unwrap
from tapemagic.programs.program import Constant, Guard, Node, replaced
from tapemagic.programs.tracing.symbol import Symbol, concrete
from tapemagic.programs.tracing.trace import Trace, tracing


class OtherWay(Exception):  # noqa: N818 (no error)
    """Raised where the numbers take another way through the function than those of the trace."""


class Once:
    """A function traced once with some arguments.

    Attributes
    ----------
    trace : Trace
    found : list of object
        What the traced call returned, without symbols.
    results : list of object
        The nodes of the leaves of the result.
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        with tracing() as trace:
            self.trace: Trace = trace
            stand_ins = [self._stand_in(k, x) for k, x in enumerate(arguments)]
            found = leaves(function(*stand_ins))
            self.results = [self._node(x) for x in found]
            self.found = [plain(x) for x in found]
        trace.release()

    def _stand_in(self, k: int, x: Any) -> Any:
        if isinstance(x, Tensor):
            made = constant(0.0)
            made._value = self.trace.input(k, x._value)
            return made
        return self.trace.input(k, x) if isinstance(x, np.ndarray | np.generic) else x

    def _node(self, x: Any) -> Any:
        known = type(x) is Symbol or isinstance(x, Traced | np.ndarray | np.generic)
        return self.trace.node(x) if known else x

    @property
    def reasons(self) -> list[str]:
        """Why it is no program."""
        return [how for how, _ in self.trace.reasons]

    def run(self, *arguments: Any) -> list[Any]:
        """The results for other arguments."""
        values: dict[Any, Any] = {
            node: unwrap(arguments[node.origin]) for node in self.trace.inputs
        }

        def value(node: Node) -> Any:
            return node.value if isinstance(node, Constant) else values[node]

        for entry in self.trace.body:
            if isinstance(entry, Guard):
                if bool(value(entry.condition)) is not entry.expected:
                    raise OtherWay
                continue
            args, kwargs = replaced(entry.args, value), replaced(entry.kwargs, value)
            with np.errstate(**(entry.errstate or {})):
                values[entry] = entry.function(*args, **kwargs)
        return [replaced(x, value) for x in self.results]


def plain(x: Any) -> Any:
    """A result as an array, a NumPy scalar, or what else it is."""
    return concrete(x) if type(x) is Symbol or isinstance(x, Traced) else x


def same_bits(a: Any, b: Any) -> bool:
    """Whether two results are equal to the bit, but for the signs of NaN."""
    if not isinstance(a, np.ndarray | np.generic):
        return type(a) is type(b) and (a is b or bool(a == b))
    if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    known = ~np.isnan(a)
    signs = np.array_equal(np.signbit(a.real)[known], np.signbit(b.real)[known])
    return bool(np.array_equal(a, b, equal_nan=True)) and signs
