"""Invalid modules: what compiled targets refuse, and in whose words they say what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coopmat.diagnostics import CompileError, ValidationError
from coopmat.spirv.module import Module
from coopmat.spirv.module.malformed import MALFORMED, well_formed
from coopmat.support.cached import cached_property

if TYPE_CHECKING:
    from coopmat.spirv.validate import Violation

UNDECLARED = frozenset({"capability-missing", "entry-point-uses", "extension-missing", "version-range"})
"""Rules about what a module says of itself; what it does stays clear where they are broken."""
TOLERATED = UNDECLARED | {
    "any-all-types", "atomic-width", "builtin-variable", "composite-constant", "copy-logical", "integer-arithmetic",
    "low-precision-use", "matrix-load"}
"""Rules that a module may break: producers do, and its meaning is clear all the same."""


class Validity:
    """Whether a module is one that code is made of. ``validates``: whether it is checked at all."""

    def __init__(self, module: Module, *, validates: bool = True) -> None:
        self.module = module
        self.validates = validates

    @contextmanager
    def of_kernel(self, name: str) -> Iterator[None]:
        """Refuse an invalid module before code is made of it; if none can be made of one that is not refused, say what
        is wrong in the validator's words, if it finds anything."""
        refused = next((one for one in self._broken if one.rule not in TOLERATED), None)
        if refused is not None:
            raise ValidationError(refused.rule, refused.message, refused.offset)
        with well_formed(f"kernel '{name}'"):
            try:
                yield
            except (CompileError, *MALFORMED) as error:
                for one in self._broken:
                    if one.rule not in UNDECLARED:
                        raise ValidationError(one.rule, one.message, one.offset) from error
                raise

    @cached_property
    def _broken(self) -> list[Violation]:
        """The rules of SPIR-V that the module breaks."""
        from coopmat.spirv.validate import validate

        return [one for one in validate(self.module) if one.severity == "error"] if self.validates else []
