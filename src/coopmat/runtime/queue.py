"""Queues: launching kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coopmat.diagnostics import LaunchError
from coopmat.runtime.commands import MemoryCommands
from coopmat.runtime.device import Device
from coopmat.runtime.events import Event
from coopmat.runtime.launchable import Launchable
from coopmat.runtime.program import Kernel
from coopmat.runtime.selection import Selector
from coopmat.runtime.selection import device as find_device
from coopmat.runtime.sizes import Size, Sizes, check_sizes, chosen_local_size


class Queue(MemoryCommands):
    """An in-order queue of a device: a Device, or what :func:`coopmat.device` takes (by default, its default).

    Commands have finished when the call that submits them returns.
    """

    def __init__(self, device: Device | str | Selector | None = None) -> None:
        self.device = find_device(device)

    def enqueue(self, kernel: Kernel | Launchable, global_size: Size, local_size: Size | None, /, *args: Any,
                **named: Any) -> Event:
        """Run ``kernel`` over ``global_size`` work-items in work-groups of ``local_size``.

        Sizes are in OpenCL's order: ``global_size[0]`` is ``get_global_size(0)``; one to three
        dimensions, each global size a multiple of the local size. A local size of None lets the runtime choose: the one
        that the kernel requires, or whole sub-groups.
        ``args`` are the kernel's arguments in order, ``named`` those that are given by name: memory for pointers
        (numpy arrays and other buffers, written in place), None for a null pointer, numbers for scalars, structures of
        numpy or ctypes for structures, :func:`coopmat.local` for local memory. The results are in the memory after
        ``wait()``. Floating-point numbers are rounded to the parameter's type as numpy does.

        A kernel of :func:`coopmat.autotune` is tuned first, if that has not been done.

        Raises :class:`LaunchError` for sizes or arguments that do not fit the kernel,
        :class:`KernelNotSupported` for matrices that the device does not have, and a
        :class:`SimulationError` for undefined behaviour during execution.
        """
        if not isinstance(kernel, Kernel):
            if isinstance(kernel, Launchable):
                return kernel.enqueue(self, global_size, local_size, args, named)
            raise LaunchError(f"expected a kernel of a built program, found {type(kernel).__name__}; "
                              "take one with program.kernel(name)")
        if local_size is None:
            local_size = chosen_local_size(kernel, global_size, self.device)
        sizes = check_sizes(global_size, local_size, self.device.max_work_group_size)
        return self.launch(kernel, sizes, kernel.program.arguments(kernel, args, named))

    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], values: Sequence[Any]) -> Event:
        """:meth:`enqueue` with sizes that were checked, and a value for each parameter."""
        arguments = kernel.bound(values)
        launcher = kernel.program.load(self.device).launcher(kernel.name, *sizes, arguments)
        return Event.of(launcher, arguments)

    def parallel_for(self, nd_range: Any, kernel: Any, /, *args: Any, **named: Any) -> Event:
        """Compile a kernel in Python for the queue's device, if that has not been done, and run it over ``nd_range``.

        nd_range: :class:`coopmat.sycl.nd_range`, in SYCL's order: the last dimension is the fastest.
        kernel: a function with the decorator :func:`coopmat.sycl.kernel`, or a plain one, which then requires no
            sub-group size.
        args, named: the arguments after the nd_item, by position or by name, as in :meth:`enqueue`; parameters with a
            default may be left out, and arrays that the kernel captures are not given.

        Raises what :func:`coopmat.build` and :meth:`enqueue` raise.
        """
        if isinstance(kernel, Launchable):
            return kernel.parallel_for(self, nd_range, args, named)
        from coopmat.runtime.python_launches import prepare  # imported late: programs in OpenCL C launch none

        return self.launch(*prepare(self.device, nd_range, kernel, args, named))

    def __repr__(self) -> str:
        return f"<coopmat.Queue on {self.device.name}>"
