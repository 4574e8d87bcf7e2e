"""Programs and kernels: a module, and the forms that it was made from and can be given as."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coopmat.diagnostics import (
    Diagnostic,
    Error,
    KernelNotSupported,
    LaunchError,
    SourceFile,
    SourceLocation,
    value_text,
)
from coopmat.runtime import sources
from coopmat.runtime.arguments import Binder, Bound, Position, binder
from coopmat.runtime.calls import CallForm
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.runtime.executable import executable
from coopmat.runtime.python_kernels import PythonKernel
from coopmat.runtime.saved import Optimization
from coopmat.spirv.analysis import matrix_addresses
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.analysis.shader_interface import Interface, interfaces, is_shader
from coopmat.spirv.analysis.sub_group_kernels import uses_sub_groups
from coopmat.spirv.edit.processing import scheduled_as
from coopmat.spirv.edit.specialization import SpecConstant, Value, frozen, resolve, spec_constants, specialize
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property

if TYPE_CHECKING:
    from coopmat.report import Report
    from coopmat.targets.cuda.assembler import Resources
    from coopmat.targets.cuda.program import PtxProgram

TextOf = Callable[[str], str | None]
"""Gives the text of a source file by the name that a module has for it, or None."""


class Program:
    """A built program: kernels, and the forms that the source was translated to.

    ``module`` is the SPIR-V module; ``warnings`` are the front end's. ``make_llvm_ir`` gives the program's LLVM IR,
    where it has one; ``loadable_by`` is a device that is known to take the module; what is optimised is kept in
    ``cache``. ``values`` are those that the module's specialisation constants have been given. ``device`` is the one
    that the program is for, if it is for one. ``python`` is the kernel that the program was made from, if it was one in
    Python; ``text_of`` knows the texts of its source files.
    """

    def __init__(self, module: Module, *, source_name: str = "<source>", warnings: Sequence[Diagnostic] = (),
                 make_llvm_ir: Callable[[], str] | None = None, loadable_by: Device | None = None,
                 cache: Cache | None = None, values: Mapping[int, Value] | None = None,
                 device: Device | None = None, python: PythonKernel | None = None,
                 text_of: TextOf | None = None) -> None:
        self.module = module
        self.source_name = source_name
        self.warnings = list(warnings)
        self._make_llvm_ir = make_llvm_ir
        self._loadable_by = loadable_by
        self._cache = cache if cache is not None else Cache(None)
        self._values = values
        self._device = device
        self._text_of = text_of
        self._loaded: dict[Device, LoadedProgram] = {}
        self._python = python
        self._refusal: Error | None = None
        """Why shaders are no kernels, where the program is for a device that takes shaders."""

    @cached_property
    def _executable(self) -> Module:
        """The module as devices run it. What the front end makes is complete, and is not read before it is looked
        at."""
        if self._loadable_by is not None:
            return self.module
        if self._device is None or not self._device.takes_shaders or not self.interfaces:
            return executable(self.module)
        try:
            return executable(self.module)
        except Error as error:
            from coopmat.spirv.transform.from_shader.kernels import declarations

            self._refusal = error
            return declarations(self.module)

    @cached_property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels by name, in the module's order."""
        measured = {name: one.measured for name, one in self.interfaces.items()}
        return {name: Kernel(self, signature, self._python, measured.get(name, ()))
                for name, signature in self._executable.kernel_signatures.items()}

    def kernel(self, name: str) -> Kernel:
        """The kernel called ``name``; LaunchError, naming the kernels that exist, if there is none."""
        if name in self.kernels:
            return self.kernels[name]
        if not isinstance(name, str):
            raise LaunchError(f"a kernel is chosen by its name, a str, not {type(name).__name__}")
        close = difflib.get_close_matches(name, self.kernels, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        known = f"its kernels are {', '.join(self.kernels)}" if self.kernels else self._without_kernels()
        raise LaunchError(f"no kernel '{name}' in {self.source_name}: {known}{hint}")

    def _without_kernels(self) -> str:
        shaders = ", ".join(f"'{entry.name}'" for entry in self.module.entry_points)
        return "it has no kernels" + (f", only shaders: {shaders}" if shaders else "")

    @cached_property
    def interfaces(self) -> dict[str, Interface]:
        """Of a program of compute shaders, where each finds its parameters (docs/shaders.md)."""
        return interfaces(frozen(self.module)) if self._loadable_by is None and is_shader(self.module) else {}

    @cached_property
    def spec_constants(self) -> list[SpecConstant]:
        """The specialisation constants that can be set: number, name, type and default of each. A program that was
        built with values for some of them has none left: the others have their defaults."""
        return spec_constants(self.module)

    def specialized(self, values: Mapping[int | str, Value]) -> Program:
        """The program with its specialisation constants set, by SpecId or name; the others have their defaults.

        Raises Error for a constant that the program does not have, or a value that does not fit its type.
        """
        numbers = resolve(self.module, values)
        return Program(specialize(self.module, numbers), source_name=self.source_name, warnings=self.warnings,
                       make_llvm_ir=self._make_llvm_ir, cache=self._cache, values=numbers, device=self._device,
                       python=self._python, text_of=self._text_of)

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
        if self._make_llvm_ir is None:
            raise Error(f"{self.source_name} was given as SPIR-V or linked; LLVM IR is made from one "
                        "file of OpenCL C or LLVM IR")
        return self._make_llvm_ir()

    @cached_property
    def asm(self) -> str:
        """The assembly language of all kernels, for work-groups of whole sub-groups. Error for a program that was not
        built for the device ``cpu``."""
        if self._device is None:
            raise Error(f"{self.source_name} was built for no device: assembly is made for build(..., device='cpu')")
        return self._device.assembly(self.load(self._device))

    @cached_property
    def _ptx_program(self) -> PtxProgram:
        device = self._device
        if device is None:
            raise Error(f"{self.source_name} was built for no device: PTX and cubins are made for "
                        "build(..., device='sim:nvidia_gpu_sm_90') and its relatives, and for device='cuda:0'")
        return device.ptx_program(self._executable, self._cache, lambda: self.load(device))

    @cached_property
    def ptx(self) -> str:
        """The PTX of all kernels, for work-groups of the size that each requires, or of 128 work-items. Error for a
        program that was not built for an NVIDIA GPU or for a simulated one, for which no GPU is needed."""
        return self._ptx_program.ptx()

    @cached_property
    def cubin(self) -> bytes:
        """The machine code of all kernels for NVIDIA's GPUs, an ELF file, for work-groups as :attr:`ptx`. Error as
        there, and where there is no assembler."""
        return self._ptx_program.assembled[0]

    @cached_property
    def sass(self) -> str:
        """:attr:`cubin` in the assembly language of the chip. Error as there, and where there is no nvdisasm."""
        from coopmat.targets.cuda.assembler import disassembled

        return disassembled(self.cubin)

    @property
    def explanation(self) -> str:
        """What is chosen on the device, and why not something faster, in lines: for all kernels on an NVIDIA GPU, real
        or simulated, and work-groups as :attr:`ptx`; elsewhere for the last launch. Error for a program that was built
        for no device, and before a launch where one is needed."""
        device = self._device
        if device is None:
            raise Error(f"{self.source_name} was built for no device: what is chosen for it is told after "
                        "build(..., device=...)")
        return "\n".join(device.overview(lambda: self.load(device), lambda: self._ptx_program))

    def optimized(self, level: int) -> Program:
        """The program after LLVM's optimiser at ``level`` (0 to 3): its LLVM IR, and the SPIR-V that LLVM makes
        of it. Source lines are lost on the way. Error for a program that was given as SPIR-V.

        Where LLVM cannot make a valid module at that level, it is a lower one, of which a warning tells.
        """
        if level not in range(4):
            raise Error(f"the level of optimisation is 0, 1, 2 or 3, not {value_text(level)}")
        if self._make_llvm_ir is None:
            raise Error(f"{self.source_name} cannot be optimised (-O{level}): LLVM optimises OpenCL C, LLVM IR and "
                        "kernels in Python; SPIR-V and what is linked stay as they are, at -O0")
        made = sources.optimize(self.llvm_ir, level, self.source_name, self._cache)
        module = scheduled_as(made.module, self.module)
        if self._values is not None:
            left = {constant.spec_id for constant in spec_constants(module)}
            module = specialize(module, {number: value for number, value in self._values.items() if number in left})
        return Program(module, source_name=self.source_name, warnings=[*self.warnings, *self._lowered(level, made)],
                       make_llvm_ir=lambda: made.ir, cache=self._cache, device=self._device, python=self._python)

    def _lowered(self, level: int, made: Optimization) -> list[Diagnostic]:
        """The warning of a program that is optimised less than was asked for."""
        if made.level == level:
            return []
        message = (f"LLVM cannot make SPIR-V of what its optimiser makes of this at -O{level} ({made.reason}); "
                   f"it is optimised at -O{made.level} instead")
        return [Diagnostic("warning", message, SourceLocation.whole(SourceFile(self.source_name, "")))]

    def forget_source(self) -> None:
        """Let go of what the program was made from, and with it of its LLVM IR."""
        self._make_llvm_ir = self._python = self._text_of = None

    def arguments(self, kernel: Kernel, given: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """A value for each parameter of a kernel: those given, by position or by name, and where the kernel is written
        in Python, its defaults and what it has captured."""
        if self._python is not None:
            return self._python.arguments(given, named, kernel.names)
        return kernel.form.arguments(given, named)

    def made_for(self, device: Device) -> None:
        """Note the device that the program is for."""
        self._device = device

    def load(self, device: Device) -> LoadedProgram:
        """The program made ready to run on ``device``; made once per device.

        Raises KernelNotSupported if a kernel uses matrices that the device does not have.
        """
        loaded = self._loaded.get(device)
        if loaded is None:
            if self._loadable_by is None:
                matrix_addresses.check(self._executable)
            known = self._loadable_by is not None and self._loadable_by.description == device.description
            with self._sources_shown():
                loaded = self._loaded[device] = (
                    device.load_shaders(self.module, self._executable, self.interfaces, self._cache, self._refusal)
                    if self.interfaces
                    else device.load(self._executable, is_checked=known, cache=self._cache))
        return loaded

    @contextmanager
    def _sources_shown(self) -> Iterator[None]:
        """What a device refuses is shown with its source line, if the text is known."""
        try:
            yield
        except KernelNotSupported as error:
            text = None if error.location is None else self.text_of(error.location.name)
            if text is None:
                raise
            raise error.with_source(text) from None

    def text_of(self, name: str) -> str | None:
        """The text of a source file by the name that the module has for it; None if it is not known."""
        return None if self._text_of is None else self._text_of(name)

    def __repr__(self) -> str:
        return f"<coopmat.Program {self.source_name}: {', '.join(self.kernels)}>"


class Kernel:
    """An entry point of a program. ``signature`` describes its parameters. ``measured``: those, by their place, whose
    size in bytes is handed over behind all others, as compute shaders ask for the lengths of arrays."""

    def __init__(self, program: Program, signature: KernelSignature, python: PythonKernel | None = None,
                 measured: Sequence[int] = ()) -> None:
        self.program = program
        self.measured = measured
        given = len(signature.parameters) - len(measured)
        self.signature = replace(signature, parameters=signature.parameters[:given]) if measured else signature
        self.name = signature.name
        self.names = [parameter.name for parameter in self.signature.parameters]
        self._shown = None if python is None else list(map(python.spelled, self.names))
        self._binders: dict[str, list[Binder]] = {}

    @cached_property
    def shown(self) -> list[str]:
        """The parameters as messages show them."""
        return self._shown if self._shown is not None else [str(one) for one in self.signature.parameters]

    @cached_property
    def form(self) -> CallForm:
        """How a launch gives its arguments."""
        return CallForm(self.name, self.names, self.shown, len(self.names))

    @property
    def resources(self) -> Resources:
        """What the kernel takes of an NVIDIA GPU, for work-groups of the size that it requires, or of 128 work-items:
        ``registers`` of a work-item, ``spills``, ``stack``, ``shared``, ``most_threads``. Error as for
        :attr:`Program.cubin`."""
        return self.program._ptx_program.resources(self.name)

    @cached_property
    def uses_sub_groups(self) -> bool:
        """Whether it may count on what a sub-group is: it has matrices, functions or numbers of them, or requires their
        size."""
        return uses_sub_groups(self.program._executable, self.name)

    def bound(self, arguments: Sequence[Any], device: Device | None = None) -> list[Bound]:
        """The arguments in the form that targets take, for a device, or for those that take the host's memory.
        LaunchError for one that does not fit its parameter."""
        binders = self._binders.get("" if device is None else device.name)
        if binders is None:
            binders = self._made_binders(device)
        bound = [bind(argument) for bind, argument in zip(binders, arguments, strict=True)]
        return [*bound, *(_size_of(bound[place]) for place in self.measured)]

    def _made_binders(self, device: Device | None) -> list[Binder]:
        made = self._binders["" if device is None else device.name] = [
            binder(Position(self.name, index, parameter, shown, device)) for index, (parameter, shown)
            in enumerate(zip(self.signature.parameters, self.shown, strict=True))]
        return made

    def debug(self, global_size: Any, local_size: Any, /, *args: Any, script: str | Sequence[str] | Path | None = None,
              device: Device | str | None = None, port: int | None = None, **named: Any) -> int:
        """Debug a launch on a simulated device, by commands that are typed (docs/debugger.md).

        global_size, local_size, args, named: as :meth:`coopmat.Queue.enqueue` takes them. What the kernel has written
            when the debugger ends is in the arrays.
        script: commands to carry out instead, in lines of a text or of a file's path.
        device: a simulated device; by default the one that the program was built for, or ``sim:generic``.
        port: wait for an editor that attaches at this port of this machine, and let it command instead; 0 is a free
            port, which is printed to standard error.

        Returns 1 if a command of the script was wrong, or the kernel ended with an error under an editor, else 0.
        Raises what enqueue raises before a kernel runs, and LaunchError for a device that is not simulated.
        """
        from coopmat.runtime.debugging import debug, launch_of  # imported late: most programs debug nothing

        return debug(launch_of(self, device, global_size, local_size, args, named), script, port)

    def report(self, global_size: Any, local_size: Any, /, *args: Any, device: Device | str | None = None,
               work_groups: int | None = None, **named: Any) -> Report:
        """Run a launch on a simulated device, once, and count what it does (docs/report.md).

        global_size, local_size, args, named: as :meth:`coopmat.Queue.enqueue` takes them; the arrays hold the results.
        device: a simulated device; by default the one that the program was built for, or ``sim:generic``.
        work_groups: run and count the first so many work-groups only, where the launch is too large; the arrays then
            hold what these have written.

        Returns a :class:`coopmat.report.Report`: its numbers, ``.text()``, ``.json()``, ``.html()``, ``.save(path)``.
        Raises what enqueue and the launch raise, and LaunchError for a device that is not simulated.
        """
        from coopmat.report import report_of  # imported late: most programs report nothing
        from coopmat.runtime.debugging import launch_of

        launch = launch_of(self, device, global_size, local_size, args, named, "launches are reported")
        return report_of(launch, work_groups)

    def __repr__(self) -> str:
        return f"<coopmat.Kernel {self.signature}>"


def _size_of(argument: Bound) -> bytes:
    """The bytes of a buffer, as a kernel's 64-bit integer; 0 of a null pointer."""
    return int(getattr(argument, "nbytes", 0)).to_bytes(8, "little")
