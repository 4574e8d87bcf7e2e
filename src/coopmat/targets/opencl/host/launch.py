"""Launches on a driver's device: arguments in the form that the kernel takes, the range, and what is brought back.

A :class:`Plan` is what a launch needs beside its arguments: a kernel with sizes. Programs keep plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.local_memory import check_local_memory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.spans import Spans
from coopmat.targets.base.values import as_bytes
from coopmat.targets.opencl.host.context import Context
from coopmat.targets.opencl.host.driver import code_name, errors, set_pointer, started

LEAST_ALIGNMENT = 16
"""Of arrays of the host that a kernel works on in place, in bytes: drivers compile vector accesses for it."""


class Plan:
    """A kernel with sizes, ready to be launched with any arguments. in_place: it may work on the host's arrays."""

    def __init__(self, context: Context, kernel: Any, signature: KernelSignature, geometry: Geometry, *,
                 in_place: bool, extra_local: int = 0) -> None:
        """``extra_local``: bytes for each sub-group that a last argument, of local memory, has for the kernel itself.
        """
        self.context, self.kernel = context, kernel
        self.signature, self.geometry = signature, geometry
        self.extra_local = extra_local * geometry.sub_groups_per_group
        self._in_place = in_place
        cl = started()
        with errors(self.what):
            info = cl.kernel_work_group_info
            self._most = kernel.get_work_group_info(info.WORK_GROUP_SIZE, context.device)
            self._own_local = kernel.get_work_group_info(info.LOCAL_MEM_SIZE, context.device)
        if geometry.local_total > self._most:
            raise LaunchError(f"{self.what}: the driver takes at most {self._most} work-items in a work-group of this "
                              "kernel")

    @property
    def what(self) -> str:
        """What is to be done, for errors."""
        return (f"the launch of kernel '{self.signature.name}' over {self.geometry.global_size} work-items in groups "
                f"of {self.geometry.local_size}")

    def launch(self, arguments: Sequence[Any], queue: Any) -> Any:
        """Submit the kernel; the driver's event. With arrays of the host it is done, and they hold the results."""
        self._check_local(arguments)
        arrays = [(argument, not parameter.const) for argument, parameter
                  in zip(arguments, self.signature.parameters, strict=True) if isinstance(argument, np.ndarray)]
        with self.context.lock, errors(self.what):
            if not self._in_place or not all(self._is_aligned(arguments)):
                return self._with_copies(arguments, arrays, queue)
            self._bind(arguments, None)
            event = self._submit(queue)
            if arrays:
                event.wait()
            return event

    def _is_aligned(self, arguments: Sequence[Any]) -> list[bool]:
        return [argument.ctypes.data % max(parameter.type.alignment, LEAST_ALIGNMENT) == 0
                for argument, parameter in zip(arguments, self.signature.parameters, strict=True)
                if isinstance(argument, np.ndarray) and argument.nbytes]

    def _with_copies(self, arguments: Sequence[Any], arrays: Sequence[tuple[Any, bool]], queue: Any) -> Any:
        cl = started()
        spans = Spans(arrays)
        try:
            for span in spans.all:
                span.copy = self.context.buffers.take(span.nbytes)
                cl.enqueue_copy(queue, span.copy, span.content, is_blocking=False)
            self._bind(arguments, spans)
            event = self._submit(queue)
            for span in spans.all:
                if span.written:
                    cl.enqueue_copy(queue, span.content, span.copy, is_blocking=False)
            queue.finish()
            return event
        finally:
            for span in spans.all:
                if span.copy is not None:
                    self.context.buffers.give_back(span.copy)

    def _submit(self, queue: Any) -> Any:
        geometry = self.geometry
        count = geometry.dimensions
        offset = geometry.global_offset[:count] if any(geometry.global_offset) else None
        return started().enqueue_nd_range_kernel(queue, self.kernel, geometry.global_size[:count],
                                                 geometry.local_size[:count], global_work_offset=offset)

    def _bind(self, arguments: Sequence[Any], spans: Spans | None) -> None:
        """Set the arguments: arrays are where ``spans`` have their copies, or in place."""
        cl = started()
        for place, (argument, parameter) in enumerate(zip(arguments, self.signature.parameters, strict=True)):
            if parameter.kind == "value":
                self.kernel.set_arg(place, as_bytes(parameter, argument))
            elif parameter.kind == "local":
                self.kernel.set_arg(place, cl.LocalMemory(argument.nbytes))
            elif argument is None:
                self.kernel.set_arg(place, None)
            elif not argument.nbytes:
                self.kernel.set_arg(place, self.context.nothing)
            elif spans is None:
                status = set_pointer(self.kernel, place, argument.ctypes.data)
                if status:
                    name = argument_name(place, parameter.name)
                    raise LaunchError(f"{self.what}: the driver does not take the memory of {name} "
                                      f"(CL_{code_name(status)}): launch with OpenCLOptions(host_memory=False)")
            else:
                self.kernel.set_arg(place, self._copy(spans, place, argument))
        if self.extra_local:
            self.kernel.set_arg(len(arguments), cl.LocalMemory(self.extra_local))

    def _copy(self, spans: Spans, place: int, array: np.ndarray[Any, Any]) -> Any:
        """The copy of an array, which may be a part of a buffer."""
        found = spans.place(array)
        assert found is not None
        span, offset = found
        if not offset:
            return span.copy
        alignment = self.context.device.mem_base_addr_align // 8
        if offset % alignment:
            name = argument_name(place, self.signature.parameters[place].name)
            raise LaunchError(f"{self.what}: {name} overlaps another array and begins {offset} bytes after it; the "
                              f"device takes parts of memory that begin at multiples of {alignment} bytes: pass copies")
        return span.copy.get_sub_region(offset, array.nbytes)

    def _check_local(self, arguments: Sequence[Any]) -> None:
        """LaunchError if a work-group would need more local memory than there is."""
        given = [(argument.nbytes, argument_name(place, parameter.name))
                 for place, (argument, parameter) in enumerate(zip(arguments, self.signature.parameters, strict=True))
                 if parameter.kind == "local"]
        own = [(self._own_local, "its own variables"), (self.extra_local, "the layouts of matrices")]
        check_local_memory(self.signature.name, [*own, *given], f"opencl:{self.context.ordinal}",
                           self.context.described.local_memory)
