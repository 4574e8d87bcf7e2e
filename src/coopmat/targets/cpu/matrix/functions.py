"""Functions of each element of large matrices (OpCooperativeMatrixPerElementOpEXT), of neighbours in a row at once.

Such a function becomes one of LLVM's, of vectors with as many elements as a sub-group has work-items: a kernel of its
own, whose work-items have one row and columns that follow each other. So what it reads by an element's place is loaded
as a vector, and what it does is a step of an expression (:mod:`.expressions`). Other functions, and those of smaller
matrices, are loops over components (spirv/transform/matrix_functions.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import IntType, MatrixType, TypeTable
from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Block, Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.facts import Facts
from coopmat.targets.analysis.flatten import Flat, flatten
from coopmat.targets.analysis.leaves import leaves_of
from coopmat.targets.cpu.lanes.masks import Assumptions
from coopmat.targets.cpu.lanes.vector import VectorLanes, lanes_of
from coopmat.targets.cpu.matrix.body import is_large
from coopmat.targets.cpu.matrix.operation import Apply
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.cpu.matrix.work_groups import GroupMatrices
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.kernel import traced
from coopmat.targets.llvm.values import Leaf, Matrix, Number, Value, llvm_type
from coopmat.targets.llvm.writer import Operand

MOST_PASSES = 64


class RowFunctions:
    """Which operations on each element of a module are done by vectors of ``size`` neighbours."""

    def __init__(self, module: Module, size: int) -> None:
        self._module, self._size = module, size
        self._types = TypeTable(module, size)
        self._facts = Facts(FunctionEditor(module))
        self._variables = {row.result_id for row in module.of_opcode(Op.Variable)}

    def takes(self, row: Instruction) -> bool:
        """Whether an OpCooperativeMatrixPerElementOpEXT is."""
        kind = self._types[row.type_id or 0]
        return isinstance(kind, MatrixType) and is_large(kind) and kind.columns % self._size == 0 and (
            kind.component != IntType(4)) and self._facts.only_computes(row.words[1]) and not self._uses_variables(
            row.words[1])

    def _uses_variables(self, function: int) -> bool:
        """Whether a function, or one that it calls, has variables, or knows some of the module's."""
        rows = [row for block in self._module.function(function).blocks for row in block.instructions]
        return any(not self._variables.isdisjoint((row.result_id, *row.ids())) for row in rows) or any(
            self._uses_variables(row.words[0]) for row in rows if row.opcode == Op.FunctionCall)


def _per_element(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixPerElementOpEXT."""
    form, kind = emitter.matrices, emitter.result_type(row)
    assert isinstance(form, GroupMatrices)
    assert isinstance(kind, MatrixType)
    operands = [emitter.value(word) for word in (row.words[0], *row.words[2:])]
    matrices = [leaf for value in operands for leaf in value if isinstance(leaf, Matrix)]
    numbers = [leaf for value in operands for leaf in value if isinstance(leaf, Number)]
    if kind.columns % emitter.size or not all(one.is_single for one in numbers):
        raise Error("a function of elements gets numbers that differ between work-items")
    made = _function(emitter, row.words[1], operands)
    apart = form.apart(row.words[2:]) if made.reads else "true"
    operation = Apply(
        result=kind, operands=tuple(one.kind for one in matrices), function=made.name, lanes=emitter.size,
        numbers=tuple(one.type for one in numbers), reads=made.reads, sub_group_size=emitter.sub_group_size)
    return (form.apply(operation, matrices, [("ptr", f"@{made.name}"), ("i1", apart),
                                             *((one.type, one.base) for one in numbers)]),)


# --------------------------------------------------------------------------------------
# The function
# --------------------------------------------------------------------------------------


class _Function(NamedTuple):
    """A function of LLVM's, of row, column of the first element, elements of each matrix, and numbers. reads: whether
    it reads memory."""

    name: str
    reads: bool


def _function(emitter: Emitter, function: int, operands: Sequence[Value]) -> _Function:
    """The function of elements as one of vectors, for operands that are matrices or numbers; it is a helper of the
    emitter's writer."""
    flat, result = _returning(flatten(emitter.module, function, emitter.types))
    name = f"element.{function}.{emitter.size}"
    if name not in emitter.writer.helpers:
        own, text = _written(emitter, flat, result, operands, name)
        emitter.writer.declarations |= own.writer.declarations
        for other, helper in own.writer.helpers.items():
            emitter.writer.helper(other, helper)
        emitter.writer.helper(name, text)
    reads = any(row.opcode == Op.Load for block in flat.blocks for row in block.instructions)
    return _Function(name, reads)


def _returning(flat: Flat) -> tuple[Flat, int]:
    """The function as a kernel, which returns nothing, and the value that it would return, which is there at its
    end."""
    last = max(flat.module.bound, *flat.definitions, *(block.label for block in flat.blocks)) + 1
    words: list[int] = []
    for block in flat.blocks:
        end = block.terminator
        if end.opcode == Op.ReturnValue:
            words += [end.words[0], block.label]
            block.instructions[-1] = make(Op.Branch, last)
    if not words:
        raise Error("a function of elements does not return")
    phi = Instruction(Op.Phi, flat.definition(words[0]).type_id, last + 1, tuple(words))
    blocks = [*flat.blocks, Block(last, [phi, make(Op.Return)])]
    return replace(flat, blocks=blocks, definitions={**flat.definitions, last + 1: phi}), last + 1


def _written(outer: Emitter, flat: Flat, result: int, operands: Sequence[Value], name: str) -> tuple[Emitter, str]:
    """The emitter that wrote the function, and its text. It is written again until what varies in it is settled."""
    lanes = lanes_of(outer)
    variant = replace(lanes.variant, is_whole=True, is_straight=True)
    known = Assumptions()

    def execution(emitter: Emitter) -> tuple[VectorLanes, GroupMatrices]:
        own = VectorLanes(emitter, variant, known)
        return own, GroupMatrices(emitter, own, variant)

    for _ in range(MOST_PASSES):
        known.changed = False
        emitter = Emitter(replace(outer.machine, execution=execution), traced(flat))
        parameters = _bind(emitter, operands)
        emitter.emit()
        found = emitter.load_slots(("value", result), leaves_of(emitter.type_of(result)))[0]
        assert isinstance(found, Number)
        vector, text = emitter.vector(found.type), emitter.lanes(found)
        if not known.changed:
            named = ", ".join(f"{llvm} {one}" for llvm, one in parameters)
            return emitter, "\n".join([
                f"define internal {vector} @{name}({named}) nounwind willreturn {{", "entry:",
                *emitter.writer.entry, *emitter.writer.lines, f"  ret {vector} {text}", "}"])
    raise Error(f"a function of elements is too involved: what varies in it is not settled after {MOST_PASSES} passes")


def _bind(emitter: Emitter, operands: Sequence[Value]) -> list[Operand]:
    """Give the function's parameters their values; the parameters of LLVM's: row and column, elements, numbers."""
    row, column, *others = emitter.flat.parameters
    places = [Number(llvm_type(emitter.result_type(one)), text, stride) for one, text, stride in (
        (row, "%row", 0), (column, "%column", 1))]
    elements: list[Operand] = []
    numbers: list[Operand] = []
    for one, place in zip((row, column), places, strict=True):
        emitter.constants[one.result_id or 0] = (place,)
    for parameter, value in zip(others, operands, strict=True):
        found: list[Leaf] = []
        for leaf in value:
            if isinstance(leaf, Matrix):
                element = element_type(leaf.kind)
                elements.append((emitter.vector(element), f"%e{len(elements)}"))
                found.append(Number(element, lanes=elements[-1][1]))
            else:
                numbers.append((leaf.type, f"%n{len(numbers)}"))
                found.append(Number(leaf.type, numbers[-1][1]))
        emitter.constants[parameter.result_id or 0] = tuple(found)
    for parameter in emitter.flat.parameters:
        emitter.homes.pop(parameter.result_id or 0, None)
    return [*((one.type, one.base) for one in places), *elements, *numbers]


OPERATIONS: dict[int, Handler] = {Op.CooperativeMatrixPerElementOpEXT: _per_element}
