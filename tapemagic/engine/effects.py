"""Effects: calls that do more than return a result, such as random draws, output and checks.

In a traced function, each such call is a call of the program: it happens again whenever the program runs, in order. If
a program fails after some effects, because a branch or an error needs the function itself, the function runs from its
beginning. Then draws are repeated from the states before them, and the outcomes of other effects are taken over.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from threading import RLock
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from tapemagic.engine.tracing import is_repeated, tracer

F = TypeVar("F", bound=Callable[..., Any])


class Drawn:
    """A generator, and its states before and after a draw."""

    __slots__ = ("after", "before", "rng")

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.before: Any = rng.bit_generator.state
        self.after: Any = None


class Outcome(NamedTuple):
    """The result or error of an effect that must not happen twice, and a description of its arguments."""

    function: Any
    arguments: Any
    result: Any
    error: Exception | None


class Journal:
    """The effects of one call of a traced function so far.

    - `entries`: The effects, in order. Those from `place` on are outcomes that a repetition of the call takes over.
    - `keeps`: Whether the call may have to be repeated, so new effects are noted.
    - `lost`: Whether a repetition draws other numbers, because another thread has drawn as well.
    """

    __slots__ = ("_restored", "entries", "keeps", "lost", "place")

    def __init__(self) -> None:
        self.entries: list[Drawn | Outcome] = []
        self.place = 0
        self.keeps = True
        self.lost = False
        self._restored: dict[int, Any] = {}

    def add(self, entry: Drawn | Outcome) -> None:
        """Note an effect."""
        if self._restored and isinstance(entry, Drawn):
            before = self._restored.pop(id(entry.rng), entry.before)
            self.lost = self.lost or not _same(before, entry.before)
        if self.keeps:
            self.entries.insert(self.place, entry)
            self.place += 1

    def restart(self, start: int = 0) -> None:
        """Prepare the repetition of a call whose effects begin at `start`."""
        later = self.entries[start:]
        drawn: dict[int, list[Drawn]] = {}
        for entry in later:
            if isinstance(entry, Drawn):
                drawn.setdefault(id(entry.rng), []).append(entry)
        with _drawing:
            for draws_of_one in drawn.values():
                first = draws_of_one[0]
                self._restored[id(first.rng)] = first.before
                _undo(draws_of_one)
        self.entries[start:] = [entry for entry in later if isinstance(entry, Outcome)]
        self.place = start

    def generators(self) -> list[np.random.Generator]:
        """The generators that were drawn from, each once."""
        drawn = {id(x.rng): x.rng for x in self.entries if isinstance(x, Drawn)}
        return list(drawn.values())


def _undo(drawn: list[Drawn]) -> None:
    """Set a generator back to its state before the first of these draws, unless there were others since then."""
    rng = drawn[0].rng
    states = [*(x.before for x in drawn[1:]), rng.bit_generator.state]
    # Another thread may have drawn in between. Its numbers must not be drawn again, so this call gets new ones.
    pairs = zip(drawn, states, strict=True)
    if all(x.after is None or _same(x.after, state) for x, state in pairs):
        rng.bit_generator.state = drawn[0].before


def _same(a: Any, b: Any) -> bool:
    """Return True if two states of one generator are equal."""
    try:
        return bool(a == b)
    except ValueError:  # arrays, as of np.random.MT19937
        return (
            all(map(_same, a.values(), b.values())) if isinstance(a, dict) else np.array_equal(a, b)
        )


_drawing = RLock()
"""The lock of the thread that draws, or sets a generator back."""

_journal: ContextVar[Journal | None] = ContextVar("journal", default=None)

PERFORMING = Journal()
"""The journal inside an effect: the effects of its own code are parts of it."""


class Noted:
    """Context in which effects are noted, in the journal of an outer call if there is one."""

    __slots__ = ("_before", "_kept", "journal", "start")

    def __init__(self, journal: Journal | None = None) -> None:
        self.journal: Any = journal

    def __enter__(self) -> Self:
        self._before = outer = _journal.get()
        if self.journal is None:
            self.journal = Journal() if outer is None or outer is PERFORMING else outer
        _journal.set(self.journal)
        self.start = self.journal.place
        self._kept, self.journal.keeps = self.journal.keeps, True
        return self

    def restart(self, if_needed: bool = True) -> None:
        """Prepare the repetition of the block, if there is one."""
        if if_needed:
            self.journal.restart(self.start)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        _journal.set(self._before)
        self.journal.keeps = self._kept


class Attempt(Noted):
    """Context of a program with effects: an error that ends it carries the effects as `ATTEMPT`."""

    __slots__ = ()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        super().__exit__(kind, error, traceback)
        if error is not None and len(self.journal.entries) > self.start:
            error.__dict__[ATTEMPT] = self


ATTEMPT = "tapemagic_attempt"
"""The attribute of an error that has ended a program after some effects."""


def for_good() -> None:
    """Note no more effects: the running call is not repeated. Outcomes that are noted are still taken over."""
    journal = _journal.get()
    if journal is not None and journal is not PERFORMING:
        journal.keeps = False


def lost_numbers() -> bool:
    """Return True if the running call could not repeat its draws, because another thread has drawn as well."""
    journal = _journal.get()
    return journal is not None and journal.lost


def is_performing() -> bool:
    """Return True inside an effect."""
    return _journal.get() is PERFORMING


def has_effect(function: Any) -> bool:
    """Return True for functions that `effect` or `draws` has decorated.

    Examples
    --------
    >>> has_effect(effect(print)), has_effect(print)
    (True, False)
    """
    return bool(getattr(function, "is_effect", False))


def effect(function: F) -> F:
    """Decorate a function of arrays whose calls, such as output and checks, must happen once per call of a program.

    It returns arrays, NumPy scalars, a list or tuple of these, or None.
    """
    return _decorated(function, _perform_once)


def draws(function: F) -> F:
    """Decorate a function that draws random numbers; it calls `note_draw` before it does."""
    return _decorated(function, _perform)


def _decorated(function: F, perform: Callable[..., Any]) -> F:
    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        active = tracer()
        if active is not None:
            return active.effect(called, args, kwargs)
        return perform(called, args, kwargs)

    called.is_effect = True  # type: ignore[attr-defined]
    called.perform = perform  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


def performed(called: Any, args: Any, kwargs: Any) -> Any:
    """Perform an effect with plain values, or take over its outcome."""
    return called.perform(called, args, kwargs)


def _perform(called: Any, args: Any, kwargs: Any) -> Any:
    journal = _journal.get()
    start = 0 if journal is None else journal.place
    with _drawing:
        try:
            return called.__wrapped__(*args, **kwargs)
        finally:
            for entry in [] if journal is None else journal.entries[start : journal.place]:
                if isinstance(entry, Drawn):
                    entry.after = entry.rng.bit_generator.state


def _perform_once(called: Any, args: Any, kwargs: Any) -> Any:
    journal = _journal.get()
    if journal is None or journal is PERFORMING:
        return called.__wrapped__(*args, **kwargs)
    arguments = _described((*args, *kwargs.values()))
    while journal.place < len(journal.entries):
        entry: Any = journal.entries[journal.place]
        if entry.function is called and entry.arguments == arguments:
            journal.place += 1
            if entry.error is not None:
                raise entry.error
            return entry.result
        # The repetition takes another path: what follows belongs to the old one.
        del journal.entries[journal.place :]
    token = _journal.set(PERFORMING)
    result, error = None, None
    try:
        result = called.__wrapped__(*args, **kwargs)
    except Exception as raised:
        error = raised
        raise
    finally:
        _journal.reset(token)
        journal.add(Outcome(called, arguments, result, error))
    return result


def _described(values: Any) -> Any:
    """Describe arguments by shapes, dtypes and plain values, without keeping arrays alive."""
    if isinstance(values, tuple | list):
        return [_described(x) for x in values]
    if isinstance(values, dict):
        return [(key, _described(x)) for key, x in values.items()]
    if isinstance(values, np.ndarray | np.generic):
        return values.shape, values.dtype
    return values if isinstance(values, str | int | float | None) else id(values)


def note_draw(rng: np.random.Generator) -> np.random.Generator:
    """Note the state of a generator before a draw, and return the generator."""
    journal = _journal.get()
    if journal is not None and journal is not PERFORMING and journal.keeps:
        journal.add(Drawn(rng))
    if is_repeated():
        keep_out_of_programs("a random number under recompute_grad: draw it before the call")
    return rng


SEED = "a seed: set it before the call"
"""The reason why no program sets a seed: it would draw on where the function begins again."""


def keep_out_of_programs(what: str) -> None:
    """End a running trace at something that a program would not do again, such as setting a seed or reading a file.

    - `what`: Its name, a colon, and what to do instead.
    """
    trace = tracer()
    if trace is not None:
        trace.mark_exit(what)
