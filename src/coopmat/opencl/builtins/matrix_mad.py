"""Intel's sub-group matrix functions and the conversions to tf32 and bfloat16.

cl_intel_subgroup_matrix_multiply_accumulate, cl_intel_subgroup_matrix_multiply_accumulate_tf32 and
cl_intel_bfloat16_conversions. The matrix functions exist for one sub-group size each;
:func:`check` compares it with what the device has and what the kernels require.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coopmat.devices import DeviceDescription
from coopmat.devices.subgroup_matrices import B_COMPONENTS, M_SIZES, SUBGROUP_MATRIX_MADS, SubgroupMatrixMad
from coopmat.diagnostics import DiagnosticSink
from coopmat.opencl.builtins.patterns import COUNTS, Build, BuiltinCall, Row
from coopmat.opencl.messages import builtins as messages
from coopmat.tree.nodes import Call, Constant, Expression, Function, Operation, Program
from coopmat.tree.types import FLOAT, HALF, INT, SHORT, Scalar
from coopmat.tree.walk import descendants

INSTRUCTION = "core.SubgroupMatrixMultiplyAccumulateINTEL"

_ACCUMULATORS = {"sint32": INT, "fp32": FLOAT, "fp16": HALF, "bf16": SHORT}
"""The OpenCL C types of accumulators; bfloat16 is kept in short."""


def _storage(fmt: str, bits: int) -> str:
    """The scalar type in which elements of A or B are packed: unsigned integers in an unsigned one."""
    if fmt == "tf32":
        return "float"
    return str(Scalar("uint" if fmt.startswith("uint") else "sint", bits))


def multiply_accumulate(mad: SubgroupMatrixMad) -> Build:
    """The instruction with K and the operand bits of one combination."""
    def build(call: BuiltinCall) -> Expression:
        return call.operation(INSTRUCTION, call.constant(mad.k), *call.arguments, literals=(mad.operands,))
    return build


def _row(mad: SubgroupMatrixMad, m: int) -> Row:
    components = mad.a_components(m)
    a = _storage(mad.a, mad.a_bits) + (str(components) if components > 1 else "")
    b = f"{_storage(mad.b, 32)}{B_COMPONENTS}"
    return Row(mad.name, f"gen({a}, {b}, gen)", multiply_accumulate(mad), (_ACCUMULATORS[mad.accumulator],), (m,),
               (mad.extension,))


COMBINATIONS: dict[Row, SubgroupMatrixMad] = {_row(mad, m): mad for mad in SUBGROUP_MATRIX_MADS for m in M_SIZES}
MATRIX_MADS = tuple(COMBINATIONS)
"""The 92 overloads, and the combination that each one is for."""

_TF32, _BFLOAT16 = ("cl_intel_subgroup_matrix_multiply_accumulate_tf32",), ("cl_intel_bfloat16_conversions",)

CONVERSIONS = (
    Row("intel_convert_tfloat32{n}_as_float{n}", "gen(gen)", "core.RoundFToTF32INTEL", (FLOAT,), COUNTS, _TF32),
    Row("intel_convert_bfloat16{n}_as_ushort{n}", "ushortn(gen)", "core.ConvertFToBF16INTEL", (FLOAT,), COUNTS,
        _BFLOAT16),
    Row("intel_convert_as_bfloat16{n}_float{n}", "gen(ushortn)", "core.ConvertBF16ToFINTEL", (FLOAT,), COUNTS,
        _BFLOAT16),
)
"""All round to nearest even."""

ROWS = (*MATRIX_MADS, *CONVERSIONS)

# ------------------------------------------------------------------ sub-group sizes

_BY_OPERANDS = {(mad.k, mad.operands, mad.a_bits, _ACCUMULATORS[mad.accumulator]): mad
                for mad in SUBGROUP_MATRIX_MADS}


def _combination(node: Operation) -> SubgroupMatrixMad:
    """The row of the table that an instruction was made from."""
    k, a = node.arguments[:2]
    assert isinstance(k, Constant)
    assert isinstance(a.type.element, Scalar)
    assert isinstance(node.type.element, Scalar)
    return _BY_OPERANDS[int(k.value), node.literals[0], a.type.element.bits, node.type.element]


def check(program: Program, sink: DiagnosticSink, device: DeviceDescription) -> None:
    """Report matrix functions on a device, or reached from a kernel, with another sub-group size.

    The documents leave the behaviour undefined. A kernel that requires no size gets a warning: the
    simulator checks the size at run time.
    """
    nodes = {function: [node for node in descendants(function.body) if isinstance(node, (Call, Operation))]
             for function in program.functions if function.body is not None}
    kernels = _kernels_by_function(program, nodes)
    for function in nodes:
        for node in _matrix_mads(nodes[function]):
            needed = _combination(node).sub_group_size
            if needed not in device.xmx_sub_group_sizes:
                sink.report(messages.WRONG_DEVICE, node.location, name=_combination(node).name, needed=needed,
                            device=device.name, available=" and ".join(map(str, device.xmx_sub_group_sizes)))
                continue
            for kernel in kernels.get(function, ()):
                _check_kernel(sink, node, kernel)


def _check_kernel(sink: DiagnosticSink, node: Operation, kernel: Function) -> None:
    mad, found = _combination(node), kernel.required_sub_group_size
    if found is None:
        sink.report(messages.NO_SUB_GROUP_SIZE, node.location, name=mad.name, needed=mad.sub_group_size,
                    kernel=kernel.name)
    elif found != mad.sub_group_size:
        sink.report(messages.WRONG_SUB_GROUP_SIZE, node.location, name=mad.name, needed=mad.sub_group_size,
                    kernel=kernel.name, found=found)


def _matrix_mads(nodes: Iterable[Call | Operation]) -> Iterator[Operation]:
    return (node for node in nodes if isinstance(node, Operation) and node.name == INSTRUCTION)


def _kernels_by_function(program: Program,
                         nodes: dict[Function, list[Call | Operation]]) -> dict[Function, list[Function]]:
    """For each function the kernels that call it, directly or not, or that it is."""
    callees = {function: [node.function for node in found if isinstance(node, Call)]
               for function, found in nodes.items()}
    kernels: dict[Function, list[Function]] = {}
    for kernel in program.kernels:
        waiting = [kernel]
        while waiting:
            function = waiting.pop()
            reaching = kernels.setdefault(function, [])
            if kernel not in reaching[-1:]:  # else it has been here
                reaching.append(kernel)
                waiting += callees.get(function, ())
    return kernels
