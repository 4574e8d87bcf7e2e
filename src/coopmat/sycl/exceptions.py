"""SYCL's exceptions (SYCL 4.13): ``exception`` is :class:`coopmat.Error`, whose ``code()`` is a member of ``errc``."""

from __future__ import annotations

from coopmat.diagnostics import (
    CompileError,
    Error,
    KernelNotSupported,
    LaunchError,
    SimulationError,
    ValidationError,
)
from coopmat.sycl.constraints import BrokenConstraint
from coopmat.sycl.enumerations import errc

exception = Error

CODES: tuple[tuple[type[Error], errc], ...] = (
    (KernelNotSupported, errc.kernel_not_supported),
    (LaunchError, errc.invalid),
    (CompileError, errc.build),
    (BrokenConstraint, errc.build),
    (ValidationError, errc.build),
    (SimulationError, errc.kernel),
    (Error, errc.runtime),
)
"""The code of each class of errors; the first that fits counts. Where C++ does not compile, it is ``build``."""


def code_of(error: Error) -> errc:
    """The code of an error."""
    return next(code for kind, code in CODES if isinstance(error, kind))
