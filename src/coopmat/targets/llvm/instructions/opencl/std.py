"""OpExtInst of the instruction set OpenCL.std: the table of all functions, by name."""

from __future__ import annotations

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.types import VectorType
from coopmat.spirv.grammar import OPENCL_STD_NAMES, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.arithmetic.conversions import reinterpreted
from coopmat.targets.llvm.arithmetic.integers import each
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions import printing
from coopmat.targets.llvm.instructions.opencl import integer as opencl_integer
from coopmat.targets.llvm.instructions.opencl import math as opencl_math
from coopmat.targets.llvm.instructions.opencl import memory as opencl_memory
from coopmat.targets.llvm.terms import Formula, Term, choose, function
from coopmat.targets.llvm.values import Number, Value, bits_of, llvm_type

SET = "OpenCL.std"
WITHOUT_EFFECT = "NonSemantic."
FIRST = opencl_math.FIRST


def _components(formula: Formula) -> Handler:
    """A handler for a formula of the operands' components."""
    return lambda emitter, row: each(
        emitter, function(formula), [emitter.numbers(word) for word in row.words[FIRST:]])


def _bit_select(emitter: Emitter, row: Instruction) -> Value:
    """The bits of the second operand where the third one has ones, of the first one elsewhere."""
    llvm = llvm_type(emitter.result_type(row).scalar)
    integer = f"i{bits_of(llvm)}"
    operands = [reinterpreted(emitter, emitter.numbers(word), integer) for word in row.words[FIRST:]]
    found = each(emitter, function(lambda a, b, mask: (a & ~mask) | (b & mask)), operands)
    return reinterpreted(emitter, tuple(one for one in found if isinstance(one, Number)), llvm)


def _select(emitter: Emitter, row: Instruction) -> Value:
    """The second operand where the condition holds: for scalars if it is not 0, for vectors by the highest bit."""
    is_vector = isinstance(emitter.type_of(row.words[-1]), VectorType)
    return _components(lambda a, b, condition: choose(
        condition < 0 if is_vector else condition.differs(0), b, a))(emitter, row) or ()


def _shuffle(emitter: Emitter, row: Instruction) -> Value:
    """``shuffle`` and ``shuffle2``: components of one or two vectors by a vector of indices."""
    *vectors, mask = row.words[FIRST:]
    source = [Term(emitter, one) for word in vectors for one in emitter.numbers(word)]
    return tuple(_component(source, Term(emitter, index)).number for index in emitter.numbers(mask))


def _component(source: list[Term], index: Term) -> Term:
    """The one of a power of two of numbers that the low bits of an index choose."""
    if len(source) == 1:
        return source[0]
    half = len(source) // 2
    upper = (index & half).differs(0)
    return choose(upper, _component(source[half:], index), _component(source[:half], index))


FUNCTIONS: dict[str, Handler] = {
    **opencl_math.FUNCTIONS,
    **{name: _components(formula) for name, formula in opencl_integer.FORMULAS.items()},
    **opencl_memory.FUNCTIONS,
    **printing.FUNCTIONS,
    "bitselect": _bit_select,
    "select": _select,
    "shuffle": _shuffle,
    "shuffle2": _shuffle,
}


def _extended(emitter: Emitter, row: Instruction) -> Value | None:
    name = emitter.module.instruction_sets.get(row.words[0])
    if name is None:
        raise ValidationError("extended-set", f"%{row.words[0]} is no imported instruction set", row.offset)
    if name.startswith(WITHOUT_EFFECT):
        return None
    if name != SET:
        raise Error(f"cannot compile '{row}' for {emitter.machine.name}: the instruction set {name} is unknown; the "
                    f"target has {SET}")
    known = OPENCL_STD_NAMES.get(row.words[1])
    if known is None or known not in FUNCTIONS:
        raise Error(f"cannot compile '{row}' for {emitter.machine.name}: the target does not know the instruction "
                    f"{known or row.words[1]} of {SET}")
    return FUNCTIONS[known](emitter, row)


OPERATIONS: dict[int, Handler] = {
    Op.ExtInst: _extended,
    Op.ExtInstWithForwardRefsKHR: _extended,
    Op.FmaKHR: opencl_math.fma_instruction,
}
