"""Extended instructions: those of OpenCL.std that GLSL.std.450 has, too."""

from __future__ import annotations

from coopmat.spirv.analysis.types import Type, VectorType
from coopmat.spirv.grammar import EXTENDED_INSTRUCTIONS, Op, extended_names
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions import printing
from coopmat.spirv.transform.to_vulkan.instructions.composites import operand_types
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import LONGEST, is_long
from coopmat.spirv.transform.to_vulkan.writer import GLSL

DIRECT = {
    "fma": "Fma", "floor": "Floor", "ceil": "Ceil", "trunc": "Trunc", "rint": "RoundEven", "fabs": "FAbs",
    "fmin": "NMin", "fmax": "NMax", "fclamp": "NClamp", "fmin_common": "NMin", "fmax_common": "NMax", "step": "Step",
    "rsqrt": "InverseSqrt", "native_exp": "Exp", "native_exp2": "Exp2", "native_log": "Log", "native_log2": "Log2",
    "native_powr": "Pow", "native_sin": "Sin", "native_cos": "Cos", "native_tan": "Tan", "native_sqrt": "Sqrt",
    "native_rsqrt": "InverseSqrt", "half_exp": "Exp", "half_exp2": "Exp2", "half_sqrt": "Sqrt",
    "half_rsqrt": "InverseSqrt", "s_abs": "SAbs", "s_min": "SMin", "s_max": "SMax", "u_min": "UMin", "u_max": "UMax",
    "s_clamp": "SClamp", "u_clamp": "UClamp",
}
"""OpenCL.std → GLSL.std.450, one for one, where what Vulkan promises of it (Vulkan specification, "Precision and
Operation of SPIR-V Instructions") is within OpenCL's bounds; the pass ``opencl-std`` replaces the others."""
_WIDTHS: dict[str, tuple[str, ...]] = {
    **{name: (".f32",) for name in DIRECT if name.startswith(("native_", "half_")) or name == "rsqrt"},
    "fma": (".f32", ".f64"),  # of fp16, lavapipe rounds the product
    **dict.fromkeys(("floor", "ceil", "trunc", "rint"), (".f16", ".f32")),  # of fp64, lavapipe leaves large numbers
}
"""Those that are translated only for some types of numbers."""


def _extended(t: Translation, row: Instruction) -> None:
    set_name = t.module.instruction_sets.get(row.words[0], "")
    name = extended_names(set_name).get(row.words[1], "") if set_name in EXTENDED_INSTRUCTIONS else ""
    if set_name == GLSL:
        _copied(t, row, name)
    elif printing.is_printf(row):
        printing.printf(t, row)
    elif set_name == "OpenCL.std" and name in DIRECT:
        _copied(t, row, DIRECT[name])
    elif set_name == "OpenCL.std" and name in COMPOSED:
        COMPOSED[name](t, row)
    elif not set_name.startswith("NonSemantic."):
        raise t.refuse(f"{set_name} {name}")


def _copied(t: Translation, row: Instruction, name: str) -> None:
    kind, operands = t.result_type(row), row.words[2:]
    if not is_long(kind):
        t.writer.glsl(name, kind, *(t.value(word) for word in operands), result=t.result(row))
        return
    part = VectorType(kind.scalar, LONGEST)
    kinds: dict[int, Type] = operand_types(t, row)
    found = []
    for index in range(kind.count // LONGEST):
        words = [t.writer.extract(VectorType(kinds[place].scalar, LONGEST), t.value(word), index)
                 if is_long(kinds[place]) else t.value(word) for place, word in enumerate(operands, 2)]
        found.append(t.writer.glsl(name, part, *words))
    t.define(row, t.writer.construct(kind, found))


def _mad(t: Translation, row: Instruction) -> None:
    a, b, c = (t.value(word) for word in row.words[2:])
    kind = t.result_type(row)
    if is_long(kind):
        _copied(t, row, "Fma")
        return
    product = t.writer.op(Op.FMul, kind, a, b)
    t.writer.op(Op.FAdd, kind, product, c, result=t.result(row))


COMPOSED: dict[str, Handler] = {"mad": _mad}

KEPT = frozenset(name + width for name in (*DIRECT, *COMPOSED) for width in _WIDTHS.get(name, ("",)))
"""The functions that are translated here."""

HANDLERS: dict[int, Handler] = {Op.ExtInst: _extended}
