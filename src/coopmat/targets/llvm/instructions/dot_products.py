"""Integer dot products: SPV_KHR_integer_dot_product, core in SPIR-V 1.6.

The saturating forms are undefined where a product or a partial sum overflows the type of the result; here these wrap.
"""

from __future__ import annotations

from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.dot_products import DOT_PRODUCTS, DotProduct, dot_shape
from coopmat.targets.llvm.arithmetic.conversions import reinterpreted
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.values import Number, Value

OCTETS = 4  # in a word
Signs = tuple[bool, bool]  # of the operands


def _dot(dot: DotProduct) -> Handler:
    def handle(emitter: Emitter, row: Instruction) -> Value:
        kinds = [emitter.type_of(word) for word in row.words[:dot.operands]]
        shape = dot_shape(row, emitter.result_type(row), kinds)
        a, b = (emitter.numbers(word) for word in row.words[:2])
        llvm = f"i{shape.width}"
        if shape.is_packed or (shape.component_width == 8 and len(a) % OCTETS == 0):
            words = (reinterpreted(emitter, a, "i32"), reinterpreted(emitter, b, "i32"))
            total = resized(emitter, _of_octets(emitter, *words, dot.signs), llvm, signed=True)
        else:
            total = _sum(emitter, a, b, llvm, dot.signs)
        if dot.accumulates:
            operation = "sadd.sat" if dot.signs[0] else "uadd.sat"
            total = emitter.intrinsic(operation, llvm, total, emitter.number(row.words[2]))
        return (total,)

    return handle


def _sum(emitter: Emitter, a: tuple[Number, ...], b: tuple[Number, ...], llvm: str, signs: Signs) -> Number:
    """The sum of the products of components, wrapped to the type."""
    total = None
    for pair in zip(a, b, strict=True):
        x, y = (resized(emitter, one, llvm, signed=signed) for one, signed in zip(pair, signs, strict=True))
        product = emitter.apply("mul {t} {0}, {1}", llvm, x, y)
        total = product if total is None else emitter.apply("add {t} {0}, {1}", llvm, total, product)
    assert total is not None
    return total


def _of_octets(emitter: Emitter, a: tuple[Number, ...], b: tuple[Number, ...], signs: Signs) -> Number:
    """The dot product of words of four bytes: at most 16 products, far from overflowing 32 bits."""
    found = emitter.execution.dot_bytes(a, b, signs)
    if found is not None:
        return found
    return _sum(emitter, reinterpreted(emitter, a, "i8"), reinterpreted(emitter, b, "i8"), "i32", signs)


OPERATIONS: dict[int, Handler] = {op: _dot(dot) for op, dot in DOT_PRODUCTS.items()}
