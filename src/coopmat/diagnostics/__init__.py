"""Errors and diagnostics: source locations, carets, and the exception classes of the public contract.

A front end creates :class:`Diagnostic` objects and collects them in a :class:`DiagnosticSink`;
``DiagnosticSink.finish`` raises :class:`CompileError` with all of them.  Every exception that a
user of the package can meet derives from :class:`Error`.
"""

from coopmat.diagnostics.error_codes import errc
from coopmat.diagnostics.errors import (
    CompileError,
    CompileWarning,
    DataRace,
    Deadlock,
    DivergentGroupOperation,
    Error,
    KernelAssertion,
    KernelNotSupported,
    LaunchError,
    LayoutWarning,
    Misaligned,
    OutOfBounds,
    SignedOverflowWarning,
    SimulationError,
    UndefinedBehavior,
    UninitializedRead,
    ValidationError,
    Where,
)
from coopmat.diagnostics.locations import SourceFile, SourceLocation
from coopmat.diagnostics.messages import Diagnostic, Message, in_source_order, note, render
from coopmat.diagnostics.quoting import SNIPPET_WIDTH, SpelledEnum, number_text, shortened, value_text
from coopmat.diagnostics.rendering import NO_MARKS, FixIt, Marks
from coopmat.diagnostics.sink import TOO_MANY_ERRORS, DiagnosticSink

__all__ = [
    "NO_MARKS",
    "SNIPPET_WIDTH",
    "TOO_MANY_ERRORS",
    "CompileError",
    "CompileWarning",
    "DataRace",
    "Deadlock",
    "Diagnostic",
    "DiagnosticSink",
    "DivergentGroupOperation",
    "Error",
    "FixIt",
    "KernelAssertion",
    "KernelNotSupported",
    "LaunchError",
    "LayoutWarning",
    "Marks",
    "Message",
    "Misaligned",
    "OutOfBounds",
    "SignedOverflowWarning",
    "SimulationError",
    "SourceFile",
    "SourceLocation",
    "SpelledEnum",
    "UndefinedBehavior",
    "UninitializedRead",
    "ValidationError",
    "Where",
    "errc",
    "in_source_order",
    "note",
    "number_text",
    "render",
    "shortened",
    "value_text",
]
