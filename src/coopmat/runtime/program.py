"""Programs and kernels: from source in any of four forms to a module, and from there to IR and text."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from coopmat import llvm, lowering, opencl, tree
from coopmat.devices import describe
from coopmat.diagnostics import Diagnostic, Error, LaunchError, ValidationError
from coopmat.files import read_bytes, read_text
from coopmat.runtime.device import Device
from coopmat.runtime.device import device as find_device
from coopmat.runtime.options import parse_options
from coopmat.spirv.kernels import KernelSignature
from coopmat.spirv.module import Module
from coopmat.targets.simulator import SimulatedProgram

SOURCE_SUFFIXES = (".cl", ".ll", ".spv", ".spvasm")


class Program:
    """A built program: kernels, and the forms that the source was translated to.

    ``module`` is the SPIR-V module that devices run; ``warnings`` are the front end's.
    """

    def __init__(self, module: Module, *, tree: tree.nodes.Program | None = None, source_name: str = "<source>",
                 llvm_ir: str | None = None, warnings: Sequence[Diagnostic] = ()) -> None:
        self.module = module
        self.source_name = source_name
        self.warnings = list(warnings)
        self._tree = tree
        self._llvm_ir = llvm_ir
        self._loaded: dict[Device, SimulatedProgram] = {}
        self.kernels: dict[str, Kernel] = {
            name: Kernel(self, signature) for name, signature in module.kernel_signatures.items()}

    def kernel(self, name: str) -> Kernel:
        """The kernel called ``name``; LaunchError, naming the kernels that exist, if there is none."""
        if name in self.kernels:
            return self.kernels[name]
        if not isinstance(name, str):
            raise LaunchError(f"a kernel is chosen by its name, a str, not {type(name).__name__}")
        close = difflib.get_close_matches(name, self.kernels, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        known = f"its kernels are {', '.join(self.kernels)}" if self.kernels else "it has no kernels"
        raise LaunchError(f"no kernel '{name}' in {self.source_name}: {known}{hint}")

    @cached_property
    def spirv(self) -> bytes:
        """The SPIR-V binary."""
        return self.module.to_bytes()

    @cached_property
    def spirv_asm(self) -> str:
        """The SPIR-V module as text, with friendly names."""
        return self.module.to_text(friendly_names=True)

    @cached_property
    def llvm_ir(self) -> str:
        """LLVM IR in the form of the OpenCL C cooperative matrix RFC (see docs/llvm-ir.md), verified by
        LLVM. Error for a program that was given as SPIR-V."""
        if self._llvm_ir is not None:
            return self._llvm_ir
        if self._tree is None:
            raise Error(f"{self.source_name} was given as SPIR-V; LLVM IR is made from OpenCL C or LLVM IR")
        ir = lowering.to_llvm_ir(self._tree, source_name=self.source_name)
        llvm.verify(ir)
        return ir

    def optimized(self, level: int) -> Program:
        """The program after LLVM's optimiser at ``level`` (0 to 3): its LLVM IR, and the SPIR-V that LLVM makes
        of it. Source lines are lost on the way. Error for a program that was given as SPIR-V."""
        if level not in range(4):
            raise Error(f"the level of optimisation is 0, 1, 2 or 3, not {level!r}")
        ir = llvm.optimize(self.llvm_ir, level, source_name=self.source_name)
        module = Module.from_bytes(llvm.to_spirv(ir, source_name=self.source_name))
        return Program(module, source_name=self.source_name, llvm_ir=ir, warnings=self.warnings)

    def load(self, device: Device) -> SimulatedProgram:
        """The program made ready to run on ``device``; made once per device.

        Raises KernelNotSupported if a kernel uses matrices that the device does not have.
        """
        if device not in self._loaded:
            self._loaded[device] = device.load(self.module)
        return self._loaded[device]

    def __repr__(self) -> str:
        return f"<coopmat.Program {self.source_name}: {', '.join(self.kernels)}>"


class Kernel:
    """An entry point of a program. ``signature`` describes its parameters."""

    def __init__(self, program: Program, signature: KernelSignature) -> None:
        self.program = program
        self.signature = signature

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.signature.name

    def __repr__(self) -> str:
        return f"<coopmat.Kernel {self.signature}>"


def build(source: str | Path | bytes, options: Sequence[str] | None = (),
          device: Device | str | None = None) -> Program:
    """Compile ``source`` and, given a device, prepare it for that device.

    source: OpenCL C text; a path to a ``.cl``, ``.ll`` (LLVM IR), ``.spv`` (SPIR-V) or ``.spvasm``
        (SPIR-V text) file; or SPIR-V as bytes.
    options: ``-D NAME[=VALUE]``, ``-U NAME``, ``-I DIRECTORY``, ``-w``, ``-Wno-NAME``, ``-Werror``.
    device: the device, or its name; its feature macros are defined, and its matrix combinations checked.

    Raises CompileError, ValidationError, KernelNotSupported, or Error for a file that cannot be read.
    """
    if device is not None and not isinstance(device, Device):
        device = find_device(device)
    program = _translate(source, options if options is not None else (), device)
    if device is not None:
        program.load(device)
    return program


def _translate(source: str | Path | bytes, options: Sequence[str], device: Device | None) -> Program:
    match source:
        case str() if "\n" not in source and source.endswith(SOURCE_SUFFIXES):
            raise Error(f"a str is OpenCL C text; to build the file, pass pathlib.Path({source!r})")
        case str():
            return _from_opencl(source, None, options, device)
        case bytes() | bytearray() | memoryview():
            return Program(Module.from_bytes(bytes(source)))
        case Path():
            return _from_file(source, options, device)
    raise Error(f"a source is OpenCL C text (str), a pathlib.Path or SPIR-V (bytes), not {type(source).__name__}")


def _from_file(path: Path, options: Sequence[str], device: Device | None) -> Program:
    match path.suffix:
        case ".cl":
            return _from_opencl(read_text(path), path, options, device)
        case ".ll":
            ir = read_text(path)
            return Program(Module.from_bytes(llvm.to_spirv(ir, source_name=str(path))), source_name=str(path),
                           llvm_ir=ir)
        case ".spv" | ".spvasm":
            return _from_spirv(path)
    raise Error(f"cannot build '{path}': its name must end in {', '.join(SOURCE_SUFFIXES[:-1])} "
                f"or {SOURCE_SUFFIXES[-1]}")


def _from_spirv(path: Path) -> Program:
    content = read_bytes(path) if path.suffix == ".spv" else read_text(path)
    try:
        module = Module.from_bytes(content) if isinstance(content, bytes) else Module.from_text(content)
        return Program(module, source_name=str(path))
    except ValidationError as error:
        raise error.in_file(str(path)) from None


def _from_opencl(text: str, path: Path | None, options: Sequence[str], device: Device | None) -> Program:
    chosen = parse_options(options)
    name = str(path) if path is not None else "<source>"
    program, warnings = opencl.compile_source(
        text, name=name, path=path, defines=chosen.defines, include_paths=chosen.include_paths,
        device=device.description if device is not None else describe("generic"),
        ignored_warnings=chosen.ignored_warnings, werror=chosen.warnings_as_errors)
    module = lowering.to_spirv(program)
    return Program(module, tree=program, source_name=name, warnings=warnings)
