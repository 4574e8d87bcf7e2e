"""Conversions between types, with rounding modes and saturation, and reinterpretation of bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np

from coopmat.diagnostics import Error, ValidationError
from coopmat.formats import FORMATS, Rounding, round_to
from coopmat.spirv.analysis.types import FloatType, IntType, MatrixType, Type
from coopmat.spirv.grammar import Op, SourceLanguage, StorageClass
from coopmat.spirv.module import Instruction
from coopmat.targets.analysis.conversions import is_saturated, is_transposed, rounding_of
from coopmat.targets.simulator.arithmetic import elementwise
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.matrix_groups import dealt, in_layout, whole
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.undefined import limits, may_be_moved, refuse
from coopmat.targets.simulator.values import Array, sign_extend_nibble, unsigned

FLOAT_NAMES = {np.dtype(FORMATS[name].dtype): name for name in ("fp16", "bf16", "fp32", "fp64")}

Conversion = Callable[[Array], Array]


def to_float(value: Array, dtype: np.dtype, rounding: Rounding = "rte") -> Array:
    """A number of any type (unsigned integers as unsigned arrays) rounded once to a float type."""
    if rounding == "rte" and _rounds_once(value.dtype, dtype):
        return value.astype(dtype)
    return round_to(value, FLOAT_NAMES[dtype], rounding=rounding)


def _rounds_once(source: np.dtype, target: np.dtype) -> bool:
    """Whether numpy's own cast rounds to nearest only once (the bf16 casts go through float32)."""
    if target == ml_dtypes.bfloat16:
        return source in (np.float16, np.float32, ml_dtypes.bfloat16) or source.itemsize <= 2
    return True


def to_integer(value: Array, kind: Type, signed: bool, rounding: Rounding, saturate: bool) -> Array:
    """Floating point to an integer type; out of range without saturation the result is arbitrary."""
    assert isinstance(kind, IntType)
    name = f"{'sint' if signed else 'uint'}{kind.width}"
    result = round_to(value, name, rounding=rounding, overflow="saturate" if saturate else "wrap")
    return from_storage(result, kind)


def from_storage(value: Array, kind: Type) -> Array:
    """Integers of a format's storage type in the simulator's signed form."""
    if kind == IntType(4):
        return sign_extend_nibble(value.astype(np.int8))
    return value.view(kind.dtype)


def as_unsigned(value: Array, kind: Type) -> Array:
    """An integer value read as unsigned."""
    return unsigned(value & np.int8(15)) if kind == IntType(4) else unsigned(value)


def resize_signed(value: Array, source: Type, target: Type) -> Array:
    """OpSConvert."""
    result = value.astype(target.dtype)
    return sign_extend_nibble(result) if target == IntType(4) else result


def resize_unsigned(value: Array, source: Type, target: Type) -> Array:
    """OpUConvert."""
    result = as_unsigned(value, source).astype(f"u{target.dtype.itemsize}").view(target.dtype)
    return sign_extend_nibble(result) if target == IntType(4) else result


def _clamp(value: Array, source: Type, target: Type, from_signed: bool, to_signed: bool) -> Array:
    number = value if from_signed else as_unsigned(value, source)
    assert isinstance(target, IntType)
    name = f"{'sint' if to_signed else 'uint'}{target.width}"
    return from_storage(round_to(number, name, overflow="saturate"), target)


ROUNDERS: dict[Rounding, Callable[[Array], Array]] = {"rtz": np.trunc, "rte": np.rint, "rtp": np.ceil, "rtn": np.floor}
C_NAMES = {8: "char", 16: "short", 32: "int", 64: "long"}


def _float_to_integer(signed: bool) -> Handler:
    """OpConvertFToS and OpConvertFToU: undefined for what is out of range, and for a NaN, but where saturated."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        kind = compiler.result_type(row).scalar
        identifier = row.result_id or 0
        rounding = rounding_of(compiler.module, identifier, "rtz")
        saturate = is_saturated(compiler.module, identifier)
        step = compiler.compute(
            row, lambda value: to_integer(value, kind, signed, rounding, saturate), row.words[0])
        assert isinstance(kind, IntType)
        if saturate or may_be_moved(compiler, row):
            return step
        operand, site, source = compiler.slot(row.words[0]), compiler.site(row), compiler.type_of(row.words[0])
        lowest, highest = limits(kind.width, signed)
        words = partial(_out_of_range, kind.width, signed, source.count, site.language)

        def execute(frame: Frame) -> None:
            value = frame.slots[operand]
            if frame.batch.options.undefined and not _is_within(value, lowest, highest):
                whole = ROUNDERS[rounding](value.astype(np.float64))
                refuse(frame, site, source, ~((whole >= lowest) & (whole < highest + 1)), words, value)
            step(frame)

        return execute

    return handle


def _is_within(value: Array, lowest: int, highest: int) -> bool:
    """Whether all numbers are in a range, and none is a NaN."""
    return float(value.min()) >= lowest and float(value.max()) <= highest


def _out_of_range(width: int, is_signed: bool, count: int, language: int, value: float) -> str:
    """What a conversion to an integer says that has no result."""
    low, high = limits(width, is_signed)
    number = "a NaN" if value != value else f"the number {value!r}"
    remedies = ["limit it before, with clamp" if value == value else "test it with isnan before"]
    if language == SourceLanguage.OpenCL_C and width in C_NAMES:
        name = f"{'' if is_signed else 'u'}{C_NAMES[width]}{count if count in (2, 3, 4, 8, 16) else ''}"
        remedies.append(f"use convert_{name}_sat")
    return (f"{number} is converted to a {'signed' if is_signed else 'unsigned'} integer of {width} bits, which holds "
            f"{low} to {high}: {', or '.join(remedies)}")


def _integer_to_float(signed: bool) -> Handler:
    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        source, dtype = compiler.type_of(row.words[0]).scalar, compiler.result_type(row).dtype
        rounding = rounding_of(compiler.module, row.result_id or 0, "rte")

        def convert(value: Array) -> Array:
            return to_float(value if signed else as_unsigned(value, source), dtype, rounding)

        return compiler.compute(row, convert, row.words[0])

    return handle


def _float_to_float(compiler: FunctionCompiler, row: Instruction) -> Step:
    dtype, rounding = compiler.result_type(row).dtype, rounding_of(compiler.module, row.result_id or 0, "rte")
    return compiler.compute(row, lambda value: to_float(value, dtype, rounding), row.words[0])


def _resize(convert: Callable[[Array, Type, Type], Array], from_signed: bool) -> Handler:
    """OpUConvert and OpSConvert, saturating where decorated so."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        source, target = compiler.type_of(row.words[0]).scalar, compiler.result_type(row).scalar
        if is_saturated(compiler.module, row.result_id or 0):
            return compiler.compute(
                row, lambda value: _clamp(value, source, target, from_signed, from_signed), row.words[0])
        return compiler.compute(row, lambda value: convert(value, source, target), row.words[0])

    return handle


def _saturate(from_signed: bool) -> Handler:
    """OpSatConvertSToU and OpSatConvertUToS."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        source, target = compiler.type_of(row.words[0]).scalar, compiler.result_type(row).scalar
        return compiler.compute(
            row, lambda value: _clamp(value, source, target, from_signed, not from_signed), row.words[0])

    return handle


def _pointer_to_integer(compiler: FunctionCompiler, row: Instruction) -> Step:
    dtype = compiler.result_type(row).dtype
    return compiler.compute(row, lambda value: value.astype(dtype), row.words[0])


def _integer_to_pointer(compiler: FunctionCompiler, row: Instruction) -> Step:
    return compiler.compute(row, lambda value: unsigned(value).astype(np.int64), row.words[0])


def reinterpret(value: Array, source: Type, target: Type) -> Array:
    """The bits of a scalar or vector as another type of the same size."""
    if source.count == target.count and source.dtype.itemsize == target.dtype.itemsize:
        return value.view(target.dtype)
    packed = np.ascontiguousarray(value if value.ndim == 3 else value[..., None]).view(target.dtype)
    return packed if target.count > 1 else packed[..., 0]


def _bitcast(compiler: FunctionCompiler, row: Instruction) -> Step | None:
    source, target = compiler.type_of(row.words[0]), compiler.result_type(row)
    if compiler.place(row.words[0]) is not None:
        return None  # only lifetime markers use it: see registers.py
    if isinstance(source, MatrixType) or isinstance(target, MatrixType):
        if source.dtype.itemsize != target.dtype.itemsize or source.dtype.kind != target.dtype.kind:
            raise Error("OpBitcast of a matrix is possible between integer components of one width only")
        return compiler.compute(row, lambda value: value, row.words[0])
    if source.count * source.dtype.itemsize != target.count * target.dtype.itemsize:
        raise Error(f"OpBitcast from {source} to {target}: the sizes differ")
    return compiler.compute(row, lambda value: reinterpret(value, source, target), row.words[0])


def _to_explicit_storage(compiler: FunctionCompiler, row: Instruction) -> Step:
    """OpGenericCastToPtrExplicit: null for a pointer to another storage class."""
    wanted = {row.words[1]} | ({StorageClass.Private} if row.words[1] == StorageClass.Function else set())
    result, pointer = compiler.result(row), compiler.slot(row.words[0])

    def execute(frame: Frame) -> None:
        address = frame.slots[pointer]
        fits = np.isin(frame.memory.storage_of(address), list(wanted))
        frame.slots[result] = np.where(fits, address, 0)

    return execute


# --------------------------------------------------------------------------------------
# SPV_INTEL_tensor_float32_conversion and SPV_INTEL_bfloat16_conversion
# --------------------------------------------------------------------------------------


def float_to_bf16_bits(value: Array) -> Array:
    """Float32 rounded to bf16, to nearest with ties to even, as 16-bit integers."""
    return round_to(value, "bf16").view(np.int16)


def bf16_bits_to_float(value: Array) -> Array:
    """Float32 of the same value as the bf16 numbers whose bits are given: exact."""
    return np.left_shift(value.astype(np.int32), 16).view(np.float32)


def _convert_format(convert: Conversion, source: Type, target: Type, rule: str) -> Handler:
    """A conversion between two component types, the count being the same."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        given, result = compiler.type_of(row.words[0]), compiler.result_type(row)
        if (given.scalar, result.scalar, given.count) != (source, target, result.count):
            raise ValidationError(rule, f"{row.name} converts {source} to {target}, one or a vector of equal length; "
                                  f"found {given} to {result}", row.offset)
        return compiler.compute(row, convert, row.words[0])

    return handle


FLOAT32, INT16 = FloatType(32), IntType(16)

def _of_matrices(handle: Handler) -> Handler:
    """The conversion, which may transpose a matrix, and change the way in which a work-group holds it."""
    def turned(compiler: FunctionCompiler, row: Instruction) -> Step | None:
        step = handle(compiler, row)
        given, kind = compiler.type_of(row.words[0]), compiler.result_type(row)
        transposes = is_transposed(compiler.module, row.result_id or 0)
        if step is None or not (transposes or (isinstance(kind, MatrixType) and kind.is_of_work_group)):
            return step
        convert, result = step, compiler.result(row)
        if not isinstance(given, MatrixType) or not isinstance(kind, MatrixType):
            raise ValidationError("matrix-transposition", f"{row.name} transposes cooperative matrices, not {given}",
                                  row.offset)
        before, after = given, kind

        def execute(frame: Frame) -> None:
            convert(frame)
            value = frame.slots[result]
            frame.slots[result] = dealt(frame, after, whole(frame, before, value).swapaxes(1, 2)) if transposes \
                else in_layout(frame, after, before, value)

        return execute

    return turned


OPERATIONS: dict[int, Handler] = {
    Op.RoundFToTF32INTEL: _convert_format(lambda value: round_to(value, "tf32"), FLOAT32, FLOAT32, "tf32-rounding"),
    Op.ConvertFToBF16INTEL: _convert_format(float_to_bf16_bits, FLOAT32, INT16, "bfloat16-conversion"),
    Op.ConvertBF16ToFINTEL: _convert_format(bf16_bits_to_float, INT16, FLOAT32, "bfloat16-conversion"),
    Op.ConvertFToU: _of_matrices(_float_to_integer(signed=False)),
    Op.ConvertFToS: _of_matrices(_float_to_integer(signed=True)),
    Op.ConvertSToF: _of_matrices(_integer_to_float(signed=True)),
    Op.ConvertUToF: _of_matrices(_integer_to_float(signed=False)),
    Op.UConvert: _of_matrices(_resize(resize_unsigned, from_signed=False)),
    Op.SConvert: _of_matrices(_resize(resize_signed, from_signed=True)),
    Op.FConvert: _of_matrices(_float_to_float),
    Op.SatConvertSToU: _saturate(from_signed=True),
    Op.SatConvertUToS: _saturate(from_signed=False),
    Op.ConvertPtrToU: _pointer_to_integer,
    Op.ConvertUToPtr: _integer_to_pointer,
    Op.PtrCastToGeneric: elementwise(lambda value: value),
    Op.GenericCastToPtr: elementwise(lambda value: value),
    Op.GenericCastToPtrExplicit: _to_explicit_storage,
    Op.Bitcast: _bitcast,
}
