"""OpenCL C: source text to the typed kernel tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from coopmat.devices import DeviceDescription, describe
from coopmat.diagnostics import CompileError, Diagnostic, DiagnosticSink, SourceFile, SourceLocation
from coopmat.opencl import builtins, parse, preprocess, sema
from coopmat.opencl.messages import with_groups
from coopmat.opencl.messages.semantic import TOO_DEEP_FOR_PYTHON
from coopmat.opencl.recursion import deep_recursion
from coopmat.opencl.sema import conversion_builtins, matrix
from coopmat.source_files import SourceFiles
from coopmat.tree.nodes import Program

__all__ = ["compile_source", "is_builtin_function"]


def is_builtin_function(name: str, features: Collection[str] | None = None) -> bool:
    """Whether OpenCL C declares a function of this name, which ``__has_builtin`` asks; with ``features``,
    whether it does so on a device that defines these macros."""
    known = name in builtins.names() if features is None else builtins.has_builtin(name, features)
    return known or name in matrix.FUNCTION_NAMES or conversion_builtins.is_conversion(name)


def compile_source(text: str, *, name: str = "<source>", path: Path | None = None,
                   defines: Mapping[str, str | None] | None = None, include_paths: Iterable[str | Path] = (),
                   device: DeviceDescription | None = None, ignored_warnings: Iterable[str] = (),
                   werror: bool = False, source_files: SourceFiles | None = None) -> tuple[Program, list[Diagnostic]]:
    """Compile OpenCL C to the kernel tree; returns the program and the warnings.

    ``name`` is what messages call the source; ``path`` is its file, next to which ``#include "…"``
    looks first. ``defines`` are macros (None means 1), ``device`` decides which features exist (the
    generic one if None), ``ignored_warnings`` are the names behind ``-Wno-``. ``source_files`` remembers
    what the compilation saw of the file system. Raises
    :class:`~coopmat.diagnostics.CompileError` with all diagnostics if there is an error.
    """
    description = device if device is not None else describe("generic")
    sink = DiagnosticSink(ignored=with_groups(ignored_warnings), warnings_as_errors=werror)
    file = SourceFile(str(path) if path is not None and name == "<source>" else name, text)
    features = frozenset(description.extensions)
    with deep_recursion():
        try:
            preprocessor = preprocess.Preprocessor(sink, include_paths=include_paths, defines=defines or {},
                                                   features=features,
                                                   has_builtin=partial(is_builtin_function, features=features),
                                                   source_files=source_files)
            unit = parse.parse(preprocessor.run(file), sink, sema.TYPE_NAMES)
            program = sema.analyze(unit, sink, features=features)
            builtins.matrix_mad.check(program, sink, description)
        except RecursionError:
            sink.report(TOO_DEEP_FOR_PYTHON, SourceLocation(file, 1, 1))
            raise CompileError(sink.diagnostics) from None
    return program, sink.finish()
