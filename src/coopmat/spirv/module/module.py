"""The class :class:`Module`: what a module consists of, with all that can be done to a whole module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.kernels import KernelSignature, kernel_signatures
from coopmat.spirv.module import binary
from coopmat.spirv.module.content import Content
from coopmat.spirv.text.disassembler import disassemble
from coopmat.support.cached import cached_property

if TYPE_CHECKING:
    from coopmat.devices import DeviceDescription, HasDescription
    from coopmat.spirv.validate.rules import Violation


class Module(Content):
    """A SPIR-V module, which is read, written, validated, and looked at from every side.

    A module is read-only once one of its views has been used.  A pass makes a new one with :meth:`rewritten` or
    :meth:`with_instructions`; to write a module from nothing, use :class:`coopmat.spirv.edit.builder.ModuleBuilder`.
    """

    @classmethod
    def saved(cls, data: bytes, signatures: dict[str, KernelSignature]) -> Self:
        """What :meth:`to_bytes` has made of a valid module with these kernels; it is read when it is looked at."""
        header = binary.read_header(data)
        module = cls(version=header.version, generator=header.generator, bound=header.bound, schema=header.schema,
                     is_valid=True)
        module._instructions, module._saved = None, data
        module.__dict__["kernel_signatures"] = signatures
        return module

    @classmethod
    def from_text(cls, text: str, *, version: tuple[int, int] = (1, 4)) -> Self:
        """Assemble SPIR-V text; ``version`` stands where the text names none.

        Raises ValidationError, with line and column, for what is no SPIR-V assembly.
        """
        from coopmat.spirv.text.assembler import assemble  # most processes never read text

        if not isinstance(text, str):
            raise Error(f"SPIR-V text is a str, not {type(text).__name__} (Module.from_bytes takes a binary)")
        return cls._of(assemble(text, version=version))

    def to_text(self, friendly_names: bool = False) -> str:
        """The module as SPIR-V assembly, ids as numbers or by name."""
        return disassemble(self, friendly_names=friendly_names)

    def validate(self, device: str | DeviceDescription | HasDescription | None = None) -> list[Violation]:
        """All broken rules, in the order of the instructions; an empty list means that the module is valid.

        ``device``, a :class:`coopmat.Device` or its name: whether it has what the module uses is checked, too.
        docs/validation.md lists the rules.
        """
        from coopmat.devices import description_of  # needs numpy
        from coopmat.spirv.validate import validate  # has many tables

        return validate(self, None if device is None else description_of(device))

    @cached_property
    def kernel_signatures(self) -> dict[str, KernelSignature]:
        """Name → signature of every kernel, in the module's order.  ValidationError for what cannot be one."""
        return kernel_signatures(self)
