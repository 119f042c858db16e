"""Why a gradient is None, as far as the recording alone can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapemagic.analysis.observer import Observer
from tapemagic.analysis.values import SHOWN, span


def ancestors(observer: Observer, number: int) -> set[int]:
    """The values from which the value with this number was computed, itself included."""
    found = {number}
    for _, _, ids, _, _, output_id in reversed(observer._records):
        outputs = output_id if type(output_id) is tuple else (output_id,)
        if not found.isdisjoint(outputs):
            found.update(i for i in ids if i in observer._tracked)
    return found


def reason(
    observer: Observer,
    target: Any,
    target_name: str,
    source: Any,
    source_name: str,
    names: Mapping[int, str],
) -> str:
    """Why the gradient of `target` with respect to `source` is None, and what to do about it."""
    if source.dtype.kind not in "fc":
        return (
            f"{source_name} holds {_kind(source)} ({source.dtype}), and only real numbers have derivatives: "
            f"write {source_name} = {_as_real(source)}"
        )
    if target.dtype.kind not in "fc":
        return f"{target_name} holds {_kind(target)} ({target.dtype}), which change in steps and have no derivative"
    if source._id not in observer._tracked:
        return f"{source_name} is not watched: name it in the %%tape line, or call tape.watch({source_name})"
    if target._id not in observer._tracked:
        return (
            f"{target_name} was not computed from anything that the tape watched"
            " by operations that have a derivative"
        )
    known = [
        names[i] for i in sorted(ancestors(observer, target._id) & observer._leaves) if i in names
    ]
    depends = f"; it depends on {_listed(known)}" if known else ""
    return f"{target_name} was not computed from {source_name}{depends}"


def constant_reason(target_name: str, source_name: str, order: int) -> str:
    """Why a derivative of a derivative is None."""
    return (
        f"the derivative of order {order - 1} does not depend on {source_name} any more, "
        f"so this one is zero: around here {target_name} is a polynomial of degree {order - 1} or less in {source_name}"
    )


def _kind(value: Any) -> str:
    return "truth values" if value.dtype.kind == "b" else "whole numbers"


def _as_real(value: Any) -> str:
    """The same value as one writes it with real numbers."""
    real = value.numpy().astype(float)
    if not real.shape:
        return span(real)
    return f"np.array({span(real)})" if real.size <= SHOWN else "np.array(..., dtype=float)"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
