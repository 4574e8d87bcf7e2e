"""A launch as the caller wrote it, and what a configuration makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import LaunchError, value_text
from coopmat.runtime.events import Event
from coopmat.runtime.program import Kernel
from coopmat.runtime.python_launches import check_dimensions
from coopmat.runtime.queue import Queue
from coopmat.runtime.ranges import nd_range
from coopmat.runtime.sizes import Sizes, check_sizes, chosen_local_size
from coopmat.targets.base.local_memory import LocalMemory
from coopmat.tuning.config import Config
from coopmat.tuning.sources import TunedSource


@dataclass(frozen=True)
class Launch:
    """A kernel with sizes (in OpenCL's order) and a value for each parameter; ``shown`` are the sizes as the caller has
    them."""

    kernel: Kernel
    sizes: tuple[Sizes, Sizes]
    values: Sequence[Any]
    shown: tuple[Sizes, Sizes]

    def run(self, queue: Queue) -> Event:
        """Launch it."""
        return queue.launch(self.kernel, self.sizes, self.values)

    def make_ready(self, queue: Queue) -> None:
        """Compile what is to be compiled. Raises LaunchError and KernelNotSupported where the device refuses it."""
        device = queue.device
        local = sum(value.nbytes for value in self.values if isinstance(value, LocalMemory))
        if local > device.local_memory_size:
            raise LaunchError(f"the arguments take {local} bytes of local memory; {device.name} has "
                              f"{device.local_memory_size}")
        size = self.kernel.signature.sub_group_size or device.sub_group_sizes[0]
        if self.kernel.uses_sub_groups and math.prod(self.sizes[1]) % size:
            raise LaunchError(f"a work-group of {math.prod(self.sizes[1])} work-items is not made of whole sub-groups "
                              f"of {size}, which the kernel uses")
        self.kernel.program.load(device).launcher(self.kernel.name, *self.sizes,
                                                 self.kernel.bound(self.values, device))


@dataclass(frozen=True)
class Request:
    """The arguments of Queue.enqueue, or, with ``is_sycl``, of Queue.parallel_for, whose nd_range is ``global_size``.

    Sizes, the nd_range and arguments may be functions of the configuration and of the other arguments, by name.
    """

    queue: Queue
    global_size: Any
    local_size: Any
    args: Sequence[Any]
    named: Mapping[str, Any]
    is_sycl: bool = False

    def launch(self, source: TunedSource, config: Config) -> Launch:
        """What a configuration makes of it. Raises what building and launching raise."""
        kernel = source.kernel(config, self.queue.device)
        arguments = source.arguments(config, kernel, self.args, self.named)
        plain = constants(arguments)
        values = [given(config, plain) if is_choice(given) else given for given in arguments.values()]
        whole, part = self._sizes(source, config, plain)
        step = -1 if self.is_sycl else 1
        if part is None:
            part = chosen_local_size(kernel, _turned(whole, step), self.queue.device)[::step]
        sizes = check_sizes(_turned(whole, step), _turned(part, step), self.queue.device.max_work_group_size)
        return Launch(kernel, sizes, values, (sizes[0][::step], sizes[1][::step]))

    def _sizes(self, source: TunedSource, config: Config, arguments: Mapping[str, Any]) -> tuple[Any, Any]:
        """Global and local size in the caller's order: the configuration's, else the launch's."""
        whole, part = self.global_size, self.local_size
        if self.is_sycl:
            ranges = _chosen(whole, config, arguments)
            if not isinstance(ranges, nd_range):
                raise LaunchError("parallel_for takes an nd_range, or a function of configuration and arguments that "
                                  f"gives one; found {value_text(ranges)}")
            kernel = source.python_kernel(config)
            if kernel is None:
                raise LaunchError("parallel_for takes kernels in Python; those of a source are launched with enqueue")
            check_dimensions(kernel, ranges)
            whole, part = ranges.global_range, ranges.local_range
        if config.global_size is not None:
            whole = config.global_size
        if config.local_size is not None:
            part = config.local_size
        return _chosen(whole, config, arguments), _chosen(part, config, arguments)


def _turned(size: Any, step: int) -> Any:
    """A size in the other order; what is none is refused later."""
    return size[::step] if step < 0 and isinstance(size, list | tuple) else size


def _chosen(given: Any, config: Config, arguments: Mapping[str, Any]) -> Any:
    return given(config, arguments) if callable(given) else given


def is_choice(argument: Any) -> bool:
    """Whether an argument is a function of the configuration."""
    return callable(argument) and not hasattr(type(argument), "__coopmat_array__")


def constants(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are the same for all configurations."""
    return {name: value for name, value in arguments.items() if not is_choice(value)}
