"""Launches in two orders: where results differ, they depend on the order of sub-groups or work-groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from coopmat.diagnostics import DataRace, Where
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.global_memory import GlobalMemory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.cpu.checks.table import Checks
from coopmat.targets.cpu.host.interleaving import InOrder, Interleaving, Order, RandomOrder
from coopmat.targets.cpu.host.launch import WORDS_BYTES, CompiledKernel, LaunchFrame, Plan
from coopmat.targets.cpu.host.threads import interruptible
from coopmat.targets.cpu.options import CpuOptions


class Buffer(NamedTuple):
    """Memory that a launch may write: its name, and an array of its elements."""

    name: str
    content: np.ndarray

    def differing(self, other: np.ndarray) -> np.ndarray:
        """The positions of the elements whose bits differ from another array's."""
        own, others = (np.ascontiguousarray(one).reshape(-1).view(np.uint8).reshape(one.size, -1)
                       for one in (self.content, other))
        return np.flatnonzero((own != others).any(1))


class RacePlan(Plan):
    """A kernel with sizes that runs twice: work-groups and sub-groups one after the other, and in a random order."""

    def __init__(self, kernel: CompiledKernel, signature: KernelSignature, geometry: Geometry,
                 addresses: Mapping[int, int], options: CpuOptions, checks: Checks | None, variables: GlobalMemory
                 ) -> None:
        super().__init__(kernel, signature, geometry, 1, addresses, options.printf_limit, checks)
        self.reused: list[int] = []
        self.stack_bytes = 0  # of the thread: sub-groups have stacks elsewhere (interleaving.Place)
        self._seed = int(options.seed)
        self._variables = variables

    def launch(self, arguments: Sequence[Any]) -> None:
        """Run the kernel in both orders. DataRace if the results differ; what stays are those of the usual order."""
        buffers = list(self._buffers(arguments))
        before = [buffer.content.copy() for buffer in buffers]
        self.run_in(InOrder(), arguments)
        usual = [buffer.content.copy() for buffer in buffers]
        _restore(buffers, before)
        try:
            self.run_in(RandomOrder(self._seed), arguments, shows=False)
            found = self._difference(buffers, usual)
        finally:
            _restore(buffers, usual)
        if found is not None:
            raise found

    def run_in(self, order: Order, arguments: Sequence[Any], *, shows: bool = True) -> None:
        """Run the kernel in an order; ``shows``: what it prints."""
        def execute(frame: LaunchFrame, _bytes: int, stop: Callable[[], None], _used: object) -> None:
            run = Interleaving(self.run, frame.words, frame.address, frame.address + WORDS_BYTES, order).run
            interruptible(run, stop)

        self._run(arguments, execute, shows=shows)

    def _buffers(self, arguments: Sequence[Any]) -> Iterator[Buffer]:
        """What the kernel may write: arguments, and variables of the module."""
        for place, (parameter, argument) in enumerate(zip(self.parameters, arguments, strict=True)):
            if parameter.kind == "global" and isinstance(argument, np.ndarray) and argument.flags.writeable and (
                    argument.size):
                yield Buffer(argument_name(place, parameter.name), argument)
        for identifier, memory, is_writable in self._variables.regions():
            if is_writable:
                yield Buffer(f"variable '{self._variables.name(identifier)}'", memory)

    def _difference(self, buffers: Sequence[Buffer], usual: Sequence[np.ndarray]) -> DataRace | None:
        """The error of results that are not those of the usual order."""
        for buffer, expected in zip(buffers, usual, strict=True):
            places = buffer.differing(expected)
            if places.size:
                first = int(places[0])
                one, other = (content.reshape(-1)[first] for content in (expected, buffer.content))
                return DataRace(
                    f"the result depends on the order of sub-groups and work-groups: element {first} of {buffer.name} "
                    f"is {one} if they run one after the other, and {other} in the random order of seed {self._seed}; "
                    f"{places.size} of {buffer.content.size} elements differ. CpuOptions(races=True, seed={self._seed})"
                    " gives that order again; a simulated device, such as sim:generic, names the two accesses that "
                    "race. Only atomics of floating-point numbers, and atomics that hand out places, may differ without"
                    " a race", Where(self.name, buffer=buffer.name, element=first))
        return None


def _restore(buffers: Sequence[Buffer], contents: Sequence[np.ndarray]) -> None:
    for buffer, content in zip(buffers, contents, strict=True):
        buffer.content[...] = content
