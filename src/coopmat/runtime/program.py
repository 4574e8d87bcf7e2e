"""Programs and kernels: a module, and the forms that it was made from and can be given as."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from functools import cached_property

from coopmat.cache import Cache
from coopmat.diagnostics import Diagnostic, Error, LaunchError
from coopmat.runtime import sources
from coopmat.runtime.device import Device
from coopmat.spirv.kernels import KernelSignature
from coopmat.spirv.module import Module
from coopmat.targets.simulator import SimulatedProgram


class Program:
    """A built program: kernels, and the forms that the source was translated to.

    ``module`` is the SPIR-V module that devices run; ``warnings`` are the front end's. ``make_llvm_ir`` gives the
    program's LLVM IR, where it has one; ``loadable_by`` is a device that is known to take the module; what is
    optimised is kept in ``cache``.
    """

    def __init__(self, module: Module, *, source_name: str = "<source>", warnings: Sequence[Diagnostic] = (),
                 make_llvm_ir: Callable[[], str] | None = None, loadable_by: Device | None = None,
                 cache: Cache | None = None) -> None:
        self.module = module
        self.source_name = source_name
        self.warnings = list(warnings)
        self._make_llvm_ir = make_llvm_ir
        self._loadable_by = loadable_by
        self._cache = cache if cache is not None else Cache(None)
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
        if self._make_llvm_ir is None:
            raise Error(f"{self.source_name} was given as SPIR-V; LLVM IR is made from OpenCL C or LLVM IR")
        return self._make_llvm_ir()

    def optimized(self, level: int) -> Program:
        """The program after LLVM's optimiser at ``level`` (0 to 3): its LLVM IR, and the SPIR-V that LLVM makes
        of it. Source lines are lost on the way. Error for a program that was given as SPIR-V."""
        if level not in range(4):
            raise Error(f"the level of optimisation is 0, 1, 2 or 3, not {level!r}")
        ir, module = sources.optimize(self.llvm_ir, level, self.source_name, self._cache)
        return Program(module, source_name=self.source_name, warnings=self.warnings, make_llvm_ir=lambda: ir,
                       cache=self._cache)

    def load(self, device: Device) -> SimulatedProgram:
        """The program made ready to run on ``device``; made once per device.

        Raises KernelNotSupported if a kernel uses matrices that the device does not have.
        """
        if device not in self._loaded:
            known = self._loadable_by is not None and self._loadable_by.description == device.description
            self._loaded[device] = device.load(self.module, is_checked=known)
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
