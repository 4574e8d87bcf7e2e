"""Conversions between types, with rounding modes and saturation, and reinterpretation of bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from coopmat.diagnostics import Error, ValidationError
from coopmat.formats import Rounding
from coopmat.spirv.analysis.types import FloatType, IntType, MatrixType, Type
from coopmat.spirv.grammar import CONVERSIONS, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.conversions import is_saturated, is_transposed, rounding_of
from coopmat.targets.llvm.access import addresses
from coopmat.targets.llvm.arithmetic.conversions import converted, reinterpreted, to_tf32
from coopmat.targets.llvm.arithmetic.floats import from_bf16, to_bf16
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter, Handler, as_matrix_type
from coopmat.targets.llvm.inputs import find_place
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.places import place_of_cast
from coopmat.targets.llvm.values import Matrix, Number, Value, llvm_type


def manner_of(emitter: Emitter, row: Instruction) -> tuple[Rounding, bool]:
    """How a conversion instruction rounds, and whether it saturates."""
    default: Rounding = "rtz" if row.opcode in (Op.ConvertFToS, Op.ConvertFToU) else "rte"
    identifier = emitter.flat.original(row.result_id or 0)
    return rounding_of(emitter.module, identifier, default), is_saturated(emitter.module, identifier)


def _convert(emitter: Emitter, row: Instruction) -> Value:
    kind = emitter.result_type(row)
    if isinstance(kind, MatrixType):
        return _convert_matrix(emitter, row, kind)
    source, target = emitter.type_of(row.words[0]).scalar, kind.scalar
    return tuple(converted(emitter, row.opcode, one, source, target, *manner_of(emitter, row))
                 for one in emitter.numbers(row.words[0]))


def _convert_matrix(emitter: Emitter, row: Instruction, kind: MatrixType) -> Value:
    given = emitter.matrix(row.words[0])
    transposed = is_transposed(emitter.module, emitter.flat.original(row.result_id or 0))
    same_shape = replace(kind, rows=kind.columns, columns=kind.rows) if transposed else kind
    found = emitter.matrices.convert(same_shape, given, row.opcode, *manner_of(emitter, row))
    return (emitter.matrices.change_use(kind, found, transposed=True) if transposed else found,)


def _pointer_to_integer(emitter: Emitter, row: Instruction) -> Value:
    llvm = llvm_type(emitter.result_type(row).scalar)
    # LLVM may fail an assertion where differences of vectors of pointers to one variable are converted.
    return tuple(resized(emitter, addresses(emitter, one), llvm, signed=False)
                 for one in emitter.numbers(row.words[0]))


def _integer_to_pointer(emitter: Emitter, row: Instruction) -> Value:
    return tuple(emitter.apply("inttoptr {t} {0} to {r}", "ptr", resized(emitter, one, "i64", signed=False))
                 for one in emitter.numbers(row.words[0]))


def _to_storage(emitter: Emitter, row: Instruction) -> Value | None:
    """A pointer to one storage class as one to another: the same address, or place."""
    place = find_place(emitter, row.words[0])
    if place is None:
        return emitter.value(row.words[0])
    place_of_cast(emitter, row, place)
    return None


def _to_explicit_storage(emitter: Emitter, row: Instruction) -> Value:
    """OpGenericCastToPtrExplicit: null for a pointer to another storage class."""
    pointer = emitter.number(row.words[0])
    fits = emitter.execution.is_in_storage(pointer, row.words[1])
    return (emitter.select(fits, pointer, Number("ptr", "null")),)


def _bitcast(emitter: Emitter, row: Instruction) -> Value | None:
    source, target = emitter.type_of(row.words[0]), emitter.result_type(row)
    place = find_place(emitter, row.words[0])
    if place is not None:
        place_of_cast(emitter, row, place)
        return None
    if isinstance(source, MatrixType) or isinstance(target, MatrixType):
        return (_same_bits(emitter, emitter.matrix(row.words[0]), as_matrix_type(target, row)),)
    if source.count * source.dtype.itemsize != target.count * target.dtype.itemsize:
        raise Error(f"OpBitcast from {source} to {target}: the sizes differ")
    return reinterpreted(emitter, emitter.numbers(row.words[0]), llvm_type(target.scalar))


def _same_bits(emitter: Emitter, given: Matrix, kind: MatrixType) -> Matrix:
    """OpBitcast of a matrix: integers of one width."""
    if given.kind.dtype.itemsize != kind.dtype.itemsize or given.kind.dtype.kind != kind.dtype.kind:
        raise Error("OpBitcast of a matrix is possible between integer components of one width only")
    if emitter.matrices.type(kind) == emitter.matrices.type(given.kind):
        return Matrix(kind, given.text)
    return emitter.matrices.change_use(kind, given, transposed=False)


def _convert_format(convert: Callable[[NumberWriter, Number], Number], source: Type, target: Type,
                    rule: str) -> Handler:
    """A conversion between two component types, the count being the same."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        given, result = emitter.type_of(row.words[0]), emitter.result_type(row)
        if (given.scalar, result.scalar, given.count) != (source, target, result.count):
            raise ValidationError(rule, f"{row.name} converts {source} to {target}, one or a vector of equal length; "
                                  f"found {given} to {result}", row.offset)
        return tuple(convert(emitter, one) for one in emitter.numbers(row.words[0]))

    return handle


FLOAT32, INT16 = FloatType(32), IntType(16)
OPERATIONS: dict[int, Handler] = {
    **dict.fromkeys((*CONVERSIONS, Op.SatConvertSToU, Op.SatConvertUToS), _convert),
    Op.RoundFToTF32INTEL: _convert_format(to_tf32, FLOAT32, FLOAT32, "tf32-rounding"),
    Op.ConvertFToBF16INTEL: _convert_format(to_bf16, FLOAT32, INT16, "bfloat16-conversion"),
    Op.ConvertBF16ToFINTEL: _convert_format(from_bf16, INT16, FLOAT32, "bfloat16-conversion"),
    Op.ConvertPtrToU: _pointer_to_integer,
    Op.ConvertUToPtr: _integer_to_pointer,
    Op.PtrCastToGeneric: _to_storage,
    Op.GenericCastToPtr: _to_storage,
    Op.GenericCastToPtrExplicit: _to_explicit_storage,
    Op.Bitcast: _bitcast,
}
