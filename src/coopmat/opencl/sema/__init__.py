"""Semantic analysis of OpenCL C: the syntax tree to the typed kernel tree, every conversion explicit.

:func:`analyze` is the entry. Modules: :mod:`.context` (state and services), :mod:`.values`,
:mod:`.conversions`, :mod:`.constants`, :mod:`.declarators` (types), :mod:`.records`,
:mod:`.declarations`, :mod:`.initializers`, :mod:`.expressions` with :mod:`.operators`,
:mod:`.pointers`, :mod:`.members`, :mod:`.assignment` and :mod:`.calls`,
:mod:`.printf` with :mod:`.formats`, :mod:`.statements`.
"""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.diagnostics import DiagnosticSink
from coopmat.opencl import builtins, syntax
from coopmat.opencl.builtins import predefined_types
from coopmat.opencl.sema import matrix, program
from coopmat.opencl.sema.context import Context, Scope
from coopmat.opencl.sema.declarators import PREDEFINED_TYPES
from coopmat.tree.nodes import Program

TYPE_NAMES: frozenset[str] = frozenset({*PREDEFINED_TYPES, *predefined_types.TYPEDEFS, *matrix.TYPE_NAMES})
"""The type names that are declared before a program begins; the parser has to know them."""


def analyze(unit: syntax.TranslationUnit, sink: DiagnosticSink, *, features: Iterable[str] = ()) -> Program:
    """The typed program of a translation unit.

    ``features`` are the feature macros that the device defines. Errors go to ``sink``; the program
    is of use only if there are none.
    """
    context = Context(sink, features)
    context.builtin_names = builtins.names() | matrix.FUNCTION_NAMES
    _declare_predefined(context)
    context.scopes.append(Scope())  # the file's
    program.analyze(context, unit)
    return context.program


def _declare_predefined(context: Context) -> None:
    for name, type_ in {**PREDEFINED_TYPES, **predefined_types.TYPEDEFS}.items():
        context.declare_typedef(name, type_)
    for name, (enumeration, value) in predefined_types.ENUM_CONSTANTS.items():
        context.declare_enumerators(enumeration, {name: value})
    matrix.declare_predefined(context)
