"""Signed arithmetic that overflows, where the module says that it does not (NoSignedWrap): a warning, as every device
wraps around all the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.diagnostics import SignedOverflowWarning
from coopmat.spirv.grammar import Decoration, Op
from coopmat.spirv.module import Instruction
from coopmat.targets.base.output import warn
from coopmat.targets.simulator.compiler import FunctionCompiler
from coopmat.targets.simulator.convergence import first_active, shown
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array

Overflows = Callable[[Array, Array, Array], Array]


def _product(a: Array, b: Array, result: Array) -> Array:
    """Whether a product is not what its bits say; the quotient tells, but for the smallest number by -1."""
    smallest = np.iinfo(result.dtype).min
    others = np.where((a == 0) | ((a == -1) & (result == smallest)), 1, a)
    return np.asarray((a != 0) & ((result // others != b) | (result % others != 0) | ((a == -1) & (b == smallest))))


OVERFLOWS: dict[int, tuple[str, Overflows]] = {
    Op.IAdd: ("{} + {}", lambda a, b, result: ((a ^ result) & (b ^ result)) < 0),
    Op.ISub: ("{} - {}", lambda a, b, result: ((a ^ b) & (a ^ result)) < 0),
    Op.IMul: ("{} * {}", _product),
    Op.SNegate: ("-({})", lambda a, b, result: a == np.iinfo(result.dtype).min),
}
"""How an operation is written, and where it overflows, of operands and result."""


def overflow(compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Step | None:
    """The instrument (``compiler.Instrument``)."""
    if step is None or row.opcode not in OVERFLOWS or row.result_id is None:
        return step
    if all(decoration != Decoration.NoSignedWrap for decoration, _ in compiler.module.decorations(row.result_id)):
        return step
    left, right, result = compiler.slot(row.words[0]), compiler.slot(row.words[-1]), compiler.result(row)
    (words, overflows), site = OVERFLOWS[row.opcode], compiler.site(row)

    def execute(frame: Frame) -> None:
        step(frame)
        a, b, found = frame.slots[left], frame.slots[right], frame.slots[result]
        wrong = overflows(a, b, found)
        if wrong.any():
            by_lane = wrong if wrong.ndim == 2 else wrong.any(axis=-1)
            place = first_active(frame, np.broadcast_to(by_lane, frame.mask.expanded.shape))
            if place is not None:
                operands = [_of_lane(value, wrong, place) for value in (a, b)]
                _warn(frame, site, words.format(*operands), 8 * found.dtype.itemsize, place)

    return execute


def _of_lane(value: Array, wrong: Array, place: tuple[int, int]) -> str:
    """What a work-item has of an operand; of a vector, the first component that is wrong."""
    sub_group, lane = (index if size > 1 else 0 for index, size in zip(place, wrong.shape, strict=False))
    component = (int(np.argmax(wrong[sub_group, lane])),) if wrong.ndim == 3 else ()
    return shown(np.broadcast_to(value, wrong.shape)[(sub_group, lane, *component)])


def _warn(frame: Frame, site: Site, words: str, bits: int, place: tuple[int, int]) -> None:
    key = site.location, "overflow"
    if key not in frame.batch.warned:
        frame.batch.warned.add(key)
        warn(SignedOverflowWarning(
            f"{words} does not fit a signed integer of {bits} bits: C leaves that undefined, and devices wrap around; "
            f"compute it with more bits, or without sign ({site.where(frame, *place)})"))
