"""The functions of OpenCL.std that access memory: vload, vstore, their half forms, prefetch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coopmat.spirv.analysis.types import Type
from coopmat.spirv.module import Instruction
from coopmat.targets.analysis.conversions import rounding_named
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.conversions import to_float
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array

HALF = np.dtype(np.float16)


def _address(frame: Frame, pointer: int, offset: int, nbytes: int) -> Array:
    """The pointer plus ``offset`` (a slot) times ``nbytes``."""
    return frame.memory.displaced(frame, frame.slots[pointer], [(frame.slots[offset], nbytes)])


def _stride(count: int, *, aligned: bool) -> int:
    """Elements from one vector to the next: 3 components take the room of 4 in the aligned forms."""
    return 4 if aligned and count == 3 else count


def _loading(dtype_of: Callable[[Type], np.dtype[Any]], *, aligned: bool = False) -> Handler:
    """vloadn and vload_half forms: (offset, pointer[, n])."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        kind, site, result = compiler.result_type(row), compiler.site(row), compiler.result(row)
        offset, pointer = map(compiler.slot, row.words[2:4])
        dtype = dtype_of(kind)
        unit = _stride(kind.count, aligned=aligned) * dtype.itemsize
        alignment = unit if aligned else dtype.itemsize

        def execute(frame: Frame) -> None:
            address = _address(frame, pointer, offset, unit)
            values = frame.memory.read_elements(frame, address, dtype, kind.count, alignment, site)
            values = values.astype(kind.dtype)
            frame.slots[result] = values if kind.count > 1 else values[..., 0]

        return execute

    return handle


def _storing(dtype_of: Callable[[Type], np.dtype[Any]], *, aligned: bool = False,
             with_rounding: bool = False) -> Handler:
    """vstoren and vstore_half forms: (data, offset, pointer[, rounding mode])."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        data, *rest = row.words[2:]
        kind, site = compiler.type_of(data), compiler.site(row)
        offset, pointer = map(compiler.slot, rest[:2])
        value, dtype = compiler.slot(data), dtype_of(kind)
        rounding = rounding_named(rest[2]) if with_rounding else "rte"
        unit = _stride(kind.count, aligned=aligned) * dtype.itemsize
        alignment = unit if aligned else dtype.itemsize

        def execute(frame: Frame) -> None:
            address = _address(frame, pointer, offset, unit)
            values = frame.slots[value]
            if dtype != kind.dtype:
                values = to_float(values, dtype, rounding)
            frame.memory.write_elements(frame, address, values if kind.count > 1 else values[..., None],
                                        alignment, site)

        return execute

    return handle


def _half(kind: Type) -> np.dtype[Any]:
    return HALF


def _own(kind: Type) -> np.dtype[Any]:
    return kind.dtype


def _prefetch(compiler: FunctionCompiler, row: Instruction) -> None:
    """A hint: no effect, and no fault."""


FUNCTIONS: dict[str, Handler] = {
    "vloadn": _loading(_own),
    "vload_half": _loading(_half),
    "vload_halfn": _loading(_half),
    "vloada_halfn": _loading(_half, aligned=True),
    "vstoren": _storing(_own),
    "vstore_half": _storing(_half),
    "vstore_half_r": _storing(_half, with_rounding=True),
    "vstore_halfn": _storing(_half),
    "vstore_halfn_r": _storing(_half, with_rounding=True),
    "vstorea_halfn": _storing(_half, aligned=True),
    "vstorea_halfn_r": _storing(_half, aligned=True, with_rounding=True),
    "prefetch": _prefetch,
}
