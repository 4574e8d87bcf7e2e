"""Devices: what is here, and how a name such as ``sim:intel_gpu_pvc`` becomes a device."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from coopmat.devices import ARCHITECTURES, Combination, DeviceDescription, describe
from coopmat.diagnostics import Error
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from coopmat.targets.simulator import SimulatorOptions

DEFAULT_DEVICE = "sim:generic"
DEVICE_VARIABLE = "COOPMAT_DEVICE"


class Device:
    """A device that kernels can be built for and run on. Get one from :func:`device`.

    ``name`` is what :func:`device` takes, ``architecture`` the name in
    ``sycl_ext_oneapi_device_architecture`` (or ``generic``).
    """

    def __init__(self, description: DeviceDescription, options: SimulatorOptions | None = None) -> None:
        self.description = description
        self.options = options if options is not None else SimulatorOptions()
        self.name = f"sim:{description.name}"

    @property
    def architecture(self) -> str:
        """Name of the architecture."""
        return self.description.name

    @property
    def sub_group_sizes(self) -> tuple[int, ...]:
        """Sub-group sizes; the first is used for kernels that require none."""
        return self.description.sub_group_sizes

    @property
    def matrix_combinations(self) -> list[Combination]:
        """The supported matrix types and sizes (``info::device::matrix_combinations`` of the SYCL
        extension). Empty for ``sim:generic``, which takes every shape and type."""
        return list(self.description.combinations)

    def load(self, module: Module, *, is_checked: bool = False) -> simulator.SimulatedProgram:
        """Prepare a module for execution; KernelNotSupported if its matrices are not the device's.

        ``is_checked``: a device with this description has loaded the module before.
        """
        return simulator.compile(module, self.description, self.options, is_checked=is_checked)

    def can_load(self, module: Module) -> bool:
        """Whether :meth:`load` raises no error."""
        try:
            simulator.check(module, self.description)
        except Error:
            return False
        return True

    def to_json(self) -> dict[str, Any]:
        """What ``coopmat devices NAME --json`` prints."""
        return {
            "name": self.name,
            "architecture": self.architecture,
            "sub_group_sizes": list(self.sub_group_sizes),
            "matrix_combinations": [asdict(combination) for combination in self.matrix_combinations],
        }

    def __repr__(self) -> str:
        return f"<coopmat.Device {self.name}>"


def devices() -> list[Device]:
    """Every device that can be used here, with default options: the simulated ones."""
    return [Device(description) for description in ARCHITECTURES.values()]


def device(name: str | None = None, *, options: SimulatorOptions | None = None,
           environment: Mapping[str, str] = os.environ) -> Device:
    """The device called ``name``, such as ``"sim:intel_gpu_pvc"`` or ``"sim:generic"``.

    Without a name: the one that the environment variable COOPMAT_DEVICE names, else ``sim:generic``.
    ``options`` are the checks of a simulated device. Raises :class:`coopmat.Error` for a name that is
    not a device.
    """
    if name is None:
        name = environment.get(DEVICE_VARIABLE) or DEFAULT_DEVICE
    if not isinstance(name, str):
        raise Error(f"a device is chosen by its name, a str such as 'sim:generic', not {type(name).__name__}")
    if options is not None and not isinstance(options, SimulatorOptions):
        raise Error(f"the options of a simulated device are SimulatorOptions, not {type(options).__name__}")
    kind, _, architecture = name.partition(":")
    if kind != "sim" or architecture not in ARCHITECTURES:
        names = [f"sim:{known}" for known in ARCHITECTURES]
        close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.75)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise Error(f"no device '{name}'{hint} (this version runs kernels on simulated devices: {', '.join(names)})")
    return Device(describe(architecture), options)
