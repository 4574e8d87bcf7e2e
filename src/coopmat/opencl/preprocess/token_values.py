"""What tokens carry besides their text: the constants of literals, and pragmas."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coopmat.formats import format_of, round_fraction

FLOAT_FORMATS = {"half": format_of("fp16"), "float": format_of("fp32"), "double": format_of("fp64")}
"""The formats of the types that floating constants have."""


@dataclass(frozen=True, slots=True)
class IntegerConstant:
    """An integer or character constant; ``type_name`` is int, uint, long or ulong."""

    value: int
    type_name: str

    @property
    def unsigned(self) -> bool:
        """Whether the type is uint or ulong."""
        return self.type_name.startswith("u")

    @property
    def long(self) -> bool:
        """Whether the type has 64 bits."""
        return self.type_name.endswith("long")


@dataclass(frozen=True, slots=True)
class FloatingConstant:
    """A floating constant: ``exact`` is what the source says; ``type_name`` is half, float or double."""

    exact: Fraction
    type_name: str

    @property
    def value(self) -> float:
        """The value in the constant's own type."""
        return self.rounded_to(self.type_name)

    def rounded_to(self, type_name: str) -> float:
        """The value in another type, rounded once: to nearest even, infinity beyond its range."""
        return round_fraction(self.exact, FLOAT_FORMATS[type_name])


LiteralValue = IntegerConstant | FloatingConstant | bytes
"""What a literal stands for; bytes are a string's characters without the terminating zero."""


# --------------------------------------------------------------------------------------
# Pragmas
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExtensionPragma:
    """``#pragma OPENCL EXTENSION name : enable`` or ``disable``; the name ``all`` means all of them."""

    name: str
    enable: bool

    @property
    def words(self) -> tuple[str, ...]:
        """The pragma as words."""
        return "OPENCL", "EXTENSION", self.name, ":", "enable" if self.enable else "disable"


@dataclass(frozen=True, slots=True)
class ContractPragma:
    """``#pragma OPENCL FP_CONTRACT`` (or ``STDC``): ``state`` is ON, OFF or DEFAULT."""

    state: str

    @property
    def words(self) -> tuple[str, ...]:
        """The pragma as words."""
        return "OPENCL", "FP_CONTRACT", self.state


@dataclass(frozen=True, slots=True)
class UnrollPragma:
    """``#pragma unroll``, for the loop behind it; ``factor`` is 0 for "in full" and 1 for "not at all"."""

    factor: int

    @property
    def words(self) -> tuple[str, ...]:
        """The pragma as words."""
        return {0: ("unroll",), 1: ("nounroll",)}.get(self.factor, ("unroll", str(self.factor)))


@dataclass(frozen=True, slots=True)
class PackPragma:
    """``#pragma pack``: ``action`` is push, pop, or empty; ``alignment`` the one that is set, if any (0 for
    the usual one); ``label`` what is pushed or popped is called, if it has a name."""

    action: str
    alignment: int | None
    label: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The pragma as words."""
        parts = [self.action, self.label, None if self.alignment is None else str(self.alignment)]
        return "pack", f"({', '.join(part for part in parts if part)})"


Pragma = ExtensionPragma | ContractPragma | UnrollPragma | PackPragma
