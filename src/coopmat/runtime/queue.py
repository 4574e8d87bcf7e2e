"""Queues: launching kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coopmat.diagnostics import LaunchError, value_text
from coopmat.runtime.commands import MemoryCommands
from coopmat.runtime.device import Device
from coopmat.runtime.events import Event
from coopmat.runtime.launchable import Launchable
from coopmat.runtime.program import Kernel
from coopmat.runtime.selection import Selector
from coopmat.runtime.selection import device as find_device
from coopmat.runtime.sizes import Size, Sizes, check_sizes, chosen_local_size
from coopmat.runtime.streams import Prepared


class Queue(MemoryCommands):
    """An in-order queue of a device: a Device, or what :func:`coopmat.device` takes (by default, its default).

    Commands have finished when the call that submits them returns; on a GPU, those whose memory is all the GPU's have
    been submitted then, and events and queues are waited for. There a queue is a CUDA stream: one of its own, or the
    one whose handle ``stream`` is, such as ``torch.cuda.current_stream().cuda_stream``.
    """

    def __init__(self, device: Device | str | Selector | None = None, *, stream: int | None = None) -> None:
        self.device = find_device(device)
        if stream is not None and (isinstance(stream, bool) or not isinstance(stream, int | np.integer) or stream < 0):
            raise LaunchError("the stream of a queue is the handle of a CUDA stream, an int such as "
                              f"torch.cuda.current_stream().cuda_stream; found {value_text(stream)}")
        self._stream = self.device.stream(None if stream is None else int(stream))

    @property
    def stream(self) -> int | None:
        """The handle of the queue's CUDA stream, for other libraries; None on devices without streams."""
        return self._stream.handle

    def enqueue(self, kernel: Kernel | Launchable, global_size: Size, local_size: Size | None, /, *args: Any,
                **named: Any) -> Event:
        """Run ``kernel`` over ``global_size`` work-items in work-groups of ``local_size``.

        Sizes are in OpenCL's order: ``global_size[0]`` is ``get_global_size(0)``; one to three
        dimensions, each global size a multiple of the local size. A local size of None lets the runtime choose: the one
        that the kernel requires, or whole sub-groups.
        ``args`` are the kernel's arguments in order, ``named`` those that are given by name: memory for pointers
        (numpy arrays and other buffers, written in place; on a GPU also arrays of torch, cupy, numba and JAX there,
        without a copy, docs/gpu.md), None for a null pointer, numbers for scalars, structures of
        numpy or ctypes for structures, :func:`coopmat.local` for local memory. The results are in the memory after
        ``wait()``. Floating-point numbers are rounded to the parameter's type as numpy does.

        A kernel of :func:`coopmat.autotune` is tuned first, if that has not been done.

        Raises :class:`LaunchError` for sizes or arguments that do not fit the kernel,
        :class:`KernelNotSupported` for matrices that the device does not have, and a
        :class:`SimulationError` for undefined behaviour during execution.
        """
        if isinstance(kernel, Launchable):
            return kernel.enqueue(self, global_size, local_size, args, named)
        return self.launch(*self._checked(kernel, global_size, local_size, args, named))

    def prepare(self, kernel: Kernel, global_size: Size, local_size: Size | None, /, *args: Any,
                **named: Any) -> Prepared:
        """A function of no parameters that launches ``kernel`` with these sizes and arguments, as :meth:`enqueue` does,
        and returns the launch's event. Arguments are checked and brought to the device's form once; their memory may
        have other contents each time. On a GPU such a launch takes the least time if all memory is the GPU's.

        Raises what :meth:`enqueue` raises.
        """
        kernel, sizes, values = self._checked(kernel, global_size, local_size, args, named)
        return self._stream.prepare(kernel, sizes, kernel.bound(values, self.device))

    def graph(self) -> Any:
        """A graph of commands, on an NVIDIA GPU: ``with queue.graph() as graph:`` takes the commands that are submitted
        inside, without doing them; ``graph.launch()`` does them all, as often as it is called, and returns an event.
        Only memory of the GPU, of malloc_host and of malloc_shared can take part. Error on other devices."""
        return self._stream.graph()

    def _checked(self, kernel: Any, global_size: Size, local_size: Size | None, args: Sequence[Any],
                 named: Mapping[str, Any]) -> tuple[Kernel, tuple[Sizes, Sizes], Sequence[Any]]:
        """A launch whose kernel and sizes fit each other and the device."""
        if not isinstance(kernel, Kernel):
            raise LaunchError(f"expected a kernel of a built program, found {type(kernel).__name__}; "
                              "take one with program.kernel(name)")
        if local_size is None:
            local_size = chosen_local_size(kernel, global_size, self.device)
        sizes = check_sizes(global_size, local_size, self.device.max_work_group_size)
        return kernel, sizes, kernel.program.arguments(kernel, args, named)

    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], values: Sequence[Any]) -> Event:
        """:meth:`enqueue` with sizes that were checked, and a value for each parameter."""
        return self._stream.launch(kernel, sizes, kernel.bound(values, self.device))

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
