"""Architectures, their matrix combinations, and how matrices are spread over work-items.

The rows are those of sycl_ext_oneapi_matrix, appendix "Supported Combinations Per Hardware", one
module per family. ``generic`` and ``cpu`` have no table: they take every shape and type.
"""

from __future__ import annotations

import difflib
from typing import Protocol

from coopmat.devices import amd, intel_amx, intel_xmx, nvidia
from coopmat.devices.arithmetic import Evidence
from coopmat.devices.model import WORK_GROUP_MULTIPLE, Combination, DeviceDescription
from coopmat.devices.operands import USES, Use
from coopmat.diagnostics import Error, value_text

__all__ = ["ARCHITECTURES", "CPU", "EVIDENCE", "USES", "WORK_GROUP_MULTIPLE", "Combination", "DeviceDescription",
           "HasDescription", "Use", "describe", "description_of"]

_GENERIC = DeviceDescription("generic", "generic", (16, 4, 8, 32, 64), (), any_combination=True,
                             xmx_sub_group_sizes=(8, 16))
CPU = DeviceDescription("cpu", "host", _GENERIC.sub_group_sizes, (), any_combination=True,
                        xmx_sub_group_sizes=_GENERIC.xmx_sub_group_sizes)
"""The CPU that the process runs on: it takes what ``generic`` takes."""

_TABLES = (intel_amx, intel_xmx, nvidia, amd)

ARCHITECTURES: dict[str, DeviceDescription] = {
    description.name: description
    for description in (*(row for table in _TABLES for row in table.ARCHITECTURES), _GENERIC)
}
"""Every architecture that can be simulated by its name, in the order of the contract."""

EVIDENCE: tuple[Evidence, ...] = tuple(row for table in _TABLES for row in table.EVIDENCE)
"""Where the arithmetic of each architecture comes from: each architecture and type of A and B has one row."""

_SIMULATED_PREFIX = "sim:"


class HasDescription(Protocol):
    """What stands for an architecture, such as a :class:`coopmat.Device`."""

    @property
    def description(self) -> DeviceDescription:
        """The architecture."""


def description_of(device: str | DeviceDescription | HasDescription) -> DeviceDescription:
    """The architecture that a name, a description or a device stands for.

    Raises :class:`coopmat.Error` for an unknown name and for what is no device.
    """
    if isinstance(device, DeviceDescription):
        return device
    if isinstance(device, str):
        return describe(device)
    found = getattr(device, "description", None)
    if not isinstance(found, DeviceDescription):
        raise Error(f"a device is a coopmat.Device or a name such as 'sim:generic', not {type(device).__name__}")
    return found


def describe(name: str) -> DeviceDescription:
    """The architecture called ``name``, with or without the prefix ``sim:``.

    Raises :class:`coopmat.Error` naming the known architectures if there is none of that name.
    """
    if name == CPU.name:
        return CPU
    bare = str(name).removeprefix(_SIMULATED_PREFIX)
    if bare in ARCHITECTURES:
        return ARCHITECTURES[bare]
    close = difflib.get_close_matches(bare, ARCHITECTURES, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise Error(f"unknown architecture {value_text(bare)}{hint} (known: {', '.join(ARCHITECTURES)}, {CPU.name})")
