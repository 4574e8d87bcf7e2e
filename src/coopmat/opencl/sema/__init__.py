"""Semantic analysis of OpenCL C: the syntax tree to the typed kernel tree, every conversion explicit.

:func:`analyze` is the entry. The :mod:`.context` has the state and the services that all parts share; each part
analyses one kind of construct, and calls the others through the context: :mod:`.declarators` (types), :mod:`.records`,
:mod:`.enumerations`, :mod:`.attributes`, :mod:`.declarations` with :mod:`.variables`, :mod:`.initializers`,
:mod:`.expressions` with :mod:`.operators`, :mod:`.pointers`, :mod:`.members`, :mod:`.assignment` and :mod:`.calls`,
:mod:`.statements`, and the warnings in :mod:`.checks`. The :mod:`.analyzer` puts them together.
"""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.diagnostics import DiagnosticSink
from coopmat.opencl import builtins
from coopmat.opencl.base.symbols import BlockScope
from coopmat.opencl.builtins import matrices, predefined_types
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema import program
from coopmat.opencl.sema.analyzer import Analyzer
from coopmat.opencl.sema.context import Context
from coopmat.support.build_options import LATEST, Language
from coopmat.tree.nodes import Program


def type_names(language: Language = LATEST) -> frozenset[str]:
    """The type names that are declared before a program begins; the parser has to know them."""
    return frozenset({*predefined_types.NUMBER_TYPES, *predefined_types.typedefs(language), *matrices.TYPE_NAMES})


def analyze(unit: syntax.TranslationUnit, sink: DiagnosticSink, *, features: Iterable[str] = (),
            language: Language = LATEST, single_precision_constants: bool = False,
            macro_names: Iterable[str] = ()) -> Program:
    """The typed program of a translation unit.

    ``features`` are the feature macros that the device defines; with ``single_precision_constants`` a floating
    constant without suffix is a float. ``macro_names`` are suggested for misspelt names. Errors go to ``sink``; the
    program is of use only if there are none.
    """
    context = Analyzer(sink, features, language, single_precision_constants, macro_names)
    context.builtin_names = builtins.names() | matrices.FUNCTION_NAMES
    _declare_predefined(context)
    context.scopes.append(BlockScope())  # the file's
    program.analyze(context, unit)
    return context.program


def _declare_predefined(context: Context) -> None:
    for name, type_ in {**predefined_types.NUMBER_TYPES, **predefined_types.typedefs(context.language)}.items():
        context.declare_typedef(name, type_)
    if context.language.has_memory_model:
        for name, (enumeration, value) in predefined_types.ENUM_CONSTANTS.items():
            context.declare_enumerators(enumeration, {name: value})
    matrices.declare_predefined(context)
