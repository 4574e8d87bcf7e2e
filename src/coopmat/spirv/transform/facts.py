"""What is known of a module while it is folded: constants, decorations, which instructions only compute."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import BoolType, FloatType, IntType, Type, TypeTable, VectorType
from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import CHAINS, CONVERSIONS, OPENCL_STD, MemoryAccess, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import encode_number
from coopmat.spirv.transform.constant_values import Bits, width_of

_ARITHMETIC = frozenset(op for first, last in ((Op.SNegate, Op.SMulExtended), (Op.Any, Op.FUnordGreaterThanEqual),
                                               (Op.ShiftRightLogical, Op.BitCount)) for op in Op if first <= op <= last)
_COMPOSITES = frozenset({Op.CompositeConstruct, Op.CompositeExtract, Op.CompositeInsert, Op.VectorShuffle,
                         Op.VectorExtractDynamic, Op.VectorInsertDynamic, Op.CopyObject})
_DOT_PRODUCTS = frozenset({Op.SDot, Op.UDot, Op.SUDot, Op.SDotAccSat, Op.UDotAccSat, Op.SUDotAccSat})
_MATRICES = frozenset({Op.CooperativeMatrixMulAddKHR, Op.CooperativeMatrixLengthKHR, Op.MatrixTimesScalar,
                       Op.CooperativeMatrixConvertUseEXT, Op.CooperativeMatrixGetElementCoordINTEL})
_POINTERS = frozenset({*CHAINS, Op.PtrCastToGeneric, Op.GenericCastToPtr, Op.ConvertPtrToU, Op.ConvertUToPtr,
                       Op.PtrEqual, Op.PtrNotEqual, Op.PtrDiff})
PURE = _ARITHMETIC | _COMPOSITES | CONVERSIONS | _DOT_PRODUCTS | _MATRICES | _POINTERS | {
    Op.Bitcast, Op.SatConvertSToU, Op.SatConvertUToS, Op.RoundFToTF32INTEL, Op.ConvertFToBF16INTEL,
    Op.ConvertBF16ToFINTEL, Op.Undef}
"""Instructions whose result depends on nothing but their operands, and that do nothing else."""

_OF_FUNCTIONS = PURE | {Op.Phi, Op.Select, Op.Variable, Op.Branch, Op.BranchConditional, Op.Switch, Op.LoopMerge,
                        Op.SelectionMerge, Op.ReturnValue, Op.Unreachable, *LINES}
"""What functions consist of that do nothing but to compute, besides loads, stores to their variables and calls."""
_CONSTANTS = frozenset({Op.Constant, Op.ConstantNull, Op.ConstantTrue, Op.ConstantFalse, Op.ConstantComposite})
_PRINTF = OPENCL_STD["printf"]
_OPERANDS = 2  # of OpExtInst: the place where those of the function begin


class Facts:
    """What is known of a module. ``decorated``: id → its decorations."""

    def __init__(self, editor: FunctionEditor) -> None:
        self.editor = editor
        self.types = TypeTable(editor.module, 1)
        self._computing: dict[int, bool] = {}
        self.decorated = {identifier: tuple(sorted(row.words[1:] for row in rows if row.opcode != Op.Name))
                          for identifier, rows in editor.annotations().items()}

    def is_pure_function(self, row: Instruction) -> bool:
        """Whether an extended instruction computes numbers from numbers."""
        return (self.editor.module.instruction_sets.get(row.words[0]) == "OpenCL.std" and len(row.words) > _OPERANDS
                and row.words[1] != _PRINTF and not any(self._is_pointer(word) for word in row.words[2:]))

    def only_computes(self, function: int) -> bool:
        """Whether a function does nothing but to compute what it returns; it may read memory."""
        if function not in self._computing:
            self._computing[function] = all(map(self._computes, self._rows(function)))
        return self._computing[function]

    def reads_memory(self, function: int) -> bool:
        """Whether a function, or one that it calls, reads memory other than its own variables."""
        return any(row.opcode == Op.Load and not self._is_own(row.words[0]) for row in self._rows(function)) or any(
            self.reads_memory(row.words[0]) for row in self._rows(function) if row.opcode == Op.FunctionCall)

    def gives_element(self, function: int) -> bool:
        """Whether a function of elements gives each as it is."""
        element = self._body(function).parameters[2].result_id or 0
        rows = [row for row in self._rows(function) if row.opcode not in LINES]
        return [(row.opcode, row.words) for row in rows] == [(Op.ReturnValue, (element,))]

    def _rows(self, function: int) -> Iterator[Instruction]:
        return self._body(function).rows()

    def _body(self, function: int) -> Body:
        return next(body for body in self.editor.bodies if body.id == function)

    def _computes(self, row: Instruction) -> bool:
        if row.opcode == Op.Load:
            return not (row.words[1:] and row.words[1] & MemoryAccess.Volatile)
        if row.opcode == Op.Store:
            return self._is_own(row.words[0])
        if row.opcode == Op.FunctionCall:
            return self.only_computes(row.words[0])
        return row.opcode in _OF_FUNCTIONS or (row.opcode == Op.ExtInst and self.is_pure_function(row))

    def _is_own(self, pointer: int) -> bool:
        """Whether a pointer leads to a variable of a function."""
        return self.editor.type_of(pointer).words[0] == StorageClass.Function

    def _is_pointer(self, identifier: int) -> bool:
        kind = self.editor.type_of(identifier)
        return self.editor.component(kind).opcode == Op.TypePointer

    def kind(self, type_id: int) -> Type | None:
        """The type with an id, if it is a number or a vector of numbers."""
        if self.editor.definition(type_id).opcode not in (Op.TypeBool, Op.TypeInt, Op.TypeFloat, Op.TypeVector):
            return None
        try:
            known = self.types[type_id]
        except Error:
            return None  # numbers that nobody here computes with
        return known if isinstance(known.scalar, BoolType | IntType | FloatType) else None

    def bits(self, identifier: int) -> Bits | None:
        """The value of a constant that is a number or a vector of numbers."""
        row = self.editor.definition(identifier)
        kind = self.kind(row.type_id) if row.type_id is not None else None
        if kind is None or row.opcode not in _CONSTANTS:
            return None
        if row.opcode == Op.ConstantNull:
            return (0,) * kind.count
        if row.opcode in (Op.ConstantTrue, Op.ConstantFalse):
            return (int(row.opcode == Op.ConstantTrue),)
        if row.opcode == Op.Constant:
            value = sum(word << 32 * place for place, word in enumerate(row.words))
            return (value & (1 << width_of(kind)) - 1,)
        parts = [self.bits(word) for word in row.words]
        return None if None in parts else tuple(part[0] for part in parts if part is not None)

    def constant(self, type_id: int, value: Bits) -> int:
        """A constant of a type from its bits."""
        kind, editor = self.types[type_id], self.editor
        if isinstance(kind, VectorType):
            component = editor.definition(type_id).words[0]
            return editor.unique(Op.ConstantComposite, *(self.constant(component, (one,)) for one in value),
                                 type_id=type_id)
        if isinstance(kind, BoolType):
            return editor.unique(Op.ConstantTrue if value[0] else Op.ConstantFalse, type_id=type_id)
        number, width = value[0], width_of(kind)
        row = editor.definition(type_id)
        if row.opcode == Op.TypeInt and row.words[1] and number >> width - 1:
            number -= 1 << width  # narrow signed numbers fill their word with the sign
        return editor.unique(Op.Constant, *encode_number(number, (width + 31) // 32), type_id=type_id)
