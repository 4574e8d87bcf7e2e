"""From source in any of four forms to a program."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coopmat.devices import describe
from coopmat.diagnostics import CompileWarning, Diagnostic, Error, ValidationError
from coopmat.runtime.device import Device
from coopmat.runtime.options import Options, parse_options, split_options
from coopmat.runtime.program import Program
from coopmat.runtime.python_kernels import PythonKernel
from coopmat.runtime.selection import device as find_device
from coopmat.runtime.simulated_device import SimulatedDevice
from coopmat.runtime.sources import OpenCLSource, PythonSource, llvm_to_spirv
from coopmat.spirv.edit.processing import scheduled
from coopmat.spirv.edit.specialization import Value
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache, find_cache
from coopmat.support.collector import collector_paused
from coopmat.support.files import read_bytes, read_text

Source = str | Path | bytes | Module | PythonKernel
"""OpenCL C text, a file, SPIR-V, or a kernel in Python."""

SOURCE_SUFFIXES = (".cl", ".ll", ".spv", ".spvasm")


def build(source: Source, options: Options = (), device: Device | str | None = None, *,
          link: Sequence[Source] = (), spec_constants: Mapping[int | str, Value] | None = None,
          cache_dir: str | Path | None = None) -> Program:
    """Compile ``source`` and, given a device, prepare it for that device.

    source: OpenCL C text; a path to a ``.cl``, ``.ll`` (LLVM IR), ``.spv`` (SPIR-V) or ``.spvasm``
        (SPIR-V text) file; SPIR-V as bytes or as a :class:`coopmat.spirv.Module`; or a Python function with the
        decorator :func:`coopmat.sycl.kernel`.
    options: those of clBuildProgram, as one text (``"-D K=64 -cl-std=CL1.2"``) or as a sequence of words;
        docs/build-options.md lists them. Of SPIR-V and LLVM IR only ``-coopmat-schedule=`` changes something.
    device: the device, or its name; its feature macros are defined, and its matrix combinations checked.
    link: further sources, linked with the first into one program: what one exports, the others import.
    spec_constants: values of the program's specialisation constants, by SpecId or by name; those that are left
        out have their defaults.
    cache_dir: the folder in which compiled programs are kept, or ``"off"``; by default the one that the
        environment variable COOPMAT_CACHE_DIR names, else the user's folder for caches.

    Warnings about the source are shown as Python's (:class:`coopmat.CompileWarning`), once for each place, and are in
    the program's ``warnings``.
    Raises CompileError, ValidationError, KernelNotSupported, or Error for a file that cannot be read, for modules
    that cannot be linked, and for specialisation constants that do not exist or do not fit.
    """
    program = make_program(source, options, device, link=link, spec_constants=spec_constants, cache_dir=cache_dir)
    show_warnings(program.warnings)
    return program


MOST_SHOWN = 1000
_SHOWN: dict[Any, Any] = {}
"""The warnings that were shown, as :mod:`warnings` notes them."""


def show_warnings(found: Sequence[Diagnostic]) -> None:
    """Show what the front end warns of as Python's warnings, each place once unless a filter says otherwise."""
    if len(_SHOWN) > MOST_SHOWN:
        _SHOWN.clear()
    for one in found:
        name, line = (one.location.name, one.location.line) if one.location is not None else ("<source>", 0)
        warnings.warn_explicit(f"\n{one}", CompileWarning, name, line, registry=_SHOWN)


def make_program(source: Source, options: Options = (), device: Device | str | None = None, *,
                 link: Sequence[Source] = (), spec_constants: Mapping[int | str, Value] | None = None,
                 cache_dir: str | Path | None = None) -> Program:
    """:func:`build`, for callers that show the warnings themselves."""
    if device is not None and not isinstance(device, Device):
        device = find_device(device)
    if isinstance(link, str | bytes | Path):
        raise Error("link takes a sequence of sources, such as [pathlib.Path('b.spv')]")
    with collector_paused():
        cache = find_cache(cache_dir)
        is_linked = bool(link)
        program = _translate(source, options, device, cache, is_linked)
        if is_linked:
            program = _linked([program, *(_translate(other, options, device, cache, is_linked) for other in link)])
        if spec_constants is not None:
            if spec_constants and not program.spec_constants and _is_opencl_c(source):
                raise Error(f"{program.source_name} is OpenCL C, which has no specialisation constants: define a macro "
                            f"instead, such as -D {next(iter(spec_constants))}=VALUE")
            program = program.specialized(spec_constants)
        if device is not None:
            program.made_for(device)
        _ = program.kernels  # what is wrong with the module is told now; only now, as defaults may make no sense
        if device is not None:
            program.load(device)
    return program


def _is_opencl_c(source: Source) -> bool:
    return isinstance(source, str) or (isinstance(source, Path) and source.suffix == ".cl")


def _linked(programs: Sequence[Program]) -> Program:
    from coopmat.spirv.edit.linker import link

    names = [program.source_name for program in programs]
    module = link([program.module for program in programs], names)
    found = [warning for program in programs for warning in program.warnings]

    def text_of(name: str) -> str | None:
        """The text, unless several programs have a file of the name."""
        texts = {text for program in programs if (text := program.text_of(name)) is not None}
        return texts.pop() if len(texts) == 1 else None

    return Program(module, source_name=" + ".join(names), warnings=found, text_of=text_of)


def _translate(source: Source, options: Options, device: Device | None, cache: Cache, is_linked: bool) -> Program:
    match source:
        case str() if "\n" not in source and source.endswith(SOURCE_SUFFIXES):
            raise Error(f"a str is OpenCL C text; to build the file, pass pathlib.Path({source!r})")
        case str():
            return _from_opencl(source, None, options, device, cache)
        case bytes() | bytearray() | memoryview():
            return Program(_scheduled(Module.from_bytes(bytes(source)), options))
        case Module():
            return Program(_scheduled(source, options))
        case Path():
            return _from_file(source, options, device, cache, is_linked)
    return _from_python(source, options, device, cache)


def _scheduled(module: Module, options: Options) -> Module:
    """A module that was compiled before, with what an option fixes of its launches; all else is decided in it."""
    return scheduled(module, parse_options(options).schedule)


def _from_python(source: Any, options: Options, device: Device | None, cache: Cache) -> Program:
    if not isinstance(source, PythonKernel):
        raise Error("a source is OpenCL C text (str), a pathlib.Path, SPIR-V (bytes), a Module or a kernel in Python, "
                    f"not {type(source).__name__}")
    found = PythonSource(source, split_options(options),
                         device if device is not None else SimulatedDevice(describe("generic")))
    made = found.compile(cache)
    return Program(made.module, source_name=found.name, warnings=made.warnings, make_llvm_ir=found.llvm_ir,
                   loadable_by=found.device if made.is_loadable else None, cache=cache, python=source,
                   text_of=found.text_of)


def _from_file(path: Path, options: Options, device: Device | None, cache: Cache, is_linked: bool) -> Program:
    match path.suffix:
        case ".cl":
            return _from_opencl(read_text(path), path, options, device, cache)
        case ".ll":
            ir = read_text(path)
            module = llvm_to_spirv(ir, str(path), cache, keeps_imports=is_linked)
            return Program(_scheduled(module, options), source_name=str(path), make_llvm_ir=lambda: ir, cache=cache)
        case ".spv" | ".spvasm":
            return _from_spirv(path, options)
    raise Error(f"cannot build '{path}': its name must end in {', '.join(SOURCE_SUFFIXES[:-1])} "
                f"or {SOURCE_SUFFIXES[-1]}")


def _from_spirv(path: Path, options: Options) -> Program:
    content = read_bytes(path) if path.suffix == ".spv" else read_text(path)
    try:
        module = Module.from_bytes(content) if isinstance(content, bytes) else Module.from_text(content)
        return Program(_scheduled(module, options), source_name=str(path))
    except ValidationError as error:
        raise error.in_file(str(path)) from None


def _from_opencl(text: str, path: Path | None, options: Options, device: Device | None,
                 cache: Cache) -> Program:
    source = OpenCLSource(text, path, parse_options(options),
                          device if device is not None else SimulatedDevice(describe("generic")))
    found = source.compile(cache)
    return Program(found.module, source_name=source.name, warnings=found.warnings, make_llvm_ir=source.llvm_ir,
                   loadable_by=source.device if found.is_loadable else None, cache=cache, text_of=source.text_of)
