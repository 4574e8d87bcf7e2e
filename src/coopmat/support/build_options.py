"""What a compilation can be told: the version of OpenCL C, and the options of clBuildProgram."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Language:
    """One version: ``number`` is the value of ``__OPENCL_C_VERSION__``."""

    number: int

    @property
    def name(self) -> str:
        """The version as ``-cl-std=`` takes it."""
        return f"CL{self}"

    def __str__(self) -> str:
        return f"{self.number // 100}.{self.number // 10 % 10}"

    @property
    def has_generic_address_space(self) -> bool:
        """Whether a pointer without an address space points to the generic one; else it is private."""
        return self.number >= 200

    @property
    def has_program_scope_variables(self) -> bool:
        """Whether variables outside of functions, and static ones, may lie in global memory."""
        return self.number >= 200

    @property
    def has_memory_model(self) -> bool:
        """Whether there are C11's atomic types, memory orders and scopes."""
        return self.number >= 200

    @property
    def has_storage_classes(self) -> bool:
        """Whether there are ``static`` and ``extern``."""
        return self.number >= 120

    @property
    def has_pointers_to_pointers_in_kernels(self) -> bool:
        """Whether a kernel's parameter may be a pointer to a pointer."""
        return self.number >= 200


LANGUAGES = {language.name: language for language in map(Language, (100, 110, 120, 200, 300))}
"""The versions by name."""

LATEST = LANGUAGES["CL3.0"]

ERROR_LIMIT = 20
"""After so many errors the compilation stops, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The options of one compilation. What the command line calls each is in :mod:`coopmat.runtime.options`.

    ``macros`` are -D and -U in order: a name (with parameters, as in ``MAX(a, b)``) and its text, or None where
    it is undefined. ``extensions`` are those of -cl-ext in order, ``all`` among them, and whether they are on.
    ``warnings`` are the -W options and -w in order. ``schedule`` is what -coopmat-schedule= fixes. ``marks_overflow``:
    signed arithmetic says that it must not overflow. ``fast_math``: what arithmetic of floating-point numbers may
    assume, as SPIR-V's FPFastMathMode calls it. ``unused`` are the options that were accepted and change nothing here.
    """

    language: Language = LATEST
    macros: tuple[tuple[str, str | None], ...] = ()
    include_paths: tuple[Path, ...] = ()
    system_include_paths: tuple[Path, ...] = ()
    included_files: tuple[str, ...] = ()
    extensions: tuple[tuple[str, bool], ...] = ()
    warnings: tuple[str, ...] = ()
    error_limit: int = ERROR_LIMIT
    single_precision_constants: bool = False
    schedule: str | None = None
    marks_overflow: bool = False
    fast_math: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
