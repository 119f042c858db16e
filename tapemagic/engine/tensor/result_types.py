"""For type checkers: the class of an operation's results, which differs between `tapemagic` and `tapemagic.tf`."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

R_co = TypeVar("R_co", covariant=True)


class HasResults(Protocol[R_co]):
    """A tensor or variable with results of the class `R_co`: a Tensor, or in `tapemagic.tf` an EagerTensor."""

    @property
    def result_class(self) -> type[R_co]:
        """The class of results."""

    @property
    def _value(self) -> Any: ...
