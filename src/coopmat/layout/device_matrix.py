"""The operands of a device's matrix multiply-accumulate: their layout, as a picture and as JSON."""

from __future__ import annotations

import difflib
import json
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import SupportsIndex

from coopmat.devices import USES, DeviceDescription, HasDescription, Use, description_of
from coopmat.devices.layouts import layout_of
from coopmat.diagnostics import Error, value_text
from coopmat.formats import format_of
from coopmat.layout.elements import entries
from coopmat.layout.picture import Picture

_NAMES: dict[Use, str] = {"a": "A", "b": "B", "accumulator": "C"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DeviceMatrix(Picture):
    """One operand of ``D = A*B + C`` on a device; ``accumulator`` stands for C and D. Made by :func:`of`."""

    device: str
    use: Use
    type: str
    m: int
    n: int
    k: int

    def to_json(self) -> str:
        """The layout as JSON: an object whose ``elements`` have a line for each place where an element is held.

        ``component`` counts elements, from 0 to OpCooperativeMatrixLengthKHR - 1. ``bits`` are the lowest and the
        highest bit in the register. For AMX ``register`` is the row of the tile, and ``bits`` are those in that row.
        """
        return "".join(self._json_lines())

    def _json_lines(self) -> Iterator[str]:
        layout = self.layout
        about = {"device": self.device, "use": self.use, "type": self.type, "m": self.m, "n": self.n, "k": self.k,
                 "rows": layout.rows, "columns": layout.columns, "sub_group_size": layout.sub_group_size,
                 "components": layout.components, "implementation_dependent": layout.implementation_dependent,
                 "source": layout.source}
        yield json.dumps(about, indent=1).removesuffix("\n}") + ',\n "elements": [\n'
        separator = ""
        for row, column, lane, component, register, low, high in entries(layout).tolist():
            yield (f'{separator}  {{"row": {row}, "column": {column}, "lane": {lane}, "component": {component}, '
                   f'"register": {register}, "bits": [{low}, {high}]}}')
            separator = ",\n"
        yield "\n ]\n}\n"


def of(device: str | DeviceDescription | HasDescription, *, use: str, type: str, m: SupportsIndex, n: SupportsIndex,
       k: SupportsIndex, sub_group_size: SupportsIndex | None = None) -> DeviceMatrix:
    """Which lane, component and register holds which element of a matrix.

    device: a :class:`coopmat.Device`, or a name such as ``"sim:intel_gpu_pvc"``, with or without ``sim:``.
    use: ``"a"`` (M x K), ``"b"`` (K x N) or ``"accumulator"`` (M x N); type: its element type, such as ``"bf16"``.
    m, n, k: the sizes of the multiply-accumulate: of a combination in the device's table, of a built-in function of
        cl_intel_subgroup_matrix_multiply_accumulate, or of one of NVIDIA's instructions mma.sync and wgmma.
    sub_group_size: the device's first one by default.

    Raises :class:`coopmat.KernelNotSupported`, naming what there is, for a matrix that the device does not have, and
    :class:`coopmat.Error` for unknown names and for sizes that cannot be.
    """
    description = description_of(device)
    chosen = _use(use)
    fmt = format_of(type).name
    m, n, k = _size("m", m), _size("n", n), _size("k", k)
    wanted = None if sub_group_size is None else _size("the sub-group size", sub_group_size)
    layout = layout_of(description, chosen, fmt, m, n, k, wanted)
    if wanted not in (None, layout.sub_group_size):
        raise Error(f"this matrix of {description.name} is spread over {layout.sub_group_size} work-items; the "
                    f"sub-group size cannot be {wanted}")
    title = (f"{description.name}: {_NAMES[chosen]} ({fmt}), M = {m}, N = {n}, K = {k}, "
             f"sub-group size {layout.sub_group_size}")
    return DeviceMatrix(layout, _NAMES[chosen], title, device=description.device_name, use=chosen, type=fmt, m=m, n=n,
                        k=k)


def _use(name: str) -> Use:
    for use in USES:
        if name == use:
            return use
    written = str(name).lower()
    close = ["accumulator"] if written in ("c", "d", "acc") else difflib.get_close_matches(written, USES, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise Error(f"unknown matrix use {value_text(name)}{hint} (known: {', '.join(USES)})")


def _size(name: str, size: SupportsIndex) -> int:
    try:
        number = operator.index(size)
    except TypeError:
        number = 0
    if number < 1:
        raise Error(f"{name} is an integer, 1 or more; found {value_text(size)}")
    return number
