"""Which capabilities and extensions a module's instructions need.

Most of it stands in the grammar's rows: every instruction, enumerant and mask bit names the capabilities of
which any one allows it.  The rest depends on types: widths of integers and floats, sizes of vectors,
components of cooperative matrices, operands of dot products and atomics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from coopmat.spirv.grammar import (
    CONVERSIONS,
    ENUMERATIONS,
    OPENCL_STD,
    BuiltIn,
    Capability,
    CooperativeMatrixLayout,
    CooperativeMatrixUse,
    FPEncoding,
    GroupOperation,
    Mask,
    Op,
    Requirements,
    Row,
    StorageClass,
    instruction,
    requirements,
)
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import mask_bits
from coopmat.support.limits import DEEPEST_TYPE

Alternatives = tuple[Capability, ...]
_T = TypeVar("_T")

_HOLDERS = frozenset({"LiteralSpecConstantOpInteger", "LiteralExtInstInteger"})
"""Kinds of operands that bring along the operands of another instruction."""

_STORAGE_8 = (Capability.StorageBuffer8BitAccess, Capability.UniformAndStorageBuffer8BitAccess,
              Capability.StoragePushConstant8, Capability.WorkgroupMemoryExplicitLayout8BitAccessKHR)
_STORAGE_16 = (Capability.StorageBuffer16BitAccess, Capability.UniformAndStorageBuffer16BitAccess,
               Capability.StoragePushConstant16, Capability.StorageInputOutput16,
               Capability.WorkgroupMemoryExplicitLayout16BitAccessKHR)
INTEGER_CAPABILITIES: dict[int, Alternatives] = {
    4: (Capability.Int4TypeINTEL, Capability.ArbitraryPrecisionIntegersALTERA), 8: (Capability.Int8, *_STORAGE_8),
    16: (Capability.Int16, *_STORAGE_16), 64: (Capability.Int64,),
}
FLOAT_CAPABILITIES: dict[int, Alternatives] = {
    16: (Capability.Float16, Capability.Float16Buffer, *_STORAGE_16), 64: (Capability.Float64,),
}
"""Width → the capabilities that allow it, the one to declare first."""

_BUFFERS = frozenset({StorageClass.StorageBuffer, StorageClass.PhysicalStorageBuffer})
_BUFFER_ACCESS: dict[int, Alternatives] = {
    8: (Capability.StorageBuffer8BitAccess, Capability.UniformAndStorageBuffer8BitAccess),
    16: (Capability.StorageBuffer16BitAccess, Capability.UniformAndStorageBuffer16BitAccess),
}
"""Width of numbers in buffers → the capabilities that allow it there."""
_BY_WIDTH = frozenset({*INTEGER_CAPABILITIES.values(), *FLOAT_CAPABILITIES.values()})
_MATRIX_ENCODINGS = {
    FPEncoding.BFloat16KHR: Capability.BFloat16CooperativeMatrixKHR,
    FPEncoding.Float8E4M3EXT: Capability.Float8CooperativeMatrixEXT,
    FPEncoding.Float8E5M2EXT: Capability.Float8CooperativeMatrixEXT,
}
_ATOMIC_FLOAT = {
    Op.AtomicFAddEXT: {16: Capability.AtomicFloat16AddEXT, 32: Capability.AtomicFloat32AddEXT,
                       64: Capability.AtomicFloat64AddEXT},
    Op.AtomicFMinEXT: {16: Capability.AtomicFloat16MinMaxEXT, 32: Capability.AtomicFloat32MinMaxEXT,
                       64: Capability.AtomicFloat64MinMaxEXT},
    Op.AtomicFMaxEXT: {16: Capability.AtomicFloat16MinMaxEXT, 32: Capability.AtomicFloat32MinMaxEXT,
                       64: Capability.AtomicFloat64MinMaxEXT},
}
_INTEGER_ATOMICS = frozenset({
    Op.AtomicLoad, Op.AtomicStore, Op.AtomicExchange, Op.AtomicCompareExchange,
    Op.AtomicCompareExchangeWeak, Op.AtomicIIncrement, Op.AtomicIDecrement, Op.AtomicIAdd, Op.AtomicISub,
    Op.AtomicSMin, Op.AtomicUMin, Op.AtomicSMax, Op.AtomicUMax, Op.AtomicAnd, Op.AtomicOr, Op.AtomicXor,
})
_DOT_PRODUCTS = frozenset({Op.SDot, Op.UDot, Op.SUDot, Op.SDotAccSat, Op.UDotAccSat, Op.SUDotAccSat})
_GROUP_ARITHMETIC = frozenset(op for op in Op if Op.GroupNonUniformIAdd <= op <= Op.GroupNonUniformLogicalXor)
_REDUCTIONS_AND_SCANS = frozenset({GroupOperation.Reduce, GroupOperation.InclusiveScan,
                                   GroupOperation.ExclusiveScan})
_LAYOUT_OPERAND = {Op.CooperativeMatrixLoadKHR: 1, Op.CooperativeMatrixStoreKHR: 2,
                   Op.CooperativeMatrixLoadCheckedINTEL: 3, Op.CooperativeMatrixStoreCheckedINTEL: 4,
                   Op.CooperativeMatrixPrefetchINTEL: 6}
"""Instruction → the place of a cooperative matrix's layout (of a prefetch with offsets)."""
_CONVERTING_BACK = (Capability.CooperativeMatrixConversionsEXT,)
_CONVERTING = (*_CONVERTING_BACK, Capability.CooperativeMatrixConversionsNV)
DECIDED_BY_LATER_OPERANDS = frozenset({Op.AtomicStore, *_LAYOUT_OPERAND})
"""Instructions whose needs depend on more than their enumerants, result type and type of the first operand."""
_NON_SEMANTIC = Requirements((), ("SPV_KHR_non_semantic_info",), (1, 6), None)
_RELAXED_PRINTF = Requirements((), ("SPV_EXT_relaxed_printf_string_address_space",), None, None)
_OLDER_NAMES = frozenset({"SPV_INTEL_split_barrier"})
"""Extensions that drivers know longer than the one which the grammar lists first."""
_COMMON_VECTORS = (2, 3, 4)
_KERNEL_VECTORS = (8, 16)


@cache
def _names_enumerants(opcode: Op) -> bool:
    """Whether operands of an instruction may be enumerants, which have needs of their own."""
    row = instruction(opcode)
    if row is None or row.name.endswith("NonUniformAMD"):  # SPV_AMD_shader_ballot allows all group operations
        return False
    return any(spec.kind in ENUMERATIONS or spec.kind in _HOLDERS for spec in row.operands)


def implied(capabilities: Iterable[Capability]) -> set[Capability]:
    """The capabilities together with all that they imply."""
    closed: set[Capability] = set()
    waiting = list(capabilities)
    while waiting:
        capability = waiting.pop()
        if capability not in closed:
            closed.add(capability)
            waiting += requirements(capability).capabilities
    return closed


class Added(NamedTuple):
    """What an instruction needs: sets of capabilities and of extensions of which one each is needed, and the
    enumerants that the module's version does not have yet."""

    capabilities: list[Alternatives]
    extensions: list[tuple[str, ...]]
    too_new: list[Row | Mask]


def _last(found: dict[_T, Any], count: int) -> list[_T]:
    return list(islice(reversed(found), count))


_NEVER_NEEDED = frozenset({BuiltIn.PointSize, BuiltIn.ClipDistance, BuiltIn.CullDistance})
"""Built-ins that may be declared without their capability, as long as they are not used."""


class Needs:
    """Collects what the instructions of one module need; feed it every instruction in order.

    ``version`` is the module's version: an extension that has become core by then is not asked for.
    With ``definitions`` (id → instruction), it is enough to feed instructions that stand for others.
    """

    def __init__(self, version: tuple[int, int], definitions: Mapping[int, Instruction] | None = None) -> None:
        self.version = version
        self._alternatives: dict[Alternatives, None] = {}
        self._extensions: dict[tuple[str, ...], None] = {}
        self._definitions: dict[int, Instruction] = dict(definitions or {})
        self._seen: set[tuple[type, int]] = set()
        self._too_new: dict[Row | Mask, tuple[int, int]] = {}

    def add(self, item: Instruction) -> None:
        """Take in one instruction."""
        if item.result_id is not None:
            self._definitions[item.result_id] = item
        row = instruction(item.opcode)
        if row is None or row.opcode in (Op.Capability, Op.Extension):
            return
        if row.opcode == Op.ExtInstImport and str(item.operands[0].value).startswith("NonSemantic."):
            self._extend(_NON_SEMANTIC, self._extensions)
        if row.opcode == Op.ExtInst and self._is_relaxed_printf(item):
            self._extend(_RELAXED_PRINTF, self._extensions)
        if row.opcode in _ATOMIC_FLOAT:
            self._atomic_float(row.opcode, item)
        else:
            self._member(row.opcode)
        for alternatives in self._by_type(row.opcode, item):
            self._require(alternatives)
        if _names_enumerants(row.opcode):
            for _, value in item.operands:
                if isinstance(value, Mask):
                    for bit in mask_bits(type(value), int(value)) or ():
                        self._member(bit)
                elif isinstance(value, Row):
                    self._member(value)

    def _is_relaxed_printf(self, item: Instruction) -> bool:
        """Whether this is a printf whose format lies outside of constant memory."""
        imported = self._definitions.get(item.words[0])
        if imported is None or imported.operands[0].value != "OpenCL.std" or item.words[1] != OPENCL_STD["printf"]:
            return False
        format = self._definitions.get(item.words[2])
        pointer = None if format is None else self._definitions.get(format.type_id or 0)
        return (pointer is not None and pointer.opcode == Op.TypePointer
                and pointer.words[0] != StorageClass.UniformConstant)

    def added(self, item: Instruction) -> Added:
        """Take in one instruction; what it needs that none before it needed."""
        capabilities, extensions, members = len(self._alternatives), len(self._extensions), len(self._too_new)
        self.add(item)
        return Added(_last(self._alternatives, len(self._alternatives) - capabilities),
                     _last(self._extensions, len(self._extensions) - extensions),
                     _last(self._too_new, len(self._too_new) - members))

    def first_version(self, member: Row | Mask) -> tuple[int, int]:
        """The first version that has an enumerant which is too new for the module."""
        return self._too_new[member]

    def _member(self, member: Row | Mask) -> None:
        """Take in an instruction, an enumerant or a mask bit."""
        key = (type(member), int(member))
        if key in self._seen:
            return
        self._seen.add(key)
        if member in _NEVER_NEEDED and isinstance(member, BuiltIn):
            return
        needs = requirements(member)
        if not needs.extensions and not needs.capabilities and needs.version is not None \
                and needs.version > self.version:
            self._too_new[member] = needs.version
        if needs.capabilities:
            self._require(needs.capabilities)
        self._extend(needs, self._extensions)

    def _extend(self, needs: Requirements, found: dict[tuple[str, ...], None]) -> None:
        """Add the extensions of which one is needed, if the module's version does not hold the thing."""
        if needs.extensions and (needs.version is None or needs.version > self.version):
            found[needs.extensions] = None

    def _require(self, alternatives: Alternatives) -> None:
        self._alternatives[alternatives] = None

    @property
    def alternatives(self) -> Iterable[Alternatives]:
        """The sets of capabilities of which one each is needed."""
        return self._alternatives

    def capabilities(self) -> list[Capability]:
        """The capabilities to declare: where several would do and none is there anyway, the first of those
        that need no extension, if there are such."""
        chosen = {options[0]: None for options in self._alternatives if len(options) == 1 or options in _BY_WIDTH}
        for options in self._alternatives:
            if not implied(chosen).intersection(options):
                chosen[min(options, key=self._needs_extension)] = None
        return sorted(chosen)

    def _needs_extension(self, capability: Capability) -> bool:
        alternatives: dict[tuple[str, ...], None] = {}
        self._extend(requirements(capability), alternatives)
        return bool(alternatives)

    def extensions(self) -> list[str]:
        """The extensions to declare, those of the capabilities included."""
        alternatives = dict(self._extensions)
        for capability in implied(self.capabilities()):
            self._extend(requirements(capability), alternatives)
        chosen = {names[0] for names in alternatives if len(names) == 1}
        for names in alternatives:
            if not chosen.intersection(names):
                chosen.add(next((name for name in names if name in _OLDER_NAMES), names[0]))
        return sorted(chosen)

    # -- what depends on types -------------------------------------------------------

    def _atomic_float(self, opcode: Op, item: Instruction) -> None:
        """The rows of these instructions name one capability per width; one of them is meant."""
        if self._is_vector(item.type_id):
            self._require((Capability.AtomicFloat16VectorNV,))
            return
        capability = _ATOMIC_FLOAT[opcode].get(self._scalar_width(item.type_id) or 0)
        if capability is None:
            self._member(opcode)
        else:
            self._require((capability,))

    def _by_type(self, opcode: Op, item: Instruction) -> Iterator[Alternatives]:
        """What follows from the types that an instruction declares or works on."""
        words = item.words
        if opcode == Op.TypeInt and words[0] != 32:
            yield INTEGER_CAPABILITIES.get(words[0], (Capability.ArbitraryPrecisionIntegersALTERA,))
        elif opcode == Op.TypeFloat and len(words) == 1 and words[0] in FLOAT_CAPABILITIES:
            yield FLOAT_CAPABILITIES[words[0]]
        elif opcode == Op.TypeVector and words[1] not in _COMMON_VECTORS:
            large = (Capability.VectorAnyINTEL, Capability.LongVectorEXT)
            yield (Capability.Vector16, *large) if words[1] in _KERNEL_VECTORS else large
        elif opcode == Op.TypePointer and words[0] in _BUFFERS:
            yield from (_BUFFER_ACCESS[width] for width in self._widths_in(words[1]) if width in _BUFFER_ACCESS)
        elif opcode == Op.TypeCooperativeMatrixKHR:
            yield from self._matrix_component(words[0])
        elif opcode in CONVERSIONS:
            yield from self._change_of_use(item)
        elif opcode in _LAYOUT_OPERAND:
            without_offsets = opcode == Op.CooperativeMatrixPrefetchINTEL and len(words) <= _LAYOUT_OPERAND[opcode]
            layout = self._constant(words[_LAYOUT_OPERAND[opcode] - 2 * without_offsets])
            if layout is not None and layout in CooperativeMatrixLayout._value2member_map_:
                needed = requirements(CooperativeMatrixLayout(layout)).capabilities
                yield from (needed,) if needed else ()
        elif opcode in _INTEGER_ATOMICS and self._is_long(item):
            yield (Capability.Int64Atomics,)
        elif opcode in _GROUP_ARITHMETIC and words[1] in _REDUCTIONS_AND_SCANS:
            yield (Capability.GroupNonUniformArithmetic,)
        elif opcode in _DOT_PRODUCTS:
            yield from self._dot_product(words[0])
        elif opcode == Op.Dot and self._encoding(self._operand_type(words[0])) == FPEncoding.BFloat16KHR:
            yield (Capability.BFloat16DotProductKHR,)

    def _widths_in(self, type_id: int, depth: int = 0) -> set[int]:
        """The widths of the numbers in a type."""
        kind = self._definitions.get(type_id)
        if kind is None or depth > DEEPEST_TYPE:
            return set()
        if kind.opcode in (Op.TypeInt, Op.TypeFloat):
            return {kind.words[0]}
        if kind.opcode in (Op.TypeVector, Op.TypeArray, Op.TypeRuntimeArray):
            return self._widths_in(kind.words[0], depth + 1)
        if kind.opcode == Op.TypeStruct:
            return set().union(*(self._widths_in(word, depth + 1) for word in kind.words))
        return set()

    def _matrix_component(self, type_id: int) -> Iterator[Alternatives]:
        kind = self._definitions.get(type_id)
        if kind is not None and kind.opcode == Op.TypeInt and kind.words[0] == 4:
            yield (Capability.Int4CooperativeMatrixINTEL,)
        encoding = self._encoding(type_id)
        if encoding in _MATRIX_ENCODINGS:
            yield (_MATRIX_ENCODINGS[FPEncoding(encoding)],)

    def _change_of_use(self, item: Instruction) -> Iterator[Alternatives]:
        """A conversion of a matrix to one of another use: of accumulators both extensions have it."""
        before, after = self._use(self._operand_type(item.words[0])), self._use(item.type_id)
        if before is not None and after is not None and before != after:
            back = after == CooperativeMatrixUse.MatrixAccumulatorKHR
            yield _CONVERTING_BACK if back else _CONVERTING

    def _use(self, type_id: int | None) -> int | None:
        """The use of a cooperative matrix type; None for other types, and where a specialisation constant decides."""
        kind = self._definitions.get(type_id or 0)
        is_matrix = kind is not None and kind.opcode == Op.TypeCooperativeMatrixKHR
        return self._constant(kind.words[4]) if kind is not None and is_matrix else None

    def _dot_product(self, vector: int) -> Iterator[Alternatives]:
        """Rules of SPV_KHR_integer_dot_product: packed in a scalar, four bytes, any other vector."""
        kind = self._definitions.get(self._operand_type(vector) or 0)
        if kind is None:
            return
        if kind.opcode == Op.TypeInt:
            yield (Capability.DotProductInput4x8BitPacked,)
        elif kind.opcode != Op.TypeVector:
            return
        elif kind.words[1] == 4 and self._scalar_width(kind.words[0]) == 8:
            yield (Capability.DotProductInput4x8Bit, Capability.DotProductInputAll)
        else:
            yield (Capability.DotProductInputAll,)

    def _is_long(self, item: Instruction) -> bool:
        """Whether an atomic works on 64-bit integers."""
        type_id = item.type_id if item.type_id is not None else self._operand_type(item.words[-1])
        kind = self._definitions.get(type_id or 0)
        return kind is not None and kind.opcode == Op.TypeInt and kind.words[0] == 64

    def _operand_type(self, identifier: int) -> int | None:
        definition = self._definitions.get(identifier)
        return definition.type_id if definition is not None else None

    def _scalar_width(self, type_id: int | None) -> int | None:
        kind = self._definitions.get(type_id or 0)
        return kind.words[0] if kind is not None and kind.opcode in (Op.TypeInt, Op.TypeFloat) else None

    def _is_vector(self, type_id: int | None) -> bool:
        kind = self._definitions.get(type_id or 0)
        return kind is not None and kind.opcode == Op.TypeVector

    def _encoding(self, type_id: int | None) -> int | None:
        """The encoding of a float type or of a vector's component."""
        kind = self._definitions.get(type_id or 0)
        if kind is not None and kind.opcode == Op.TypeVector:
            kind = self._definitions.get(kind.words[0])
        if kind is not None and kind.opcode == Op.TypeFloat and len(kind.words) > 1:
            return kind.words[1]
        return None

    def _constant(self, identifier: int) -> int | None:
        definition = self._definitions.get(identifier)
        if definition is not None and definition.opcode == Op.Constant:
            return definition.words[0]
        return None
