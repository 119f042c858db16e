"""``tf.config``: devices and settings (one CPU, everything runs eagerly)."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.function import functions_run_eagerly, run_functions_eagerly

__all__ = [
    "LogicalDevice", "PhysicalDevice", "functions_run_eagerly", "get_soft_device_placement",
    "get_visible_devices", "list_logical_devices", "list_physical_devices", "run_functions_eagerly",
    "set_soft_device_placement", "set_visible_devices",
]  # fmt: skip


class PhysicalDevice(NamedTuple):
    """A physical device: the CPU."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A logical device: the CPU."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """List the CPU; an empty list for GPUs.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.config.list_physical_devices("GPU")
    []
    """
    # Programs test `if tf.config.list_physical_devices("GPU")`: an empty list leads them to their CPU branch.
    return [PhysicalDevice("/physical_device:CPU:0", "CPU")] if device_type in {None, "CPU"} else []


get_visible_devices = list_physical_devices


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """List the CPU; an empty list for GPUs."""
    return [LogicalDevice("/device:CPU:0", "CPU")] if device_type in {None, "CPU"} else []


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Do nothing: there is one device."""


def get_soft_device_placement() -> bool:
    """Return True: everything runs on the only device."""
    return True


def set_soft_device_placement(enabled: bool) -> None:
    """Do nothing: there is one device."""


__getattr__ = missing(__name__, __all__)
