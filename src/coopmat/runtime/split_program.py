"""Programs of several devices that share launches: parts run on each, and their results are put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from time import perf_counter
from typing import TYPE_CHECKING, Any

from coopmat.diagnostics import LaunchError, SimulationError
from coopmat.runtime.shares import Shares
from coopmat.runtime.work_in_parts import PartsKernel, PartsProgram, Work
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.transform.parts import in_parts
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.targets.analysis.sharing import Sharing, sharing_of
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.modules import check
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.output import Said, heard
from coopmat.targets.base.partition import Part
from coopmat.targets.base.putting_together import Copies

if TYPE_CHECKING:
    from coopmat.runtime.split_device import SplitDevice

PRODUCTS = (Op.CooperativeMatrixMulAddKHR, Op.SubgroupMatrixMultiplyAccumulateINTEL)
MOST_WORKS = 256  # kernels with sizes that a program knows


class SplitProgram:
    """A module on several devices. See :class:`~coopmat.runtime.device.LoadedProgram`."""

    def __init__(self, device: SplitDevice, module: Module, cache: Cache | None, *, is_checked: bool) -> None:
        self.device = device
        self.module = module
        self._parts = PartsProgram(in_parts(module), cache)
        for one in device.devices:
            if not is_checked:
                check(module, one.description)
            self._parts.load(one)
        self._streams = [one.stream() for one in device.devices]
        self._sharing: dict[str, Sharing] = {}
        self._speeds: dict[str, dict[int, float]] = {}
        self._works: dict[Any, Work] = {}
        self._last: Work | None = None

    @cached_property
    def has_matrices(self) -> bool:
        """Whether kernels multiply matrices: these read what they are given again and again."""
        return any(True for op in PRODUCTS for _ in self.module.of_opcode(op))

    @property
    def _checks(self) -> bool:
        return self.device.options.split == "checked"

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(len(self._streams), thread_name_prefix="coopmat-part")

    def work(self, name: str, global_size: Sequence[int], local_size: Sequence[int]) -> Work:
        """A kernel with sizes. LaunchError for sizes that do not fit, and for kernels whose work-groups share too much.
        """
        chosen = name, tuple(global_size), tuple(local_size)
        found = self._works.get(chosen)
        if found is None:
            if len(self._works) >= MOST_WORKS:
                self._works.clear()
            found = self._works[chosen] = self._made(*chosen)
        self._last = found
        return found

    def _made(self, name: str, global_size: Sequence[int], local_size: Sequence[int]) -> Work:
        signature = self.module.kernel_signatures[name]
        geometry = Geometry.checked(signature, global_size, local_size, None, 1)
        if name not in self._sharing:
            self._sharing[name] = sharing_of(self.module, name)
        sharing = self._sharing[name]
        if sharing.reasons and self._checks:
            raise LaunchError(f"kernel '{name}' cannot be split over {self.device.name}: "
                              f"{'; '.join(sharing.reasons)}. Launch it on one device, or with "
                              "SplitOptions(split='unchecked')")
        shares = Shares(geometry.group_counts, len(self._streams), self._speeds.setdefault(name, {}))
        labels = [argument_name(place, one.name) for place, one in enumerate(signature.parameters)]
        width = self._parts.module.kernel_signatures[name].parameters[-1].type.size
        return Work(PartsKernel(name, self._parts), geometry, sharing, shares, labels, width)

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any]) -> Callable[[Sequence[Any]], None]:
        """What launches a kernel with arguments. LaunchError as for :meth:`work`."""
        work = self.work(kernel_name, global_size, local_size)
        return lambda given: self._launch(work, given)

    def _launch(self, work: Work, arguments: Sequence[Any]) -> None:
        parts = work.shares.following()
        copies = Copies(arguments, work.sharing, len(parts), work.labels)
        given = [copies.of(number) for number in range(len(parts))]
        on_gpus = [place for place, one in enumerate(arguments) if isinstance(one, DeviceArray)]
        if on_gpus:
            self.check_counters(work, on_gpus)
            given = [self.device.peers.arguments(one, self.device.ordinals[part.owner], work.sharing.written,
                                                 is_reused=self.has_matrices)
                     for part, one in zip(parts, given, strict=True)]
        seconds = self._run(work, parts, given)
        copies.put_together(checks=self._checks)
        if on_gpus:
            self.device.peers.changed([arguments[place] for place in on_gpus if place in work.sharing.written])
        work.shares.note(parts, seconds)

    def check_counters(self, work: Work, on_gpus: Sequence[int]) -> None:
        """LaunchError for counters in memory of GPUs, the places of which among the arguments are given."""
        for place in on_gpus:
            if place in work.sharing.combined and self._checks:
                raise LaunchError(f"{work.labels[place]} is changed by atomic operations, and those of a GPU are its "
                                  "own: give an array of the host, where the counts are put together")

    def _run(self, work: Work, parts: Sequence[Part], given: Sequence[Sequence[Any]]) -> list[float]:
        """Run parts in threads, since whoever takes arrays of the host waits for them; the seconds of each. What
        they print and warn of is said here, in the order of the parts."""
        def run(part: Part, arguments: Sequence[Any], said: Said) -> float:
            start = perf_counter()
            try:
                with heard(said):
                    self._streams[part.owner].launch(work.kernel, work.sizes(part),
                                                     [*arguments, *work.place(part)]).wait()
            except SimulationError as error:
                raise error.in_part(part.first) from None
            return perf_counter() - start

        said = [Said() for _ in parts]
        works = [self._threads.submit(run, *one) for one in zip(parts, given, said, strict=True)]
        wait(works)
        for one in said:
            one.repeat()
        return [work.result() for work in works]  # raises what one of them has failed with

    def explanation(self) -> list[str]:
        """How the last launch was shared out."""
        if self._last is None:
            return ["nothing was launched yet"]
        work, names = self._last, [one.name for one in self.device.devices]
        total = work.geometry.group_total
        return [f"{work.kernel.name}: {names[part.owner]} ran {math.prod(part.counts)} of {total} work-groups, from "
                f"{part.first} on" for part in work.shares.parts]
