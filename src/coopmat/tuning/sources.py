"""What is tuned: a source of which each configuration makes a kernel."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from coopmat.diagnostics import Error, value_text
from coopmat.runtime.building import Source, build
from coopmat.runtime.device import Device
from coopmat.runtime.options import Options, split_options
from coopmat.runtime.program import Kernel, Program
from coopmat.runtime.python_kernels import PythonKernel, kernel_of
from coopmat.runtime.python_launches import built
from coopmat.spirv.module import Module
from coopmat.support.files import read_bytes
from coopmat.tuning.config import Config


class TunedSource(ABC):
    """A kernel that configurations change. ``name`` is what messages call it."""

    name: str

    @abstractmethod
    def kernel(self, config: Config, device: Device) -> Kernel:
        """The kernel of a configuration, built for a device. Raises what :func:`coopmat.build` raises, and Error for
        values that the source does not have."""

    @abstractmethod
    def python_kernel(self, config: Config) -> PythonKernel | None:
        """The kernel of a configuration as it is written in Python, if it is."""

    @abstractmethod
    def key(self, configs: Sequence[Config]) -> str | None:
        """What the kernels of all configurations depend on; None if that cannot be said."""

    def check(self, configs: Sequence[Config]) -> None:  # noqa: B027  a source that cannot tell takes all
        """Raise Error for values that the source cannot have."""

    @abstractmethod
    def forget_all_but(self, config: Config) -> None:
        """Let go of the kernels of all other configurations."""

    def arguments(self, config: Config, kernel: Kernel, args: Sequence[Any],
                  named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a launch by the names of the kernel's parameters. LaunchError for those that do not fit."""
        python = self.python_kernel(config)
        values = kernel.program.arguments(kernel, args, named) if python is None else python.arguments(
            args, named, kernel.names)
        return dict(zip(kernel.names, values, strict=True))


class ProgramSource(TunedSource):
    """What :func:`coopmat.build` takes but for kernels in Python, or a built program.

    Values are macros of OpenCL C, and specialisation constants of everything else.
    """

    def __init__(self, source: Source | Program, kernel: str | None, options: Options, link: Sequence[Source],
                 cache_dir: str | Path | None) -> None:
        if not isinstance(source, str | Path | bytes | Module | Program):
            raise Error("source takes OpenCL C text, a pathlib.Path, SPIR-V (bytes), a Module or a Program; found "
                        f"{type(source).__name__} (a kernel in Python is decorated with @autotune(configs=…))")
        self._source = source
        self._chosen = kernel
        self._options = tuple(split_options(options))
        self._link = tuple(link)
        self._cache_dir = cache_dir
        self._built: dict[tuple[Config, Device], Kernel] = {}
        self.name = kernel or (source.source_name if isinstance(source, Program) else
                               str(source) if isinstance(source, Path) else "<source>")

    @property
    def is_opencl_c(self) -> bool:
        """Whether values are macros."""
        return isinstance(self._source, str) or (isinstance(self._source, Path) and self._source.suffix == ".cl")

    def kernel(self, config: Config, device: Device) -> Kernel:
        known = self._built.get((config, device))
        if known is None:
            known = self._built[config, device] = self._only(self._program(config, device))
        return known

    def _program(self, config: Config, device: Device) -> Program:
        if isinstance(self._source, Program):
            if config.options:
                raise Error(f"{self.name} is built: a configuration of it has no build options, found "
                            f"{' '.join(config.options)}")
            return self._source.specialized(config.values) if config.values else self._source
        options = (*self._options, *(defines(config.values) if self.is_opencl_c else ()), *config.options)
        values = None if self.is_opencl_c or not config.values else config.values
        return build(self._source, options, device, link=self._link, spec_constants=values, cache_dir=self._cache_dir)

    def _only(self, program: Program) -> Kernel:
        if self._chosen is not None:
            return program.kernel(self._chosen)
        if len(program.kernels) != 1:
            names = ", ".join(program.kernels) or "none"
            raise Error(f"choose a kernel of {program.source_name} by its name: {names}")
        return next(iter(program.kernels.values()))

    def python_kernel(self, config: Config) -> None:
        return None

    def key(self, configs: Sequence[Config]) -> str | None:
        parts = [_content(one) for one in (self._source, *self._link)]
        return repr((parts, self._chosen, self._options))

    def forget_all_but(self, config: Config) -> None:
        self._built = {known: kernel for known, kernel in self._built.items() if known[0] == config}


def _content(source: Any) -> tuple[str, bytes]:
    if isinstance(source, Program):
        return source.source_name, source.spirv
    if isinstance(source, Module):
        return "", source.to_bytes()
    if isinstance(source, Path):
        return str(source), read_bytes(source)
    return "", source.encode("utf-8", "surrogatepass") if isinstance(source, str) else bytes(source)


def defines(values: Mapping[Any, Any]) -> list[str]:
    """Values as definitions of macros; those that are None are left out."""
    return [f"-D{name}={int(value) if isinstance(value, bool) else value}" for name, value in values.items()
            if value is not None]


class CapturedSource(TunedSource):
    """A kernel in Python, whose values are those of variables that it, or its helpers, read from around it."""

    def __init__(self, kernel: PythonKernel) -> None:
        self._kernel = kernel
        self.name = kernel.name
        self._made: dict[Config, tuple[str | None, PythonKernel]] = {}

    def kernel(self, config: Config, device: Device) -> Kernel:
        kernel = self._rebound(config)
        return _built(kernel, config, device)

    def _rebound(self, config: Config) -> PythonKernel:
        """The kernel with the values of a configuration; the same as long as nothing else that it reads changes."""
        if not config.values:
            return self._kernel
        key = self._kernel.key()
        known = self._made.get(config)
        if known is None or key is None or known[0] is not key:
            known = self._made[config] = key, self._kernel.with_values(_by_name(config))
        return known[1]

    def python_kernel(self, config: Config) -> PythonKernel:
        return self._kernel  # arrays that it captures are those that it has now

    def key(self, configs: Sequence[Config]) -> str | None:
        return self._kernel.key()

    def check(self, configs: Sequence[Config]) -> None:
        for names in {tuple(config.values) for config in configs}:
            config = next(config for config in configs if tuple(config.values) == names)
            self._kernel.with_values(_by_name(config))

    def forget_all_but(self, config: Config) -> None:
        self._made = {known: made for known, made in self._made.items() if known == config}


class FactorySource(TunedSource):
    """A function that makes a kernel in Python of the values, which are its parameters."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self.name = function.__name__
        self._made: dict[Config, PythonKernel] = {}

    def kernel(self, config: Config, device: Device) -> Kernel:
        return _built(self.python_kernel(config), config, device)

    def python_kernel(self, config: Config) -> PythonKernel:
        known = self._made.get(config)
        if known is None:
            made = kernel_of(self._function(**_by_name(config)))
            if not isinstance(made, PythonKernel):
                raise Error(f"'{self.name}' must return a kernel, a function with the decorator @kernel; it returned "
                            f"{value_text(made)} for {config}")
            known = self._made[config] = made
        return known

    def key(self, configs: Sequence[Config]) -> str | None:
        found = []
        for config in configs:
            try:
                found.append(self.python_kernel(config).key())
            except Exception as error:  # whatever the function does; the trial tells it
                found.append(f"{type(error).__name__}: {error}")
        return None if None in found else repr(found)

    def check(self, configs: Sequence[Config]) -> None:
        form = inspect.signature(self._function)
        for config in configs:
            try:
                form.bind(**_by_name(config))
            except TypeError as error:
                raise Error(f"'{self.name}{form}' makes no kernel of the configuration '{config}': {error}") from None

    def forget_all_but(self, config: Config) -> None:
        self._made = {known: made for known, made in self._made.items() if known == config}


def _by_name(config: Config) -> dict[str, Any]:
    return {str(name): value for name, value in config.values.items()}


def _built(kernel: PythonKernel, config: Config, device: Device) -> Kernel:
    """A kernel in Python as it is compiled for a device; from memory if what it reads has not changed."""
    return built(kernel, device, config.options).kernel(kernel.name)


def source_of(function: Any) -> TunedSource:
    """What a decorated function is: a kernel, or a function that makes one. Error for what is neither."""
    if isinstance(function, FunctionType):
        kernel = kernel_of(function)
        if not isinstance(kernel, PythonKernel) or kernel.item is None:
            return FactorySource(function)
        function = kernel
    if isinstance(function, PythonKernel):
        return CapturedSource(function)
    raise Error("autotune decorates a kernel in Python, or a function that makes one; OpenCL C and SPIR-V are given as "
                f"autotune(source=…); found {value_text(function)}")
