"""The driver's compiler, in a process of its own: it crashes on modules that it does not know what to do with.

The process is started by the first module and lives as long as this one does; what comes back is the driver's binary.
"""

from __future__ import annotations

import atexit
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coopmat.support.forks import ForkSafeLock, after_fork
from coopmat.targets.base.children import Child, Ending
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.host.driver import code_name, started

SECONDS = 300.0
"""That a module may take."""
_Settings = tuple[tuple[str, str], ...]
_CHILDREN: dict[_Settings, Child] = {}
_LOCK = ForkSafeLock()
_BUILDING = ForkSafeLock()
after_fork(_CHILDREN.clear)


@dataclass(frozen=True)
class Compiled:
    """What came of a module: the driver's binary, or None if it gives none."""

    binary: bytes | None


@dataclass(frozen=True)
class Refused:
    """Why the driver does not compile a module: its status, and what it says."""

    status: str
    log: str


def compiled(device: DriverDevice, spirv: bytes, options: str,
             settings: Mapping[str, str]) -> Compiled | Refused | Ending | Exception:
    """Have a module compiled."""
    chosen = tuple(sorted(settings.items()))
    with _LOCK:
        child = _CHILDREN.get(chosen)
        if child is None or not child.is_alive:
            child = _CHILDREN[chosen] = Child(f"{__name__}:compile_here", settings)
        found: Compiled | Refused | Ending | Exception = child.ask((device, spirv, options), SECONDS)
    return found


@atexit.register
def _close() -> None:
    for child in _CHILDREN.values():
        if child.is_alive:
            child.close()


def compile_here(job: tuple[DriverDevice, bytes, str]) -> Compiled | Refused:
    """Compile a module, in the child."""
    described, spirv, options = job
    cl = started()
    device = cl.get_platforms()[described.platform].get_devices()[described.device]
    context = cl.Context([device])
    try:
        program = cl.Program(context, spirv)
    except cl.Error as error:
        return Refused(code_name(error.code), "")
    try:
        build(program, options)
    except cl.Error as error:
        return Refused(code_name(error.code), log_of(program, device))
    try:
        program.all_kernels()  # some drivers translate kernels when they are asked for
    except cl.Error as error:
        return Refused(code_name(error.code), log_of(program, device))
    try:
        binary, = program.binaries
    except (cl.Error, ValueError, TypeError):
        return Compiled(None)
    return Compiled(bytes(binary) or None)


def build(program: Any, options: str) -> Any:
    """Build a program. pyopencl's warnings of what compilers say beside errors are shown to nobody."""
    with _BUILDING, warnings.catch_warnings():  # filters of warnings are those of all threads
        warnings.simplefilter("ignore", started().CompilerWarning)
        return program.build(options=options)


def log_of(program: Any, device: Any) -> str:
    """What the driver's compiler said of a program."""
    cl = started()
    try:
        return str(program.get_build_info(device, cl.program_build_info.LOG)).strip("\0 \n")
    except cl.Error:
        return ""
