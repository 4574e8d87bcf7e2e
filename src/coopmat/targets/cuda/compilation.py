"""From a kernel to PTX: the passes of a compilation for an NVIDIA GPU."""

from __future__ import annotations

import re

from coopmat.diagnostics import Error
from coopmat.llvm.process import client
from coopmat.spirv.module import EntryPoint, Module
from coopmat.spirv.transform.matrix_functions import with_loops
from coopmat.targets.analysis.large_values import Prepared, prepared
from coopmat.targets.base.dump import dump
from coopmat.targets.cuda import library
from coopmat.targets.cuda.chips import TRIPLE
from coopmat.targets.cuda.kernel import KernelCode, kernel_code, type_table
from coopmat.targets.cuda.lanes import Variant
from coopmat.targets.llvm.kernel import flattened, traced

LEVEL = 3  # of LLVM's optimiser


def prepare(module: Module) -> Prepared:
    """A module after the passes that are for all of its kernels."""
    return prepared(with_loops(module))


def to_ir(given: Prepared, entry: EntryPoint, variant: Variant) -> KernelCode:
    """A kernel as LLVM IR."""
    code = kernel_code(traced(flattened(given, entry, type_table(given, variant))), entry, variant)
    dump(entry.name, "ll", code.ir.encode)
    return code


def to_ptx(code: KernelCode, kernel: str, variant: Variant) -> str:
    """What LLVM makes of a kernel's IR."""
    libraries = (str(library.path()),) if f"@{library.PREFIX}" in code.ir else ()
    found = client.compile(code.ir, TRIPLE, variant.chip.name, variant.chip.features, LEVEL, "asm",
                           libraries=libraries, source_name=f"kernel '{kernel}'").decode()
    dump(kernel, "ptx", found.encode)
    missing = re.findall(r"^\.extern \.func .*?(\w+)\s*(?:\(|$)", found, re.MULTILINE)
    if missing:  # an intrinsic that LLVM does not know is a call to it
        raise Error(f"kernel '{kernel}': {variant.chip.name} has no {', '.join(missing)}")
    return found
