"""The passes of a compilation for the CPU, in their order, from SPIR-V to LLVM IR that LLVM makes machine code of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from coopmat.diagnostics import Error
from coopmat.llvm.process import client
from coopmat.spirv.module import EntryPoint, Module
from coopmat.spirv.transform.matrix_functions import with_loops
from coopmat.targets.analysis.large_values import Prepared, prepared
from coopmat.targets.base.dump import dump
from coopmat.targets.cpu.features import CpuFeatures
from coopmat.targets.cpu.half_conversions import with_vector_conversions
from coopmat.targets.cpu.kernel import KernelCode, kernel_code, type_table
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.cpu.matrix.lowering import lower
from coopmat.targets.llvm.emitter import MOST_MEMORY
from coopmat.targets.llvm.kernel import flattened, traced

LEVEL = 3  # of LLVM's optimiser


def prepare(module: Module) -> Prepared:
    """A module with loops instead of functions of matrices, and with what its large values need; for all kernels."""
    return prepared(with_loops(module))


@dataclass
class Compilation:
    """A kernel on its way. stay_in_tiles: matrices live in AMX's tiles, not only while they are multiplied. code and
    ir: what the passes have made."""

    name: str
    prepared: Prepared
    entry: EntryPoint
    variant: Variant
    features: CpuFeatures
    stay_in_tiles: bool = True
    code: KernelCode = field(init=False)
    ir: str = ""

    @property
    def has_matrices(self) -> bool:
        """Whether there are operations on matrices."""
        return bool(self.code.matrices)

    def run(self) -> None:
        """Run all passes; COOPMAT_DUMP shows what they give."""
        for one in PASSES:
            if one.applies(self):
                one.run(self)
                if one.dump:
                    dump(self.name, one.dump, self.ir.encode)

    def by_llvm(self, emit: str) -> bytes:
        """What LLVM makes of the IR: "ir", "asm" or "object"."""
        return client.compile_for_host(self.ir, self.features.cpu, self.features.for_llvm, LEVEL, emit,
                                       source_name=f"kernel '{self.name}'")


def _emit(one: Compilation) -> None:
    """The kernel without calls, with variables instead of large values, as LLVM IR."""
    one.code = kernel_code(traced(flattened(one.prepared, one.entry, type_table(one.prepared, one.variant))), one.entry,
                           one.variant)
    one.ir = one.code.ir


def _optimize(one: Compilation) -> None:
    """LLVM's optimiser, which takes matrices for values of any kind."""
    one.ir = one.by_llvm("ir").decode()


def _lower_matrices(one: Compilation) -> None:
    """The form of matrices that the processor has: loops over components, tiles, large ones in memory."""
    one.ir, stack_bytes = lower(one.ir, one.code.matrices, one.features.used, stay_in_tiles=one.stay_in_tiles)
    one.code = replace(one.code, stack_bytes=one.code.stack_bytes + stack_bytes)
    if one.code.stack_bytes > MOST_MEMORY:
        raise Error(f"kernel '{one.name}' needs {one.code.stack_bytes} bytes for the variables and large matrices of a "
                    f"sub-group, more than {MOST_MEMORY >> 20} MiB; use smaller matrices")


def _convert_halves(one: Compilation) -> None:
    """Functions instead of conversions of fp16 vectors that the processor has no instructions for."""
    one.ir = with_vector_conversions(one.ir, one.features.used)


def _always(one: Compilation) -> bool:
    return True


class Pass(NamedTuple):
    """A step of a compilation. dump: the end of the name of the file that shows what it gives. applies: whether a
    kernel needs it."""

    run: Callable[[Compilation], None]
    dump: str = ""
    applies: Callable[[Compilation], bool] = _always


PASSES = (
    Pass(_emit, "ll"),
    Pass(_optimize, "optimized.ll", lambda one: one.has_matrices),
    Pass(_lower_matrices, "matrices.ll", lambda one: one.has_matrices),
    Pass(_convert_halves),
)
