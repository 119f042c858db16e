"""``tf.name_scope``: a prefix for the names of variables."""

from __future__ import annotations

from contextvars import ContextVar, Token

# A context variable, so that each thread and coroutine has its own scopes.
_scope: ContextVar[str] = ContextVar("name scope", default="")

current = _scope.get


def scoped(name: str) -> str:
    """Prefix a name with the enclosing scopes."""
    return f"{current()}{name}"


class name_scope:
    """Context in which the names of variables get a prefix.

    Parameters
    ----------
    name : str
        A name that ends in ``/`` is the whole prefix, regardless of enclosing scopes.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> with tf.name_scope("layer"):
    ...     w = tf.Variable(1.0, name="w")
    >>> w.name
    'layer/w:0'
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # A stack, because the same object may be entered again inside its own block.
        self._tokens: list[Token[str]] = []

    @property
    def name(self) -> str:
        """The name passed to the scope."""
        return self._name

    def __enter__(self) -> str:
        # TensorFlow's rule for re-entering a scope: "layer/" was returned by `with ... as scope`, and ""
        # resets.
        is_absolute = not self._name or self._name.endswith("/")
        prefix = self._name if is_absolute else f"{scoped(self._name)}/"
        self._tokens.append(_scope.set(prefix))
        return prefix

    def __exit__(self, *_error: object) -> None:
        _scope.reset(self._tokens.pop())
