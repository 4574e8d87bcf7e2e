"""Which device: all that are here, and the one that a name such as ``sim:intel_gpu_pvc`` or a selector stands for."""

from __future__ import annotations

import difflib
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from weakref import WeakValueDictionary

from coopmat.devices import ARCHITECTURES, CPU
from coopmat.diagnostics import Error, value_text
from coopmat.runtime.cpu_device import CpuDevice
from coopmat.runtime.device import Device
from coopmat.runtime.simulated_device import SimulatedDevice
from coopmat.runtime.split_options import SplitOptions
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cuda.options import CudaOptions
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.simulator import SimulatorOptions
from coopmat.targets.vulkan.options import VulkanOptions

DEVICE_VARIABLE = "COOPMAT_DEVICE"

Options = SimulatorOptions | CpuOptions | CudaOptions | VulkanOptions | OpenCLOptions | SplitOptions
"""The options of a device of any kind."""

_MAKERS: dict[str, Callable[[], Device]] = {
    CPU.device_name: CpuDevice,
    **{row.device_name: lambda row=row: SimulatedDevice(row) for row in ARCHITECTURES.values()},  # type: ignore[misc]
}
"""Every device that is here on any machine, by its name: the real one first."""
_FARM, _FARMS = "dask://", "coopmat.machines"
"""How names of farms' devices begin, and the room that knows farms: it stands above this one, and is asked by name."""


def devices() -> list[Device]:
    """Every device that can be used here, with default options: the CPU, the GPUs, those of Vulkan and of OpenCL, then
    the simulated ones."""
    found = [_shared(make()) for make in _MAKERS.values()]
    numbered = [_shared(kind.make(number)) for kind in _NUMBERED.values() for number in kind.usable()]
    return [*found[:1], *numbered, *found[1:]]


@dataclass(frozen=True)
class _Kind:
    """Devices of a kind that has several: the numbers of those that can be used here, and one by its number."""

    usable: Callable[[], Iterable[int]]
    make: Callable[[int], Device]


# What is imported here is imported late: it loads a driver.


def _cuda_numbers() -> Iterable[int]:
    from coopmat.targets.cuda.host.driver import device_count

    return range(device_count())


def _cuda(number: int) -> Device:
    from coopmat.runtime.cuda_device import CudaDevice

    return CudaDevice(number)


def _vulkan_devices() -> Sequence[Any]:
    """What is known of Vulkan's devices; GPUs come first."""
    from coopmat.targets.vulkan.host.enumeration import listing

    return listing().devices


def _vulkan_numbers() -> Iterable[int]:
    return [number for number, one in enumerate(_vulkan_devices()) if not one.unusable]


def _vulkan(number: int) -> Device:
    from coopmat.runtime.vulkan_device import VulkanDevice

    return VulkanDevice(number)


def _opencl_numbers() -> Iterable[int]:
    from coopmat.targets.opencl.host.discovery import discovery

    return [number for number, one in enumerate(discovery().devices) if one.why_unusable is None]


def _opencl(number: int) -> Device:
    from coopmat.runtime.opencl_device import OpenCLDevice

    return OpenCLDevice(number)


_NUMBERED = {"cuda": _Kind(_cuda_numbers, _cuda), "vulkan": _Kind(_vulkan_numbers, _vulkan),
             "opencl": _Kind(_opencl_numbers, _opencl)}
"""By the beginning of their names."""
_NUMBERED_NAME = re.compile(rf"({'|'.join(_NUMBERED)})(?::([0-9]{{1,4}}))?")


def default_name() -> str:
    """The device where none is named: an NVIDIA GPU, else a GPU of Vulkan, else the CPU. What Vulkan calls a CPU is
    none of these: ``cpu`` is faster."""
    from coopmat.targets.cuda.host.driver import device_count

    if device_count():
        return "cuda:0"
    first = next(iter(_vulkan_devices()), None)
    return "vulkan:0" if first is not None and first.is_gpu and not first.unusable else CPU.device_name


Selector = Callable[[Device], int]
"""Scores a device (SYCL 4.6.1.1): the highest score wins; a negative one means never."""


def device(chosen: str | Device | Selector | None = None, *, options: Options | None = None,
           environment: Mapping[str, str] = os.environ) -> Device:
    """The device called ``chosen``, such as ``"cpu"``, ``"sim:intel_gpu_pvc"`` or ``"sim:generic"``; or the device that
    a selector scores highest, such as ``coopmat.sycl.gpu_selector_v``. A Device stands for itself.

    By default: the one that the environment variable COOPMAT_DEVICE names; else the first that is here of an NVIDIA GPU
    (``cuda:0``), a GPU with a driver for Vulkan (``vulkan:0``), and ``cpu``.
    ``options``: :class:`coopmat.CpuOptions` for the CPU, :class:`coopmat.CudaOptions` for an NVIDIA GPU,
    :class:`coopmat.VulkanOptions` for a device of Vulkan, :class:`coopmat.OpenCLOptions` for one of OpenCL,
    :class:`coopmat.SimulatorOptions` for a simulated device, :class:`coopmat.SplitOptions` for several devices.
    Names of devices between commas, such as ``"cuda:0,cuda:1"``, or ``"cuda:*"``, are one device that shares launches
    out (docs/several-devices.md).
    Raises :class:`coopmat.Error` for a name that is not a device, if a selector wants none of those that are here, and
    for options that the device cannot follow.
    """
    found = _found(chosen, environment)
    return _shared(found if options is None else found.with_options(options))


_KNOWN: WeakValueDictionary[Device, Device] = WeakValueDictionary()


def _shared(made: Device) -> Device:
    """The device itself, or one that is the same and known already."""
    return _KNOWN.setdefault(made, made)


def _found(chosen: Any, environment: Mapping[str, str]) -> Device:
    if isinstance(chosen, Device):
        return chosen
    if callable(chosen) and not isinstance(chosen, type):
        return select(chosen)
    name = chosen if chosen is not None else environment.get(DEVICE_VARIABLE) or default_name()
    if not isinstance(name, str):
        raise Error("a device is chosen by its name, a str such as 'cpu' or 'sim:generic', or by a selector, "
                    f"not {type(name).__name__}")
    if name in _MAKERS:
        return _MAKERS[name]()
    if "," in name or name in _ALL:
        return _several(name)
    if name.startswith(_FARM):
        return _of_farm(name)
    numbered = _NUMBERED_NAME.fullmatch(name)
    if numbered is not None:
        return _NUMBERED[numbered[1]].make(int(numbered[2] or 0))
    close = difflib.get_close_matches(name.lower(), _MAKERS, n=1, cutoff=0.75)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise Error(f"no device {value_text(name)}{hint} (kernels run on the CPU, on NVIDIA's GPUs, cuda:0 and so on, on "
                f"devices of Vulkan and OpenCL, vulkan:0, opencl:0 and so on, and on simulated devices: "
                f"{', '.join(_MAKERS)})")


def _of_farm(name: str) -> Device:
    """A device of a farm: ``dask://host:port/cuda:0``."""
    address, _, device_name = name.removeprefix(_FARM).partition("/")
    found: Device = import_module(_FARMS).farm(_FARM + address).device(device_name)
    return found


def _several(names: str) -> Device:
    """The devices whose names stand between commas, as one; ``cuda:*`` stands for all GPUs."""
    from coopmat.runtime.split_device import SplitDevice

    found: list[Device] = []
    for name in map(str.strip, names.split(",")):
        found += _ALL[name]() if name in _ALL else [_shared(_found(name or "''", {}))]
    return found[0] if len(found) == 1 else SplitDevice(found)


def _gpus() -> list[Device]:
    found = [_shared(_cuda(ordinal)) for ordinal in _cuda_numbers()]
    if not found:
        raise Error("'cuda:*' stands for all GPUs of NVIDIA, and there is none here")
    return found


_ALL: dict[str, Callable[[], list[Device]]] = {"cuda:*": _gpus}
"""Names of all devices of a kind."""


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
        raise Error(f"a device selector returns a score, an int; found {value_text(score)} for {one.name}") from None
