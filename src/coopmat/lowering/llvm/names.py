"""Names of the built-in functions that the LLVM builder calls (``docs/llvm-ir.md`` gives the rules).

Functions of OpenCL C are mangled as clang mangles them, by the Itanium C++ ABI. An instruction of SPIR-V is
``_Z<length>__spirv_<Name>``, where ``<length>`` counts ``__spirv_<Name>``, followed by parameter codes or,
where cooperative matrices are involved, by codes of the matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coopmat.lowering.builder import Value
from coopmat.lowering.mangling import mangled, matrix_code, parameter_codes
from coopmat.tree import types as t

# --------------------------------------------------------------------------------------
# SPIR-V instructions
# --------------------------------------------------------------------------------------


def instruction_name(name: str, types: Iterable[t.Type]) -> str:
    """The name of a SPIR-V instruction without matrices."""
    return mangled(f"__spirv_{name}", types)


def matrix_instruction_name(name: str, matrices: Iterable[t.Matrix], pointer: t.Pointer | None = None) -> str:
    """The name of a SPIR-V instruction on matrices; with ``pointer`` it tells what that points to."""
    full = f"__spirv_{name}"
    codes = "_".join(dict.fromkeys(map(matrix_code, matrices)))
    separator = "_" if pointer is None else f"{parameter_codes([pointer])}."
    return f"_Z{len(full)}{full}{separator}{codes}"


def conversion_name(name: str, target: t.Type, rounding: str | None, saturate: bool) -> str:
    """The identifier of a conversion instruction with a rounding mode or saturation, as the SPIR-V
    translator spells it: ``ConvertFToS_Rint4_sat_rte``."""
    result = f"_R{target}" if not isinstance(target, t.Matrix) else ""
    return f"{name}{result}{'_sat' if saturate else ''}{f'_{rounding}' if rounding is not None else ''}"


# --------------------------------------------------------------------------------------
# OpenCL C
# --------------------------------------------------------------------------------------

_RENAMED = {"fclamp": "clamp", "fmax_common": "max", "fmin_common": "min"}
_ROUNDING_SUFFIXES = ("_rte", "_rtz", "_rtp", "_rtn")  # by SPIR-V's FPRoundingMode
_LOADS = ("vloadn", "vload_half", "vload_halfn", "vloada_halfn", "prefetch", "nan")
_SIGN_OF = {"s": "sint", "u": "uint"}
_UNSIGNED_LOW = 1  # the second operand of upsample has no sign


def opencl_call(instruction: str, types: Sequence[t.Type], literals: Sequence[int]) -> str:
    """The mangled OpenCL C function that is the OpenCL.std instruction ``instruction``."""
    numbers = list(literals)
    name, types = instruction, list(types)
    prefix, _, rest = instruction.partition("_")
    if prefix in _SIGN_OF and rest:
        name = rest
        types = [_with_sign(type_, _SIGN_OF[prefix]) for type_ in types]
        if name == "upsample":
            types[_UNSIGNED_LOW] = _with_sign(types[_UNSIGNED_LOW], "uint")
    if name.endswith("_r") and name.startswith("vstore"):
        name = name.removesuffix("_r") + _ROUNDING_SUFFIXES[numbers.pop()]
    if name.startswith(("vload", "vstore")):
        name = _with_count(name, types, numbers)
    if instruction in _LOADS:
        types = [_constant(type_) for type_ in types]
    return mangled(_RENAMED.get(name, name), types)


def _with_count(name: str, types: Sequence[t.Type], numbers: Sequence[int]) -> str:
    """``vloadn`` with n = 4 is ``vload4``; a store's n is the length of what it stores."""
    base, separator, suffix = name.partition("_rt")
    if base.endswith("n"):
        value = types[0]
        count = value.count if base.startswith("vstore") and isinstance(value, t.Vector) else numbers[0]
        base = f"{base.removesuffix('n')}{count}"
    return base + separator + suffix


def _with_sign(type_: t.Type, kind: str) -> t.Type:
    match type_:
        case t.Scalar(kind="sint" | "uint", bits=bits):
            return t.Scalar(kind, bits)
        case t.Vector(scalar=t.Scalar(kind="sint" | "uint", bits=bits), count=count):
            return t.Vector(t.Scalar(kind, bits), count)
    return type_


def _constant(type_: t.Type) -> t.Type:
    if isinstance(type_, t.Pointer):
        return t.Pointer(type_.pointee, type_.address_space, True, type_.volatile)
    return type_


def event_call(instruction: str, arguments: Sequence[Value]) -> tuple[str, list[Value]]:
    """The mangled OpenCL C function that is OpGroupAsyncCopy or OpGroupWaitEvents, and its arguments.

    The instruction's first operand, the scope, is the work-group's in each case.
    """
    operands = list(arguments[1:])
    if instruction == "GroupWaitEvents":
        count, events = (operand.type for operand in operands)
        assert isinstance(events, t.Pointer)
        return mangled("wait_group_events", [count, t.Pointer(t.EVENT, events.address_space)]), operands
    is_strided = operands[_STRIDE].handle != "1"
    if not is_strided:
        del operands[_STRIDE]
    types = [operand.type for operand in operands]
    types[_SOURCE] = _constant(types[_SOURCE])
    return mangled("async_work_group_strided_copy" if is_strided else "async_work_group_copy", types), operands


_SOURCE, _STRIDE = 1, 3  # among the arguments of an asynchronous copy

EVENT_INSTRUCTIONS = frozenset({"GroupAsyncCopy", "GroupWaitEvents"})
"""The instructions that are functions of OpenCL C for LLVM, too."""


# BuiltIn -> the OpenCL C function that reads it, and that function's result type.
WORK_ITEM_FUNCTIONS: dict[str, tuple[str, t.Scalar | t.Vector]] = {
    "GlobalInvocationId": ("get_global_id", t.SIZE_T),
    "LocalInvocationId": ("get_local_id", t.SIZE_T),
    "WorkgroupId": ("get_group_id", t.SIZE_T),
    "GlobalSize": ("get_global_size", t.SIZE_T),
    "WorkgroupSize": ("get_local_size", t.SIZE_T),
    "EnqueuedWorkgroupSize": ("get_enqueued_local_size", t.SIZE_T),
    "NumWorkgroups": ("get_num_groups", t.SIZE_T),
    "GlobalOffset": ("get_global_offset", t.SIZE_T),
    "GlobalLinearId": ("get_global_linear_id", t.SIZE_T),
    "LocalInvocationIndex": ("get_local_linear_id", t.SIZE_T),
    "WorkDim": ("get_work_dim", t.UINT),
    "SubgroupSize": ("get_sub_group_size", t.UINT),
    "SubgroupMaxSize": ("get_max_sub_group_size", t.UINT),
    "NumSubgroups": ("get_num_sub_groups", t.UINT),
    "NumEnqueuedSubgroups": ("get_enqueued_num_sub_groups", t.UINT),
    "SubgroupId": ("get_sub_group_id", t.UINT),
    "SubgroupLocalInvocationId": ("get_sub_group_local_id", t.UINT),
    **{f"Subgroup{name.capitalize()}Mask": (f"get_sub_group_{name}_mask", t.Vector(t.UINT, 4))
       for name in ("eq", "ge", "gt", "le", "lt")},
}
