"""Schedules: learning rates that depend on the number of steps."""

from __future__ import annotations

from typing import Any


class LearningRateSchedule:
    """Base class of schedules, which are called with the number of steps so far."""

    def __call__(self, step: Any) -> Any:
        """The learning rate."""
        raise NotImplementedError(f"{type(self).__name__} gives nothing yet: give it a method __call__(self, step)")
