"""IEEE fused multiply-adds in float64, which numpy does not have: one function, compiled for this processor by LLVM.

The code is the text below and nothing else, so that LLVM runs in this process without risk. It is compiled at the first
use. On a processor without the instruction, LLVM calls the C library's ``fma``, which rounds once as well.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from coopmat.support.native import NativeCode

Array = NDArray[np.float64]

# c[j] = a[i, j] * b[i, j] + c[j] for all j < elements, and for i = 0, 1, … < count
_SOURCE = """
declare double @llvm.fma.f64(double, double, double)

define void @chain(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %count, i64 %elements) {
entry:
  br label %step
step:
  %i = phi i64 [ 0, %entry ], [ %next.i, %step.end ]
  %row = mul i64 %i, %elements
  %more = icmp ult i64 %i, %count
  br i1 %more, label %element, label %end
element:
  %j = phi i64 [ 0, %step ], [ %next.j, %element ]
  %at = add i64 %row, %j
  %a.at = getelementptr double, ptr %a, i64 %at
  %b.at = getelementptr double, ptr %b, i64 %at
  %c.at = getelementptr double, ptr %c, i64 %j
  %x = load double, ptr %a.at
  %y = load double, ptr %b.at
  %z = load double, ptr %c.at
  %sum = call double @llvm.fma.f64(double %x, double %y, double %z)
  store double %sum, ptr %c.at
  %next.j = add i64 %j, 1
  %last = icmp eq i64 %next.j, %elements
  br i1 %last, label %step.end, label %element
step.end:
  %next.i = add i64 %i, 1
  br label %step
end:
  ret void
}
"""


def fused_chain(a: Array, b: Array, c: Array) -> Array:
    """``c`` plus the products ``a[k] * b[k]``, one after the other, each step rounded once.

    a and b broadcast to [K, *c.shape]. Which NaN comes out is the processor's choice.
    """
    shape = (len(a), *c.shape)
    result = np.array(c, order="C")
    if result.size:
        factors = [np.ascontiguousarray(np.broadcast_to(x, shape)) for x in (a, b)]
        _chain()(*(x.ctypes.data for x in (*factors, result)), len(a), result.size)
    return result


@cache
def _chain() -> Callable[..., None]:
    """The compiled function: the addresses of a, b and c, the number of steps and that of elements."""
    import llvmlite.binding as llvm  # takes as long as coopmat itself

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, reloc="pic")
    module = llvm.parse_assembly(_SOURCE)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    code = NativeCode(machine.emit_object(module))
    function = code.function("chain", *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)

    def chain(*given: int, _code: NativeCode = code) -> None:  # which owns the function
        function(*given)

    return chain
