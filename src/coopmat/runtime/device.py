"""Devices: what is here, and how a name such as ``sim:intel_gpu_pvc`` becomes a device."""

from __future__ import annotations

import difflib
import operator
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from coopmat.devices import ARCHITECTURES, Combination, DeviceDescription, describe
from coopmat.diagnostics import Error
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from coopmat.targets.simulator import SimulatorOptions
from coopmat.targets.simulator.launch import MOST_LOCAL_BYTES
from coopmat.templates import template_method

MAX_WORK_GROUP_SIZE = 1024
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
        self.options.arithmetic(description.name)  # an Error if the device has none such
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

    @property
    def max_work_group_size(self) -> int:
        """The largest number of work-items in a work-group."""
        return MAX_WORK_GROUP_SIZE

    @property
    def local_memory_size(self) -> int:
        """The local memory of a work-group in bytes, at most."""
        return MOST_LOCAL_BYTES

    @template_method
    def get_info(self, template: Any = None, descriptor: Any = None) -> Any:
        """What a descriptor asks for: ``get_info(info.device.matrix_combinations)``, or with the descriptor in
        square brackets, as SYCL has it. Error, naming the descriptors, for anything else."""
        from coopmat.sycl.info import info

        return info.device.ask(self, descriptor if template is None else template)

    def is_cpu(self) -> bool:
        """Whether it is a CPU, or simulates one."""
        return self.description.kind == "cpu"

    def is_gpu(self) -> bool:
        """Whether it is a GPU, or simulates one."""
        return self.description.kind == "gpu"

    def is_accelerator(self) -> bool:
        """Whether it is neither CPU nor GPU, but hardware all the same: no device is, so far."""
        return False

    def has(self, aspect: Any) -> bool:
        """Whether the device has an aspect, such as ``aspect.fp64``."""
        from coopmat.sycl.info import has_aspect

        return has_aspect(self.description, aspect)

    def ext_oneapi_architecture_is(self, architecture: str) -> bool:
        """Whether this is the device's architecture: a member of ``architecture``, or a name. Error if unknown."""
        return describe(architecture) is self.description

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


Selector = Callable[[Device], int]
"""Scores a device (SYCL 4.6.1.1): the highest score wins; a negative one means never."""


def device(chosen: str | Device | Selector | None = None, *, options: SimulatorOptions | None = None,
           environment: Mapping[str, str] = os.environ) -> Device:
    """The device called ``chosen``, such as ``"sim:intel_gpu_pvc"`` or ``"sim:generic"``; or the device that a
    selector scores highest, such as ``coopmat.sycl.gpu_selector_v``. A Device stands for itself.

    By default: the one that the environment variable COOPMAT_DEVICE names, else ``sim:generic``.
    ``options`` are those of a simulated device. Raises :class:`coopmat.Error` for a name that is not a device,
    if a selector wants none of those that are here, and for options that the device cannot follow.
    """
    if options is not None and not isinstance(options, SimulatorOptions):
        raise Error(f"the options of a simulated device are SimulatorOptions, not {type(options).__name__}")
    if isinstance(chosen, Device):
        return chosen if options is None else Device(chosen.description, options)
    if callable(chosen) and not isinstance(chosen, type):
        return Device(select(chosen).description, options)
    name = chosen if chosen is not None else environment.get(DEVICE_VARIABLE) or DEFAULT_DEVICE
    if not isinstance(name, str):
        raise Error("a device is chosen by its name, a str such as 'sim:generic', or by a selector, "
                    f"not {type(name).__name__}")
    kind, _, architecture = name.partition(":")
    if kind != "sim" or architecture not in ARCHITECTURES:
        names = [f"sim:{known}" for known in ARCHITECTURES]
        close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.75)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise Error(f"no device '{name}'{hint} (this version runs kernels on simulated devices: {', '.join(names)})")
    return Device(describe(architecture), options)


def select(selector: Selector) -> Device:
    """The device that a selector scores highest; of several, the first that :func:`devices` lists."""
    found = devices()
    scores = [_score(selector, one) for one in found]
    best = max(scores)
    if best < 0:
        name = getattr(selector, "__name__", None) or repr(selector)
        raise Error(f"{name} selects none of the devices that are here: {', '.join(one.name for one in found)}")
    return found[scores.index(best)]


def _score(selector: Selector, one: Device) -> int:
    score: Any = selector(one)
    try:
        return operator.index(score)
    except TypeError:
        raise Error(f"a device selector returns a score, an int; found {score!r} for {one.name}") from None
