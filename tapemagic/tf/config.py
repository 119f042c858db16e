"""Answers about devices and settings, of which there are few: one processor, and everything runs at once."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.function import functions_run_eagerly, run_functions_eagerly

__all__ = [
    "LogicalDevice",
    "PhysicalDevice",
    "functions_run_eagerly",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "run_functions_eagerly",
    "set_soft_device_placement",
    "set_visible_devices",
]


class PhysicalDevice(NamedTuple):
    """A processor."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A processor, as programs name it."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The processor, in a list; an empty list for GPUs.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.config.list_physical_devices("GPU")
    []
    """
    return [PhysicalDevice("/physical_device:CPU:0", "CPU")] if device_type in {None, "CPU"} else []


get_visible_devices = list_physical_devices


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The processor, in a list; an empty list for GPUs."""
    return [LogicalDevice("/device:CPU:0", "CPU")] if device_type in {None, "CPU"} else []


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Nothing: there is one processor."""


def get_soft_device_placement() -> bool:
    """True: everything runs on the one processor."""
    return True


def set_soft_device_placement(enabled: bool) -> None:
    """Nothing: there is one processor."""


__getattr__ = missing(__name__, __all__)
