"""Debugging launches on simulated devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coopmat.devices import ARCHITECTURES
from coopmat.diagnostics import LaunchError
from coopmat.runtime.device import Device
from coopmat.runtime.selection import device as find_device
from coopmat.runtime.simulated_device import SimulatedDevice
from coopmat.runtime.sizes import Size, check_sizes, chosen_local_size
from coopmat.support.files import read_bytes

if TYPE_CHECKING:
    from coopmat.debugger.engine import Launch

DEFAULT_DEVICE = "sim:generic"
"""Where kernels of programs are debugged that were built for no simulated device."""


def launch_of(kernel: Any, device: Device | str | None, global_size: Size, local_size: Size | None,
              arguments: Sequence[Any], named: Mapping[str, Any], purpose: str = "kernels are debugged") -> Launch:
    """A launch of a :class:`coopmat.Kernel` in the form that the debugger and reports take. Raises what
    :meth:`coopmat.Queue.enqueue` raises before anything runs, and LaunchError, which names the ``purpose``, for a
    device that is not simulated."""
    from coopmat.debugger.engine import Launch

    program = kernel.program
    chosen = program._device if isinstance(program._device, SimulatedDevice) else DEFAULT_DEVICE
    target = find_device(chosen if device is None else device)
    if not isinstance(target, SimulatedDevice):
        alike = f"sim:{target.architecture}" if target.architecture in ARCHITECTURES else DEFAULT_DEVICE
        raise LaunchError(f"{purpose} on simulated devices, such as {alike}; {target.name} is none")
    part = chosen_local_size(kernel, global_size, target) if local_size is None else local_size
    sizes = check_sizes(global_size, part, target.max_work_group_size)
    bound = kernel.bound(program.arguments(kernel, arguments, named), target)
    program.load(target)
    return Launch(program._executable, target.description, target.options, kernel.name, *sizes, bound, program.text_of)


def debug(launch: Launch, script: str | Sequence[str] | Path | None, port: int | None = None) -> int:
    """Debug a launch: by commands that are typed, by a script's or by an editor, as :meth:`coopmat.Kernel.debug` has
    it."""
    from coopmat.debugger.engine import Engine
    from coopmat.debugger.shell import Shell

    if port is not None:
        from coopmat.debugger.dap.kernel import Opened
        from coopmat.debugger.dap.serving import serve_port

        if script is not None:
            raise LaunchError("a launch is debugged by a script or by an editor at a port: leave one of them out")
        return serve_port(port, lambda _: Opened(launch, Path.cwd()), once=True)
    shell = Shell(Engine(launch))
    if script is None:
        return shell.interact()
    if isinstance(script, Path):
        script = read_bytes(script).decode("utf-8", "replace")
    return shell.script(script.splitlines() if isinstance(script, str) else script)
