"""From a kernel to PTX: the passes of a compilation for an NVIDIA GPU."""

from __future__ import annotations

import re

from coopmat.diagnostics import Error
from coopmat.llvm.process import client
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import EntryPoint, Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.matrix_functions import is_straight, with_loops
from coopmat.spirv.transform.without_variables import with_values
from coopmat.targets.analysis.large_values import Prepared, prepared
from coopmat.targets.base.dump import dump
from coopmat.targets.cuda import library
from coopmat.targets.cuda.chips import TRIPLE
from coopmat.targets.cuda.kernel import KernelCode, kernel_code, pipelined_code, type_table
from coopmat.targets.cuda.lanes import Variant
from coopmat.targets.cuda.work_groups.pipeline import NoSchedule
from coopmat.targets.llvm.kernel import flattened, traced
from coopmat.targets.llvm.threads.launch import BlockFull

LEVEL = 3  # of LLVM's optimiser


def prepare(module: Module) -> Prepared:
    """A module after the passes that are for all of its kernels."""
    if has_work_group_matrices(module):  # a schedule is made of values
        values = with_values(module)
        return prepared(with_values(with_loops(values, is_straight(values))))
    return prepared(with_loops(module, is_straight(module)))


def has_work_group_matrices(module: Module) -> bool:
    """Whether there are matrices that work-groups share."""
    return any(_is_of_work_group(module, row) for row in module.of_opcode(Op.TypeCooperativeMatrixKHR))


def _is_of_work_group(module: Module, row: Instruction) -> bool:
    scope = module.definition(row.words[1])
    return scope.opcode == Op.Constant and scope.words[0] == Scope.Workgroup


def to_ir(given: Prepared, entry: EntryPoint, variant: Variant) -> KernelCode:
    """A kernel as LLVM IR. NoSchedule, with the reason, if it has no pipeline of the variant's kind."""
    origins = traced(flattened(given, entry, type_table(given, entry, variant)))
    if variant.pipeline == "none":
        code = kernel_code(origins, entry, variant)
    else:
        try:
            code = pipelined_code(origins, entry, variant)
        except BlockFull as error:  # of tensor maps
            raise NoSchedule(f"with its tensor maps {error}") from None
    dump(entry.name, "ll", code.ir.encode)
    return code


def to_ptx(code: KernelCode, kernel: str, variant: Variant) -> str:
    """What LLVM makes of a kernel's IR."""
    libraries = (str(library.path()),) if f"@{library.PREFIX}" in code.ir else ()
    chip = variant.chip.name
    found = client.compile(code.ir, TRIPLE, chip, variant.chip.features, LEVEL, "asm", libraries=libraries,
                           joins_phis=variant.pipeline != "none", source_name=f"kernel '{kernel}' for {chip}").decode()
    dump(kernel, "ptx", found.encode)
    missing = re.findall(r"^\.extern \.func .*?([\w.$]+)\s*(?:\(|$)", found, re.MULTILINE)
    if missing:  # an intrinsic that LLVM does not know is a call to it
        raise Error(f"kernel '{kernel}': {chip} has no {', '.join(missing)}")
    return found
