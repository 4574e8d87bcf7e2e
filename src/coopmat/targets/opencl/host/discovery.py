"""Which devices OpenCL's drivers have here: asked in a child process, because drivers crash, and kept in the cache."""

from __future__ import annotations

import importlib.util
import os
import pickle
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from coopmat.diagnostics import Error
from coopmat.support.cache import find_cache, key
from coopmat.targets.base.children import Ending, answer
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.host.driver import MISSING, bindings, started

SECONDS = 60.0
"""That the drivers may take to say what they have."""
VENDORS_VARIABLE = "OCL_ICD_VENDORS"
VENDORS = "/etc/OpenCL/vendors"
_DESCRIBE = "coopmat.targets.opencl.host.description:all_devices"
_PREFIXES = ("OCL_", "OPENCL_", "POCL_", "RUSTICL_", "CL_CONFIG_", "ONEAPI_DEVICE_SELECTOR", "LD_LIBRARY_PATH",
             "MESA_", "LIBGL_", "LP_", "GALLIUM_", "NEO", "ZE_", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
             "ROCR_VISIBLE_DEVICES")
"""Beginnings of the names of variables that drivers listen to."""
_SYSTEM = (f"/usr/lib/{sysconfig.get_config_var('MULTIARCH') or ''}", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
"""What differs each time the machine is started, when it may have got other devices."""


@dataclass(frozen=True)
class Discovery:
    """The devices, in the order of their numbers; ``failure``: why there may be more, or none."""

    devices: tuple[DriverDevice, ...] = ()
    failure: str | None = None


def discovery(environment: Mapping[str, str] = os.environ) -> Discovery:
    """What is here, asked once for a process; nothing without pyopencl or drivers."""
    variables = tuple((name, value) for name, value in sorted(environment.items()) if name.startswith(_PREFIXES))
    return _discovery(environment.get(VENDORS_VARIABLE, VENDORS), variables)


@cache
def _discovery(vendors: str, variables: tuple[tuple[str, str], ...]) -> Discovery:
    if importlib.util.find_spec("pyopencl") is None:
        return Discovery(failure=MISSING)
    drivers = sorted(_drivers(vendors))
    if not drivers:
        return Discovery(failure=f"no driver for OpenCL is installed: there is none in {vendors} ({VENDORS_VARIABLE} "
                                 "names another folder)")
    kept = find_cache()
    name = key("opencl devices", *DriverDevice.__dataclass_fields__, repr(drivers), repr(variables), _machine())
    content = kept.get(name)
    if content is not None:
        return Discovery(pickle.loads(content))
    found: Any = answer(_DESCRIBE, None, seconds=SECONDS)
    if isinstance(found, Ending):
        log = f": {found.log}" if found.log else ""
        return Discovery(failure=f"the process that asked OpenCL's drivers for their devices {found}{log}")
    if isinstance(found, Exception):
        return Discovery(failure=f"OpenCL's drivers do not tell their devices: {found}")
    kept.put(name, pickle.dumps(tuple(found)))
    return Discovery(tuple(found), None if found else "OpenCL's drivers have no devices here")


def _machine() -> str:
    with suppress(OSError):
        return _BOOT.read_text() + str(os.getuid())
    return ""


def _drivers(vendors: str) -> Iterator[tuple[str, str, int, int]]:
    """The files that name drivers, what they say, and size and time of the library."""
    place = Path(vendors)
    for path in [place] if place.is_file() else sorted(place.glob("*.icd")):
        with suppress(OSError):
            library = path.read_text(errors="replace").strip()
            found = next((one for one in _places(library) if one.exists()), None)
            state = None if found is None else found.stat()
            yield str(path), library, state.st_size if state else 0, state.st_mtime_ns if state else 0


def _places(library: str) -> Iterator[Path]:
    """Where a library may be, in the order in which the system's linker looks."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    yield from (Path(folder) / library for folder in [*filter(None, folders), *_SYSTEM])


def described(ordinal: int) -> DriverDevice:
    """The device ``opencl:ordinal``. Error if there is none, which says why."""
    found = discovery()
    if ordinal < len(found.devices):
        return found.devices[ordinal]
    there = f"there are {len(found.devices)}, counted from 0" if found.devices else found.failure
    raise Error(f"there is no device opencl:{ordinal}: {there}")


def in_this_process(described: DriverDevice) -> Any:
    """The same device as an object of pyopencl. Error if it has gone."""
    cl = started()
    try:
        found = cl.get_platforms()[described.platform].get_devices()[described.device]
    except (cl.Error, IndexError) as error:
        raise Error(f"the device {described} was here and is not any more: {error}") from None
    if found.name.strip() != described.name or found.driver_version.strip() != described.driver_version:
        raise Error(f"the devices of OpenCL's drivers have changed since they were listed: found {found.name.strip()} "
                    f"in place of {described}")
    return found


def pyopencl_version() -> str:
    """Of pyopencl. Error if it is not installed."""
    return str(bindings().VERSION_TEXT)
