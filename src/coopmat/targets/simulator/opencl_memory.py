"""The functions of OpenCL.std that access memory: vload, vstore, their half forms, prefetch, printf."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, OutOfBounds
from coopmat.formats import Rounding
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.compile import FunctionCompiler, Handler
from coopmat.targets.simulator.conversions import ROUNDINGS, to_float
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.types import Type
from coopmat.targets.simulator.values import Array, unsigned

HALF = np.dtype(np.float16)
LONGEST_STRING = 1 << 16


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
        rounding = _rounding(rest[2]) if with_rounding else "rte"
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


def _rounding(literal: int) -> Rounding:
    if literal not in ROUNDINGS:
        raise Error(f"the rounding mode {literal} is not known")
    return ROUNDINGS[literal]


def _half(kind: Type) -> np.dtype[Any]:
    return HALF


def _own(kind: Type) -> np.dtype[Any]:
    return kind.dtype


# --------------------------------------------------------------------------------------
# printf
# --------------------------------------------------------------------------------------

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?(?P<vector>v\d+)?(?P<length>hh|hl|h|ll|l)?"
    r"(?P<letter>[diouxXfFeEgGaAcsp%])")


def format_message(template: str, values: list[Any]) -> str:
    """What C's printf writes, with OpenCL's vector conversions. Values: ints, floats, strings or lists."""
    waiting = iter(values)

    def convert(match: re.Match[str]) -> str:
        letter = match["letter"]
        if letter == "%":
            return "%"
        value = next(waiting, None)
        if value is None:
            return match[0]
        items = value if isinstance(value, list) else [value]
        return ",".join(_format_item(match, letter, item) for item in items)

    return _CONVERSION.sub(convert, template)


def _format_item(match: re.Match[str], letter: str, item: Any) -> str:
    spec = f"%{match['flags']}{match['width']}{match['precision'] or ''}"
    if letter in "aA":
        text = float(item).hex()
        return text.upper() if letter == "A" else text
    if letter == "p":
        return f"{int(item) & (1 << 64) - 1:#x}"
    if letter in "ouxX" and isinstance(item, int) and item < 0:
        item &= (1 << (64 if match["length"] in ("l", "ll") else 32)) - 1
    letter = {"u": "d", "i": "d"}.get(letter, letter)
    if letter in "doxXc":
        item = int(item)
    return (spec + letter) % (item if letter != "s" else str(item))


def _read_string(frame: Frame, address: int, site: Site) -> str:
    """The zero-terminated string at an address."""
    buffer = frame.memory.buffer_at(address)
    if buffer is None:
        raise OutOfBounds("a string is read through a pointer to no buffer", site.where(frame))
    start = frame.memory.offset_in(address)
    data = bytes(buffer.memory[max(start, 0):buffer.row.nbytes][:LONGEST_STRING])
    return data.split(b"\0", 1)[0].decode("utf-8", "replace")


def _printf(compiler: FunctionCompiler, row: Instruction) -> Step:
    template, *operands = row.words[2:]
    kinds = [compiler.type_of(operand) for operand in operands]
    slots, result, site = [compiler.slot(o) for o in operands], compiler.result(row), compiler.site(row)
    pointer, dtype = compiler.slot(template), compiler.result_type(row).dtype

    def execute(frame: Frame) -> None:
        shape = frame.mask.expanded.shape
        texts = np.broadcast_to(frame.slots[pointer], shape)
        arrays = [np.broadcast_to(frame.slots[slot], (*shape, *frame.slots[slot].shape[2:])) for slot in slots]
        for sub_group, lane in np.argwhere(frame.mask.expanded):
            text = _read_string(frame, int(texts[sub_group, lane]), site)
            letters = [match["letter"] for match in _CONVERSION.finditer(text) if match["letter"] != "%"]
            values = []
            for position, (array, kind) in enumerate(zip(arrays, kinds, strict=True)):
                letter = letters[position] if position < len(letters) else ""
                values.append(_printed(frame, array[sub_group, lane], kind, letter, site))
            frame.batch.output(format_message(text, values))
        frame.slots[result] = np.zeros((1, 1), dtype)

    return execute


def _printed(frame: Frame, value: Any, kind: Type, letter: str, site: Site) -> Any:
    """An argument as a Python value: unsigned where its conversion reads it so."""
    if letter == "s":
        return _read_string(frame, int(value), site)
    if letter in "ouxX" and kind.dtype.kind == "i":
        value = unsigned(np.asarray(value))
    return float(value) if kind.dtype.kind == "V" else value.tolist()


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
    "printf": _printf,
    "prefetch": _prefetch,
}
