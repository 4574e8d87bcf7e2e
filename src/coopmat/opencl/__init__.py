"""OpenCL C: source text to the typed kernel tree."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from coopmat.devices import DeviceDescription, describe
from coopmat.diagnostics import CompileError, Diagnostic, DiagnosticSink, SourceFile, SourceLocation
from coopmat.diagnostics.warning_levels import levels_of
from coopmat.opencl import sema
from coopmat.opencl.builtins import is_builtin_function, matrix_mad
from coopmat.opencl.messages import GROUPS
from coopmat.opencl.messages.semantic import TOO_DEEP_FOR_PYTHON
from coopmat.opencl.parse import parser
from coopmat.opencl.parse.recursion import deep_recursion
from coopmat.opencl.preprocess.options import check_options, features_of
from coopmat.opencl.preprocess.preprocessor import Preprocessor
from coopmat.opencl.sema import attributes
from coopmat.support.build_options import BuildOptions
from coopmat.support.source_files import SourceFiles
from coopmat.tree.nodes import Program

__all__ = ["BuildOptions", "compile_source", "is_builtin_function"]


def compile_source(text: str, *, name: str = "<source>", path: Path | None = None,
                   options: BuildOptions | None = None, device: DeviceDescription | None = None,
                   source_files: SourceFiles | None = None) -> tuple[Program, list[Diagnostic]]:
    """Compile OpenCL C to the kernel tree; returns the program and the warnings.

    ``name`` is what messages call the source; ``path`` is its file, next to which ``#include "…"``
    looks first. ``device`` decides which features exist (the generic one if None). ``source_files``
    remembers what the compilation saw of the file system. Raises
    :class:`~coopmat.diagnostics.CompileError` with all diagnostics if there is an error.
    """
    options = options if options is not None else BuildOptions()
    description = device if device is not None else describe("generic")
    sink = DiagnosticSink(levels_of(options.warnings, GROUPS), error_limit=options.error_limit)
    file = SourceFile(str(path) if path is not None and name == "<source>" else name, text)
    check_options(options, sink)
    features = features_of(description, options, sink)
    with deep_recursion():
        try:
            preprocessor = Preprocessor(
                sink, language=options.language, include_paths=options.include_paths,
                system_include_paths=options.system_include_paths, included_files=options.included_files,
                macros=options.macros, features=features, source_files=source_files,
                has_builtin=partial(is_builtin_function, features=features, language=options.language),
                has_attribute=attributes.is_known)
            unit = parser.parse(preprocessor.run(file), sink, sema.type_names(options.language))
            program = sema.analyze(unit, sink, features=features, language=options.language,
                                   single_precision_constants=options.single_precision_constants,
                                   macro_names=preprocessor.macro_names)
            matrix_mad.check(program, sink, description)
        except RecursionError:
            sink.report(TOO_DEEP_FOR_PYTHON, SourceLocation(file, 1, 1))
            raise CompileError(sink.diagnostics) from None
    return program, sink.finish()
