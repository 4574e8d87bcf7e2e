"""OpenCL C functions that LLVM's back end leaves as imports, or would translate wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable

from coopmat.llvm.to_spirv import intel_functions
from coopmat.llvm.to_spirv.calls import ROUNDING_MODES, ImportedCall
from coopmat.llvm.to_spirv.metadata import C_SCALARS
from coopmat.llvm.to_spirv.names import BuiltinName, ScalarCode
from coopmat.spirv.grammar import OPENCL_STD, Decoration, MemorySemantics, Op, Scope

_TYPE = rf"(?P<scalar>{'|'.join(C_SCALARS)})\d*"
_CONVERT = re.compile(rf"convert_{_TYPE}(?P<sat>_sat)?(?:_(?P<rounding>rt[eznp]))?\Z")
_AS_TYPE = re.compile(rf"as_{_TYPE}\Z")
_VLOADA_HALF = re.compile(r"vloada_half(2|3|4|8|16)\Z")


def replace(call: ImportedCall) -> bool:
    """Append the instructions for a call; False if the function is unknown."""
    if call.name.family == "opencl":
        if call.name.name in _FENCES:
            _FENCES[call.name.name](call)
            return True
        if call.name.name in _EVENT_FUNCTIONS:
            _EVENT_FUNCTIONS[call.name.name](call)
            return True
        if intel_functions.replace(call):
            return True
        atomic = _ATOMIC.match(call.name.name)
        if atomic is not None:
            _atomic(call, atomic[1])
            return True
        conversion = _CONVERT.match(call.name.name)
        if conversion is not None:
            _convert(call, conversion)
            return True
        if _AS_TYPE.match(call.name.name):
            call.expect(1)
            call.replace(Op.Bitcast, call.arguments[0])
            return True
        aligned_load = _VLOADA_HALF.match(call.name.name)
        if aligned_load is not None:
            call.expect(2)
            call.replace(Op.ExtInst, call.editor.extended_set(), OPENCL_STD["vloada_halfn"], *call.arguments,
                         int(aligned_load.group(1)))
            return True
    number = _extended_instruction(call.name)
    if number is None:
        return False
    call.replace(Op.ExtInst, call.editor.extended_set(), number, *call.arguments)
    return True


def _extended_instruction(name: BuiltinName) -> int | None:
    """The OpenCL.std instruction that a function is; integer ones are named with a sign there."""
    candidates = [name.name]
    first = name.parameters[0] if name.parameters else None
    if name.family == "opencl" and isinstance(first, ScalarCode):
        prefix = {"sint": "s_", "uint": "u_"}.get(first.kind, "f")
        candidates.insert(0, prefix + name.name)
    return next((OPENCL_STD[n] for n in candidates if n in OPENCL_STD), None)


# --------------------------------------------------------------------------------------
# Barriers and fences
# --------------------------------------------------------------------------------------

_FENCE_FLAGS = {1: MemorySemantics.WorkgroupMemory, 2: MemorySemantics.CrossWorkgroupMemory,
                4: MemorySemantics.ImageMemory}


def _semantics(call: ImportedCall, order: MemorySemantics) -> int:
    """The constant for a function whose first argument is a cl_mem_fence_flags."""
    flags = call.literal(call.arguments[0], "the memory fence flags") if call.arguments else 0
    value = int(order)
    for flag, semantics in _FENCE_FLAGS.items():
        if flags & flag:
            value |= semantics
    return call.editor.constant(value)


def _sub_group_barrier(call: ImportedCall) -> None:
    call.expect(1, 2)
    scope = call.editor.constant(Scope.Subgroup)
    semantics = _semantics(call, MemorySemantics.SequentiallyConsistent)
    call.effect(Op.ControlBarrier, scope, scope, semantics)


def _fence(order: MemorySemantics) -> Callable[[ImportedCall], None]:
    def replace(call: ImportedCall) -> None:
        call.expect(1)
        call.effect(Op.MemoryBarrier, call.editor.constant(Scope.Workgroup), _semantics(call, order))
    return replace


_FENCES: dict[str, Callable[[ImportedCall], None]] = {
    "sub_group_barrier": _sub_group_barrier,
    "mem_fence": _fence(MemorySemantics.AcquireRelease),
    "read_mem_fence": _fence(MemorySemantics.Acquire),
    "write_mem_fence": _fence(MemorySemantics.Release),
}


# --------------------------------------------------------------------------------------
# Asynchronous copies
# --------------------------------------------------------------------------------------


def _copy(call: ImportedCall) -> None:
    """A copy of neighbouring elements: the stride is 1, of the same type as their number."""
    call.expect(4)
    *operands, event = call.arguments
    stride = call.editor.constant(1, call.argument_type(2).words[0])
    call.replace(Op.GroupAsyncCopy, call.editor.constant(Scope.Workgroup), *operands, stride, event)


def _wait(call: ImportedCall) -> None:
    call.expect(2)
    call.point_to(1, call.editor.unique(Op.TypeEvent))
    call.effect(Op.GroupWaitEvents, call.editor.constant(Scope.Workgroup), *call.arguments)


_EVENT_FUNCTIONS: dict[str, Callable[[ImportedCall], None]] = {
    "async_work_group_copy": _copy,
    "wait_group_events": _wait,
}


# --------------------------------------------------------------------------------------
# Atomics of OpenCL 1.x
# --------------------------------------------------------------------------------------

_ATOMIC_OPERATIONS = {  # name: instruction for signed integers, and for unsigned ones
    "add": (Op.AtomicIAdd, Op.AtomicIAdd), "sub": (Op.AtomicISub, Op.AtomicISub),
    "min": (Op.AtomicSMin, Op.AtomicUMin), "max": (Op.AtomicSMax, Op.AtomicUMax),
    "and": (Op.AtomicAnd, Op.AtomicAnd), "or": (Op.AtomicOr, Op.AtomicOr), "xor": (Op.AtomicXor, Op.AtomicXor),
    "inc": (Op.AtomicIIncrement, Op.AtomicIIncrement), "dec": (Op.AtomicIDecrement, Op.AtomicIDecrement),
    "xchg": (Op.AtomicExchange, Op.AtomicExchange),
}
_ATOMIC = re.compile(rf"atom(?:ic)?_({'|'.join(_ATOMIC_OPERATIONS)}|cmpxchg)\Z")


def _atomic(call: ImportedCall, operation: str) -> None:
    """Relaxed, among the work-items of the device (OpenCL C 6.15.12.8)."""
    call.expect({"inc": 1, "dec": 1, "cmpxchg": 3}.get(operation, 2))
    call.point_to(0, call.result_type)
    scope, relaxed = call.editor.constant(Scope.Device), call.editor.constant(0)
    pointer, *values = call.arguments
    if operation == "cmpxchg":
        expected, desired = values
        call.replace(Op.AtomicCompareExchange, pointer, scope, relaxed, relaxed, desired, expected)
        return
    codes = [code for code in call.name.parameters[1:] if isinstance(code, ScalarCode)]
    is_unsigned = bool(codes) and codes[0].kind == "uint"
    call.replace(_ATOMIC_OPERATIONS[operation][is_unsigned], pointer, scope, relaxed, *values)


# --------------------------------------------------------------------------------------
# Conversions
# --------------------------------------------------------------------------------------

# (source kind, target kind) -> instruction; integers to integers extend by the source's sign.
_CONVERSIONS = {
    ("float", "float"): Op.FConvert, ("float", "sint"): Op.ConvertFToS, ("float", "uint"): Op.ConvertFToU,
    ("sint", "float"): Op.ConvertSToF, ("uint", "float"): Op.ConvertUToF,
    ("sint", "sint"): Op.SConvert, ("sint", "uint"): Op.SConvert,
    ("uint", "sint"): Op.UConvert, ("uint", "uint"): Op.UConvert,
}


def _convert(call: ImportedCall, conversion: re.Match[str]) -> None:
    """``convert_<type>``: OpenCL C 6.4.3."""
    call.expect(1)
    source = call.name.parameters[0] if call.name.parameters else None
    if not isinstance(source, ScalarCode) or source.kind not in ("sint", "uint", "float"):
        raise call.fail("the name does not tell the type that is converted")
    target = C_SCALARS[conversion["scalar"]]
    value = call.arguments[0]
    among_integers = source.kind != "float" and target.kind != "float"
    if among_integers and conversion["sat"]:
        value = _clamp(call, value, source, target)
    is_copy = source.bits == target.bits and (among_integers or source.kind == target.kind)
    call.replace(Op.CopyObject if is_copy else _CONVERSIONS[source.kind, target.kind], value)
    if among_integers or is_copy:
        return
    if conversion["sat"]:
        call.editor.decorate(call.result, Decoration.SaturatedConversion)
    if conversion["rounding"]:
        call.editor.decorate(call.result, Decoration.FPRoundingMode, ROUNDING_MODES[conversion["rounding"]])


def _range(code: ScalarCode) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    if code.kind == "sint":
        return -(1 << code.bits - 1), (1 << code.bits - 1) - 1
    return 0, (1 << code.bits) - 1


def _clamp(call: ImportedCall, value: int, source: ScalarCode, target: ScalarCode) -> int:
    """``value`` limited to what both types can hold."""
    type_id = call.editor.definition(value).type_id
    assert type_id is not None
    (source_low, source_high), (target_low, target_high) = _range(source), _range(target)
    limits = [_splat(call, type_id, limit, source.bits)
              for limit in (max(source_low, target_low), min(source_high, target_high))]
    name = "s_clamp" if source.kind == "sint" else "u_clamp"
    return call.value(Op.ExtInst, type_id, call.editor.extended_set(), OPENCL_STD[name], value, *limits)


def _splat(call: ImportedCall, type_id: int, number: int, bits: int) -> int:
    """A constant of an integer type, or of a vector of them."""
    component = call.editor.constant(number & (1 << bits) - 1, bits)
    type_ = call.editor.definition(type_id)
    if type_.opcode != Op.TypeVector:
        return component
    return call.editor.unique(Op.ConstantComposite, *[component] * type_.words[1], type_id=type_id)
