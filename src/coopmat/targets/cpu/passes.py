"""The passes of a compilation for the CPU, in their order, from the module to machine code.

:data:`MODULE_PASSES` are for all kernels of a module, :data:`TO_IR` and :data:`TO_MACHINE_CODE` for a variant of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from coopmat.diagnostics import CompileError, Error
from coopmat.llvm.process import client
from coopmat.spirv.module import EntryPoint, Module
from coopmat.spirv.transform.matrix_functions import with_loops
from coopmat.targets.analysis.flatten import Flat
from coopmat.targets.analysis.large_values import Prepared, prepared
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.base.dump import dump
from coopmat.targets.cpu.block_values import MOST_IN_VALUES
from coopmat.targets.cpu.features import CpuFeatures
from coopmat.targets.cpu.frame import MOST_MEMORY
from coopmat.targets.cpu.half_conversions import with_vector_conversions
from coopmat.targets.cpu.kernel import KernelCode, kernel_code, type_table
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.cpu.matrix.functions import RowFunctions
from coopmat.targets.cpu.matrix.lowering import lower
from coopmat.targets.cpu.matrix.work_groups import is_shared
from coopmat.targets.cpu.rounds import in_full_rounds, with_values
from coopmat.targets.llvm.kernel import flattened, traced

LEVEL = 3  # of LLVM's optimiser

# --------------------------------------------------------------------------------------
# A module
# --------------------------------------------------------------------------------------


def prepare(module: Module, sub_group_size: int, *, is_merged: bool) -> Prepared:
    """A module after the passes that are for all of its kernels. ``is_merged``: its work-groups are merged."""
    found = Prepared(with_loops(module, RowFunctions(module, sub_group_size).takes) if is_merged
                     else with_loops(module))
    for one in MODULE_PASSES:
        found = one(found)
    return found


def _replace_variables(given: Prepared) -> Prepared:
    """Values instead of variables, where loops need that (rounds.py)."""
    return Prepared(with_values(given.module))


def _prepare_large_values(given: Prepared) -> Prepared:
    """The declarations that variables instead of large values need."""
    return prepared(given.module)



# --------------------------------------------------------------------------------------
# A kernel
# --------------------------------------------------------------------------------------


@dataclass
class Compilation:
    """A kernel on its way. prepared: its module. emit: what LLVM makes in the end: "object", "asm", or nothing if the
    IR is all that is wanted.

    What the passes have made: the kernel without calls, what is known of its pointers, its code, the IR at hand, and
    what LLVM made. stay_in_tiles: matrices live in AMX's tiles, not only while they are multiplied. uses_tiles: there
    are such matrices in the IR, or multiplications of them.
    """

    name: str
    prepared: Prepared
    entry: EntryPoint
    variant: Variant
    features: CpuFeatures
    emit: str = ""
    flat: Flat = field(init=False)
    origins: Origins = field(init=False)
    code: KernelCode = field(init=False)
    ir: str = ""
    made: bytes = b""
    stay_in_tiles: bool = True
    uses_tiles: bool = False

    @property
    def has_matrices(self) -> bool:
        """Whether there are operations on matrices."""
        return bool(self.code.matrices)

    def run(self) -> None:
        """Run all passes; COOPMAT_DUMP shows what they give.

        Where more matrices are in use than there are tiles, LLVM may find no place for some, or break down: then they
        are in tiles only while they are multiplied.
        """
        self._run(TO_IR)
        code, ir = self.code, self.ir
        try:
            self._run(TO_MACHINE_CODE)
        except CompileError:
            if not self.uses_tiles:
                raise
            self.code, self.ir, self.stay_in_tiles = code, ir, False
            self._run(TO_MACHINE_CODE)

    def _run(self, passes: tuple[Pass, ...]) -> None:
        for one in passes:
            if one.applies(self):
                one.run(self)
                if one.dump:
                    dump(self.name, one.dump, partial(one.shown, self))

    def by_llvm(self, emit: str) -> bytes:
        """What LLVM makes of the IR: "ir", "asm" or "object"."""
        return client.compile_for_host(self.ir, self.features.cpu, self.features.for_llvm, LEVEL, emit,
                                       source_name=f"kernel '{self.name}'")


def _flatten(one: Compilation) -> None:
    """The kernel without calls, with variables instead of large values."""
    one.flat = flattened(one.prepared, one.entry, type_table(one.prepared, one.entry, one.variant))


def _split_loops(one: Compilation) -> None:
    """Loops in which all work-items are, before those that some leave earlier."""
    one.flat = in_full_rounds(one.flat)


def _trace(one: Compilation) -> None:
    """How its pointers are used, and where they come from."""
    one.origins = traced(one.flat, lambda kind: is_shared(kind, one.variant.sub_group_size),
                         MOST_IN_VALUES)


def _write(one: Compilation) -> None:
    """The kernel as LLVM IR; written again until what varies between work-items is settled."""
    one.code = kernel_code(one.origins, one.entry, one.variant)
    one.ir = one.code.ir


def _optimize(one: Compilation) -> None:
    """LLVM's optimiser, which takes matrices for values of any kind."""
    one.ir = one.by_llvm("ir").decode()


def _lower_matrices(one: Compilation) -> None:
    """The form of matrices that the processor has: loops over components, tiles, large ones in memory."""
    one.ir, stack_bytes, one.uses_tiles, notes = lower(one.ir, one.code.matrices, one.features.used,
                                                       stay_in_tiles=one.stay_in_tiles)
    one.code = replace(one.code, stack_bytes=one.code.stack_bytes + stack_bytes,
                       notes=(*one.code.notes, *notes))
    if one.code.stack_bytes > MOST_MEMORY:
        raise Error(f"kernel '{one.name}' needs {one.code.stack_bytes} bytes for the variables and large matrices of a "
                    f"sub-group, more than {MOST_MEMORY >> 20} MiB; use smaller matrices")


def _convert_halves(one: Compilation) -> None:
    """Functions instead of conversions of fp16 vectors that the processor has no instructions for."""
    one.ir = with_vector_conversions(one.ir, one.features.used)


def _generate(one: Compilation) -> None:
    """LLVM's optimiser and code generator."""
    one.made = one.by_llvm(one.emit)


# --------------------------------------------------------------------------------------
# The lists
# --------------------------------------------------------------------------------------


def _always(one: Compilation) -> bool:
    return True


def _has_matrices(one: Compilation) -> bool:
    return one.has_matrices


def _has_no_matrices(one: Compilation) -> bool:
    return not one.has_matrices


def _ir(one: Compilation) -> bytes:
    return one.ir.encode()


class Pass(NamedTuple):
    """A step of a compilation. dump: the end of the name of the file that shows what it gives. applies: whether a
    kernel needs it. shown: what that file holds."""

    run: Callable[[Compilation], None]
    dump: str = ""
    applies: Callable[[Compilation], bool] = _always
    shown: Callable[[Compilation], bytes] = _ir


MODULE_PASSES: tuple[Callable[[Prepared], Prepared], ...] = (
    _replace_variables, _prepare_large_values)
"""The passes of a module, behind that which puts loops in the place of functions of matrices."""
TO_IR = (
    Pass(_flatten),
    Pass(_split_loops),
    Pass(_trace),
    Pass(_write, "ll"),
    Pass(_optimize, "optimized.ll", _has_matrices),
)
"""The passes of a kernel and variant that run once."""
TO_MACHINE_CODE = (
    Pass(_lower_matrices, applies=_has_matrices),
    Pass(_convert_halves, "matrices.ll", _has_matrices),
    Pass(_convert_halves, "ll", _has_no_matrices),
    Pass(_generate, "asm", lambda one: one.emit == "object", shown=lambda one: one.by_llvm("asm")),
    Pass(_generate, applies=lambda one: one.emit == "asm"),
)
"""The passes after them; they run again where LLVM finds no place for all matrices that live in tiles."""
