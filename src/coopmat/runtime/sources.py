"""Sources of programs: OpenCL C and LLVM IR, what becomes of them, and what of that the cache holds.

The front end and LLVM are imported where they are needed: to load a program from the cache takes less time than
to import them.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.runtime.device import Device
from coopmat.runtime.python_kernels import PythonKernel
from coopmat.runtime.saved import Compilation, Optimization
from coopmat.spirv.analysis.types import VECTOR_LENGTHS
from coopmat.spirv.edit.processing import scheduled
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.support.build_options import BuildOptions
from coopmat.support.cache import Cache, key
from coopmat.support.cached import cached_property
from coopmat.support.source_files import SourceFiles

if TYPE_CHECKING:
    from coopmat.tree import nodes

_TIME_MACROS = (b"__DATE__", b"__TIME__", b"__TIMESTAMP__")
"""What a source with one of these compiles to is not kept."""
_LINE_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(line\b|[0-9])", re.MULTILINE)


@dataclass(eq=False)
class OpenCLSource:
    """OpenCL C text, and all that decides what it compiles to."""

    text: str
    path: Path | None
    options: BuildOptions
    device: Device
    files: SourceFiles = field(default_factory=SourceFiles)

    @property
    def name(self) -> str:
        """What messages call the source."""
        return str(self.path) if self.path is not None else "<source>"

    def compile(self, cache: Cache) -> Compilation:
        """The module and what belongs to it, from the cache if it holds them. Raises CompileError."""
        found = self._saved(cache)
        if found is None:
            tree, warnings = self._translation
            module = _lowered(tree, self.options)
            found = Compilation(module, warnings, self.files.record(), self.device.can_load(module))
            if not self._depends_on_time():
                cache.put(self.key, found.to_bytes())
        return found

    @cached_property
    def key(self) -> str:
        """The key of the compilation in a cache."""
        return key("OpenCL C", self.name, self.text, repr(self.device.description), repr(self.options))

    def llvm_ir(self) -> str:
        """LLVM IR, verified by LLVM."""
        from coopmat import llvm, lowering

        tree, _ = self._translation
        ir = lowering.to_llvm_ir(tree, source_name=self.name)
        llvm.verify(ir)
        return ir

    def text_of(self, name: str) -> str | None:
        """The text of a file that took part, by the name that messages have for it; None where #line counts its lines
        otherwise."""
        text: str | None = self.text
        if name != self.name:
            try:
                text = self.files.read(Path(name)).decode("utf-8", "replace")
            except (OSError, ValueError):
                text = None
        return None if text is None or _LINE_DIRECTIVE.search(text) else text

    def _saved(self, cache: Cache) -> Compilation | None:
        content = cache.get(self.key)
        found = Compilation.from_bytes(content) if content is not None else None
        files = SourceFiles()
        if found is None or not files.agrees_with(found.files):
            return None
        self.files = files  # should the tree be needed, it comes from the same files
        return found

    @cached_property
    def _translation(self) -> tuple[nodes.Program, list[Diagnostic]]:
        """The kernel tree and the warnings."""
        from coopmat import opencl

        return opencl.compile_source(self.text, name=self.name, path=self.path, options=self.options,
                                     device=self.device.description, source_files=self.files)

    def _depends_on_time(self) -> bool:
        texts = (self.text.encode("utf-8", "surrogatepass"), *self.files.contents)
        return any(name in text for name in _TIME_MACROS for text in texts)


@dataclass(eq=False)
class PythonSource:
    """A kernel written in Python, the options that come after its own, and the device it is compiled for."""

    kernel: PythonKernel
    options: Sequence[str]
    device: Device

    @property
    def name(self) -> str:
        """What messages call the source."""
        return self.kernel.file_name

    def compile(self, cache: Cache) -> Compilation:
        """The module and what belongs to it, from the cache if it holds them. Raises CompileError."""
        entry = self._key()
        content = None if entry is None else cache.get(entry)
        found = None if content is None else Compilation.from_bytes(content)
        if found is None:
            tree, warnings = self._translation
            module = _lowered(tree, self.kernel.build_options(self.options))
            found = Compilation(module, warnings, {}, self.device.can_load(module))
            if entry is not None:
                cache.put(entry, found.to_bytes())
        return found

    def llvm_ir(self) -> str:
        """LLVM IR, verified by LLVM."""
        from coopmat import llvm, lowering

        ir = lowering.to_llvm_ir(self._translation[0], source_name=self.name)
        llvm.verify(ir)
        return ir

    def text_of(self, name: str) -> str | None:
        """The text of a file of the kernel or its helpers, as Python has it."""
        return "".join(linecache.getlines(name)) or None

    def _key(self) -> str | None:
        found = self.kernel.key()
        return None if found is None else key("Python kernel", found, repr(self.options), repr(self.device.description))

    @cached_property
    def _translation(self) -> tuple[nodes.Program, list[Diagnostic]]:
        """The kernel tree and the warnings."""
        return self.kernel.compile(self.device.description, self.options)


def _lowered(tree: nodes.Program, options: BuildOptions) -> Module:
    """The module of a tree, as options have it."""
    from coopmat import lowering

    module = lowering.to_spirv(tree, marks_overflow=options.marks_overflow, fast_math=options.fast_math)
    return scheduled(module, options.schedule)


def llvm_to_spirv(ir: str, name: str, cache: Cache, *, keeps_imports: bool = False) -> Module:
    """The module that LLVM's back end makes of its IR, from the cache if it holds it. Raises CompileError.

    ``keeps_imports``: the module will be linked with others.
    """
    entry = key("LLVM IR to SPIR-V", _llvm_version(), name, str(keeps_imports), ir)
    content = cache.get(entry)
    if content is None:
        from coopmat import llvm

        content = llvm.to_spirv(ir, source_name=name, keeps_imports=keeps_imports)
        cache.put(entry, content)
    return Module.from_bytes(content)


def optimize(ir: str, level: int, name: str, cache: Cache) -> Optimization:
    """LLVM IR after LLVM's optimiser, and the module that it makes of it, from the cache if it holds them.

    LLVM's back end knows less than its optimiser uses: where it makes no valid module, that of the next lower level is
    taken. Raises CompileError where it makes none at any.
    """
    entry = key("optimised LLVM IR", _llvm_version(), name, str(level), ir)
    content = cache.get(entry)
    if content is not None:
        return Optimization.from_bytes(content)
    failure: CompileError | None = None
    broken: Optimization | None = None
    reason: str | None = None
    for attempt in range(level, -1, -1):
        try:
            found, fault = _optimized(ir, attempt, name, reason)
        except CompileError as error:
            failure, fault = failure or error, error.diagnostics[0].message
        else:
            if fault is None:
                cache.put(entry, found.to_bytes())
                return found
            broken = broken or found
        reason = reason or fault
    if broken is None:
        assert failure is not None
        raise failure
    return broken


def _optimized(ir: str, level: int, name: str, reason: str | None) -> tuple[Optimization, str | None]:
    """One attempt, and what is wrong with its module, if anything."""
    from coopmat import llvm

    optimized = llvm.optimize(ir, level, source_name=name)
    found = Optimization(optimized, Module.from_bytes(llvm.to_spirv(optimized, source_name=name)), level, reason)
    faults = [f"{one.message} [{one.rule}]" for one in found.module.validate() if one.severity == "error"]
    faults += [f"OpenCL C has no vectors of {row.words[1]} components"
               for row in found.module.of_opcode(Op.TypeVector) if row.words[1] not in VECTOR_LENGTHS]
    return found, next(iter(faults), None)


def _llvm_version() -> str:
    import llvmlite

    return llvmlite.__version__
