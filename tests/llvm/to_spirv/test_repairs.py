"""What LLVM's SPIR-V back end gets wrong about opaque types, and how the IR and the binary are mended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat import llvm
from coopmat.llvm.to_spirv.repairs import null_events_from_memory, without_surplus_operands
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module

EVENT = 'target("spirv.Event")'
COPY = "_Z21async_work_group_copyPU3AS3iPU3AS1Kim9ocl_event"
WAIT = "_Z17wait_group_eventsiP9ocl_event"
DECLARATIONS = f"""
declare spir_func {EVENT} @{COPY}(ptr addrspace(3), ptr addrspace(1), i64, {EVENT})
declare spir_func void @{WAIT}(i32, ptr)
"""

LOOP = f"""define spir_kernel void @k(ptr addrspace(3) %to, ptr addrspace(1) %from, i32 %n) {{
entry:
  %events = alloca [2 x {EVENT}], align 8
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %event = phi {EVENT} [ zeroinitializer, %entry ], [ %copied, %loop ]
  %copied = call spir_func {EVENT} @{COPY}(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 4, {EVENT} %event)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %last = phi {EVENT} [ %copied, %loop ]
  store {EVENT} %last, ptr %events, align 8
  call spir_func void @{WAIT}(i32 2, ptr %events)
  ret void
}}
"""


def opcodes(ir: str) -> list[Op]:
    (function,) = Module.from_bytes(llvm.to_spirv(ir + DECLARATIONS)).functions
    return [Op(row.opcode) for block in function.blocks for row in block.instructions]


@pytest.mark.parametrize("entry", ["entry:\n", "\n", "; a comment\nentry: ; and another\n"])
def test_phis_get_the_null_event_from_memory(entry: str) -> None:
    source = LOOP.replace("entry:\n", entry)
    if not entry.strip():
        source = source.replace("%entry ]", "%0 ]")
    found = opcodes(source)
    assert found.count(Op.Phi) >= 2
    assert found.count(Op.GroupAsyncCopy) == found.count(Op.GroupWaitEvents) == 1


def test_each_function_gets_one_null_event() -> None:
    mended = null_events_from_memory(LOOP + LOOP.replace("@k", "@l").replace(
        "%last = phi", f"%other = phi {EVENT} [ zeroinitializer, %loop ]\n  %last = phi"))
    assert mended.count('%"null event" = load') == 2
    assert mended.count('[ %"null event", %') == 3
    assert mended.index("define spir_kernel void @l") < mended.rindex('%"null event" = load')


def test_other_modules_are_left_alone() -> None:
    ir = "define void @f() {\n  ret void\n}\n"
    assert null_events_from_memory(ir) is ir


def test_an_array_of_events_stays_one() -> None:
    module = Module.from_bytes(llvm.to_spirv(LOOP + DECLARATIONS))
    (variable,) = [row for block in module.functions[0].blocks for row in block.instructions
                   if row.opcode == Op.Variable and module.definition(module.definition(row.type_id).words[1]).opcode
                   == Op.TypeArray]
    assert variable.words == (7,)


def test_surplus_operands_go() -> None:
    """A null constant of three words, one with an operand for each of two further uses, and what is around them."""
    head = [0x07230203, 0x00010400, 0, 9, 0]
    words = [*head, 3 << 16 | Op.ConstantNull, 1, 2, 5 << 16 | Op.ConstantNull, 3, 4, 3, 3, 1 << 16 | Op.FunctionEnd]
    expected = [*head, 3 << 16 | Op.ConstantNull, 1, 2, 3 << 16 | Op.ConstantNull, 3, 4, 1 << 16 | Op.FunctionEnd]
    assert without_surplus_operands(np.array(words, "<u4").tobytes()) == np.array(expected, "<u4").tobytes()


def test_a_null_event_may_be_used_often() -> None:
    calls = "".join(f"  %e{i} = call spir_func {EVENT} @{COPY}(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 4, "
                    f"{EVENT} zeroinitializer)\n" for i in range(3))
    found = opcodes("define spir_kernel void @k(ptr addrspace(3) %to, ptr addrspace(1) %from) {\n" + calls
                    + "  ret void\n}\n")
    assert found.count(Op.GroupAsyncCopy) == 3


MATRIX = 'target("spirv.CooperativeMatrixKHR", i32, 3, 8, 16, 2)'
MATRIX_LOAD = "_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1i.s32_sc3_8x16_u2"
MATRIX_STORE = "_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1i.s32_sc3_8x16_u2"
UNDEFINED = f"""target triple = "spirv64-unknown-unknown"
declare spir_func void @{MATRIX_STORE}(ptr addrspace(1), {MATRIX}, i32, i64)
declare spir_func {MATRIX} @{MATRIX_LOAD}(ptr addrspace(1), i32, i64)
define spir_kernel void @k(ptr addrspace(1) %a, i32 %n) {{
entry:
  %is.zero = icmp eq i32 %n, 0
  br i1 %is.zero, label %end, label %some
some:
  %loaded = call spir_func {MATRIX} @{MATRIX_LOAD}(ptr addrspace(1) %a, i32 0, i64 16)
  br label %end
end:
  %matrix = phi {MATRIX} [ undef, %entry ], [ %loaded, %some ]
  %address = getelementptr i32, ptr addrspace(1) %a, i64 128
  call spir_func void @{MATRIX_STORE}(ptr addrspace(1) %address, {MATRIX} %matrix, i32 0, i64 16)
  ret void
}}
"""


def test_an_undefined_matrix_in_a_phi(tmp_path: Path) -> None:
    """LLVM's back end gives it an undefined integer."""
    path = tmp_path / "k.ll"
    path.write_text(UNDEFINED)
    program = cm.build(path)
    module = Module.from_bytes(program.spirv)
    assert [module.definition(row.type_id or 0).opcode for row in module.of_opcode(Op.Undef)
            ].count(Op.TypeCooperativeMatrixKHR) == 1
    assert not [one for one in module.validate() if one.severity == "error"]
    for device in ("sim:generic", "cpu"):
        a = np.arange(2 * 128, dtype=np.int32)
        cm.Queue(device).enqueue(program.kernel("k"), 16, 16, a, np.int32(3)).wait()
        np.testing.assert_array_equal(a, np.tile(np.arange(128), 2))
