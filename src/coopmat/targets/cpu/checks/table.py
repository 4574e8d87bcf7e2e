"""The host's part in bounds checks: the table of a launch's buffers, and the error afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coopmat.diagnostics import SimulationError
from coopmat.spirv.analysis.kernels import KernelSignature, Parameter
from coopmat.targets.base.global_memory import GlobalMemory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.cpu.checks.faults import AccessSite, Fault, Region, fault_of
from coopmat.targets.cpu.checks.functions import ENTRY_WORDS
from coopmat.targets.cpu.host.frame import Field


class Checks:
    """What a kernel's launches need where accesses are checked."""

    def __init__(self, signature: KernelSignature, sites: Sequence[AccessSite], variables: GlobalMemory) -> None:
        self._kernel = signature.name
        self._parameters = signature.parameters
        self._sites = sites
        self._variables = variables

    def table(self, words: np.ndarray, arguments: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
        """The table of buffers, first the arguments, and their names; the launch's words tell where it is."""
        rows = [_entry(parameter, argument) for parameter, argument in zip(self._parameters, arguments, strict=True)]
        names = [argument_name(index, parameter.name) for index, parameter in enumerate(self._parameters)]
        for identifier, memory, writable in self._variables.regions():
            rows.append((memory.ctypes.data, memory.size, memory.size if writable else 0))
            names.append(f"variable '{self._variables.name(identifier)}'")
        table = np.array(rows, np.int64).reshape(-1, ENTRY_WORDS)
        words[Field.BUFFERS], words[Field.BUFFER_COUNT] = table.ctypes.data, len(table)
        return table, names

    def fault(self, words: np.ndarray, table: tuple[np.ndarray, list[str]] | None) -> SimulationError | None:
        """The error of a launch that has ended, if there is one."""
        found = words[Field.ERROR:Field.ERROR + Fault.COUNT]
        if table is None or not found[Fault.STATE]:
            return None
        regions = [Region(name, int(row[0]), int(row[1])) for name, row in zip(table[1], table[0], strict=True)]
        return fault_of(found, self._sites, self._kernel, regions)


def _entry(parameter: Parameter, argument: Any) -> tuple[int, int, int]:
    """Address, bytes to read and bytes to write of an argument; local memory has its address from the code."""
    if not parameter.is_pointer or argument is None:
        return 0, 0, 0
    size = int(argument.nbytes)
    if parameter.kind == "local":
        return 0, size, size
    return argument.ctypes.data, size, size if parameter.kind == "global" and argument.flags.writeable else 0
