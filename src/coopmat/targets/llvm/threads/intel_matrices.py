"""OpSubgroupMatrixMultiplyAccumulateINTEL (SPV_INTEL_subgroup_matrix_multiply_accumulate) on threads.

Each work-item has a column of B and of the result; elements of A come from the work-item that holds them. Integers are
exact and wrap; floating-point numbers are multiplied and added as float, with fused multiply-add, in ascending k, and
an accumulator in fp16 or bf16 is rounded once at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from coopmat.devices.lane_layout import LaneLayout
from coopmat.formats import format_of
from coopmat.spirv.analysis.types import BFLOAT16_ENCODING, FloatType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.arithmetic.conversions import reinterpreted, to_float
from coopmat.targets.llvm.arithmetic.floats import from_bf16
from coopmat.targets.llvm.arithmetic.integers import add, multiply
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.intel_matrices import known_multiply
from coopmat.targets.llvm.values import Number, Value, bits_of

TF32_BITS = -0x2000  # the upper 19 bits of a float
_FLOAT32 = FloatType(32)
_ACCUMULATORS = {"fp32": _FLOAT32, "fp16": FloatType(16), "bf16": FloatType(16, BFLOAT16_ENCODING)}


def _multiply(emitter: Emitter, instruction: Instruction) -> Value:
    row, m = known_multiply(emitter, instruction)
    a, b, c = (emitter.numbers(word) for word in instruction.words[1:4])
    of_a, of_b = row.layout("a", m), row.layout("b", m)
    is_integer = row.accumulator == "sint32"
    columns = [_element(emitter, b, of_b, row.b, k, 0) for k in range(row.k)]
    shared = _Shared(emitter, a, of_a, row.a)
    found: list[Number] = []
    for line in range(m):
        total = c[line] if is_integer else to_float(emitter, c[line], _ACCUMULATORS[row.accumulator], _FLOAT32, "rte")
        for k in range(row.k):
            factor = shared.element(line, k)
            total = (add(emitter, total, multiply(emitter, factor, columns[k])) if is_integer else
                     emitter.intrinsic("fma", "float", factor, columns[k], total))
        found.append(total if is_integer else to_float(emitter, total, _FLOAT32, _ACCUMULATORS[row.accumulator], "rte"))
    return tuple(found)


class _Shared:
    """A, of which each work-item holds a part: words are taken from their holder once."""

    def __init__(self, emitter: Emitter, numbers: tuple[Number, ...], layout: LaneLayout, fmt: str) -> None:
        self.emitter, self.numbers, self.layout, self.format = emitter, numbers, layout, fmt
        self.taken: dict[tuple[int, int], Number] = {}

    def element(self, row: int, k: int) -> Number:
        """An element, for all work-items."""
        places = self.layout.of_elements
        lane, register = int(places.lane[row, k]), int(places.register[row, k])
        if (lane, register) not in self.taken:
            [self.taken[lane, register]] = self.emitter.execution.broadcast(
                (self.numbers[register],), self.emitter.constant("i32", lane))
        return _field(self.emitter, self.taken[lane, register], self.format, int(places.bit[row, k]))


def _element(emitter: Emitter, numbers: tuple[Number, ...], layout: LaneLayout, fmt: str, row: int,
             column: int) -> Number:
    """An element that the work-item holds itself."""
    places = layout.of_elements
    return _field(emitter, numbers[int(places.register[row, column])], fmt, int(places.bit[row, column]))


def _field(emitter: Emitter, number: Number, fmt: str, bit: int) -> Number:
    """The element at a bit of a component, as an i32 or a float."""
    return _FIELDS.get(fmt, partial(_integer, fmt))(emitter, number, bit)


def _bits_at(emitter: Emitter, number: Number, bit: int) -> Number:
    """The component's bits from one on."""
    width = bits_of(number.type)
    [whole] = reinterpreted(emitter, (number,), f"i{width}")
    return emitter.apply("lshr {t} {0}, {1}", whole.type, whole, emitter.constant(whole.type, bit)) if bit else whole


def _integer(fmt: str, emitter: Emitter, number: Number, bit: int) -> Number:
    bits = format_of(fmt).bits
    part = _bits_at(emitter, number, bit)
    wide = part if part.type == "i32" else emitter.apply("zext {t} {0} to {r}", "i32", part)
    high = emitter.apply("shl {t} {0}, {1}", "i32", wide, emitter.constant("i32", 32 - bits))
    shift = "ashr" if fmt.startswith("s") else "lshr"
    return emitter.apply(shift + " {t} {0}, {1}", "i32", high, emitter.constant("i32", 32 - bits))


def _half(emitter: Emitter, number: Number, bit: int) -> Number:
    part = _bits_at(emitter, number, bit)
    return part if part.type == "i16" else emitter.apply("trunc {t} {0} to {r}", "i16", part)


def _of_fp16(emitter: Emitter, number: Number, bit: int) -> Number:
    [half] = reinterpreted(emitter, (_half(emitter, number, bit),), "half")
    return emitter.apply("fpext {t} {0} to {r}", "float", half)


def _of_bf16(emitter: Emitter, number: Number, bit: int) -> Number:
    return from_bf16(emitter, _half(emitter, number, bit))


def _of_tf32(emitter: Emitter, number: Number, bit: int) -> Number:
    whole = _bits_at(emitter, number, bit)
    [found] = reinterpreted(emitter, (emitter.apply(
        "and {t} {0}, {1}", "i32", whole, emitter.constant("i32", TF32_BITS)),), "float")
    return found


_FIELDS: dict[str, Callable[[Emitter, Number, int], Number]] = {
    "fp16": _of_fp16, "bf16": _of_bf16, "tf32": _of_tf32}
OPERATIONS: dict[int, Handler] = {Op.SubgroupMatrixMultiplyAccumulateINTEL: _multiply}
