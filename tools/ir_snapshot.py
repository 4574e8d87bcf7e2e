"""What is compiled of every test kernel, example, test program and some random kernels, as files in a folder.

    python tools/ir_snapshot.py FOLDER [--random N]

Of each kernel the LLVM IR for the CPU, before and after matrices get the hardware's form, for processors with and
without AMX and AVX, for whole and partial sub-groups, with checked accesses, and with a null pointer; of a few matrix
kernels for sub-groups of every size and with every ``numerics``, too; of each source in OpenCL C the SPIR-V and the
LLVM IR of both builders. Two folders, of a change's parent and of the change in one place, show what it makes
different: ``diff -r``.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import coopmat as cm  # noqa: E402
from coopmat.devices import CPU  # noqa: E402
from coopmat.numerics.hardware import ROWS  # noqa: E402
from coopmat.runtime.executable import executable  # noqa: E402
from coopmat.spirv.module import Module  # noqa: E402
from coopmat.targets.cpu.features import CpuFeatures  # noqa: E402
from coopmat.targets.cpu.options import EXACT, HARDWARE, CpuOptions  # noqa: E402
from coopmat.targets.cpu.program import CpuProgram  # noqa: E402
from tests.kit.cases import CASES  # noqa: E402
from tests.kit.fuzz import generator, kernels_for_targets, modelled_matrices  # noqa: E402
from tests.kit.paths import EXAMPLES  # noqa: E402

AVX2 = frozenset({"avx", "avx2", "fma", "f16c"})
AVX512 = AVX2 | {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512vnni", "avx512bf16"}
LEVELS = {
    "amx": ("sapphirerapids", AVX512 | {"avx512fp16", "amx-tile", "amx-int8", "amx-bf16"}),
    "avx512": ("icelake-server", AVX512),
    "avx2": ("haswell", AVX2),
    "baseline": ("x86-64", frozenset()),
}
PARTIAL = (5, 3, 1)  # a work-group of no whole sub-groups
GENERATORS = (generator, kernels_for_targets, modelled_matrices)
SIGNED = "char", "int"
PRODUCTS = (("half", "float"), ("half", "half"), ("__bf16", "float"), ("float", "float"), ("double", "double"))
NUMERICS = (HARDWARE, EXACT, *ROWS)


def snapshot(folder: Path, seeds: int) -> None:
    """Write all files."""
    for name, module in (*_cases(folder), *_programs(), *_random(seeds), *_sub_group_sizes()):
        for bounds in (False, True):
            _compile(folder / name, module, CpuOptions(bounds=bounds), ".checked" if bounds else "")
    for types in PRODUCTS:
        module = _gemm(types)
        for numerics in NUMERICS:
            _compile(folder / _name(types), module, CpuOptions(numerics=numerics), f".{numerics}")


def _compile(folder: Path, module: Module, options: CpuOptions, label: str) -> None:
    """Write a module's kernels for all processors."""
    for level, (cpu, features) in LEVELS.items():
        try:
            program = CpuProgram(executable(module), CpuFeatures(cpu, features, features), options)
        except cm.Error as error:
            _write(folder / f"{level}{label}.ll", f"error: {error}\n")
            continue
        for kernel, text in _compiled(program):
            _write(folder / f"{kernel}.{level}{label}.ll", text)


def _cases(folder: Path) -> Iterator[tuple[str, Module]]:
    """The test kernels and examples in OpenCL C; writes what the two builders make of them."""
    for source, options in dict.fromkeys((case.source, case.options) for case in CASES):
        name = source.stem + "".join(re.sub(r"\W", "_", option) for option in options)
        program = cm.build(source, options)
        _write(folder / name / "module.spvasm", program.spirv_asm)
        _write(folder / name / "module.ll", program.llvm_ir)
        yield name, program.module


def _programs() -> Iterator[tuple[str, Module]]:
    """What the test programs, in both languages, and the examples in Python launch on the CPU."""
    found: dict[bytes, Module] = {}
    constructor = CpuProgram.__init__

    def recording(self: CpuProgram, module: Module, *arguments: object, **keywords: object) -> None:
        found.setdefault(module.to_bytes(), module)
        constructor(self, module, *arguments, **keywords)  # type: ignore[arg-type]

    CpuProgram.__init__ = recording  # type: ignore[method-assign]
    try:
        for file in sorted((ROOT / "tests/programs").glob("*.py")):
            if not file.stem.startswith("test_"):
                importlib.import_module(f"tests.programs.{file.stem}").check(cm.device("cpu"), 16, 16, 16)
        for file in sorted(EXAMPLES.glob("joint_matrix_*.py")):
            with contextlib.redirect_stdout(io.StringIO()):
                importlib.import_module(f"examples.{file.stem}").main(["cpu"])
    finally:
        CpuProgram.__init__ = constructor  # type: ignore[method-assign]
    for number, module in enumerate(found.values()):
        yield f"program-{number}", module


def _sub_group_sizes() -> Iterator[tuple[str, Module]]:
    """Products of matrices for sub-groups of other sizes than the CPU's own."""
    for types in (SIGNED, *PRODUCTS):
        for size in CPU.sub_group_sizes[1:]:
            yield f"{_name(types)}-{size}", _gemm(types, f"-DSUB_GROUP_SIZE={size}")


def _name(types: tuple[str, str]) -> str:
    return f"gemm-{'-'.join(types)}"


def _gemm(types: tuple[str, str], *options: str) -> Module:
    """examples/gemm.cl for element types."""
    flags = () if types == SIGNED else (f"-DIN={types[0]}", f"-DOUT={types[1]}")
    return cm.build(EXAMPLES / "gemm.cl", (*flags, *options)).module


def _random(seeds: int) -> Iterator[tuple[str, Module]]:
    for one in GENERATORS:
        for seed in range(seeds):
            made = one.generate(seed)
            yield f"{one.__name__.split('.')[-1]}-{seed}", cm.build(made.source, getattr(made, "options", ())).module


def _compiled(program: CpuProgram) -> Iterator[tuple[str, str]]:
    """The IR of a program's kernels, of each for two sizes of work-groups, and with null for its first pointer."""
    for name, signature in program.signatures.items():
        size = signature.sub_group_size or 16
        whole = signature.work_group_size or (size, 1, 1)
        pointers = [place for place, one in enumerate(signature.parameters) if one.kind in ("global", "constant")]
        variants = {"whole": program.variant(signature, whole)}
        if signature.work_group_size is None:
            variants["partial"] = program.variant(signature, PARTIAL)
        if pointers:
            variants["null"] = program.variant(signature, whole, (pointers[0],))
        for label, variant in variants.items():
            try:
                made = program.translated(name, variant)
            except cm.Error as error:
                yield f"{name}.{label}", f"error: {error}\n"
            else:
                yield f"{name}.{label}.first", made.code.ir
                yield f"{name}.{label}", made.ir


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", type=int, default=4, metavar="N", help="seeds of each generator of random kernels")
    arguments = parser.parse_args()
    snapshot(arguments.folder, arguments.random)


if __name__ == "__main__":
    main()
