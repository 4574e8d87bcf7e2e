"""What a row of the SPIR-V tables holds.

A row is written ``Name = number, "operands", "requirements"``:

* *operands*: the kinds that follow, in order, separated by blanks; ``?`` marks an optional operand and
  ``*`` one that may come any number of times.  For an instruction, ``type`` and ``result`` stand for the
  result type and the result id; for an enumerant, the operands are the parameters it brings along.
* *requirements*: capabilities of which any one is enough, extension names (``SPV_…``), the first core
  version (``1.0`` is left out, ``ext`` means that no core version has it) and ``<=`` the last one.

A name that is no Python identifier carries an underscore that :attr:`spelling` drops (``None_``, ``_2D``).
A second name for the same number is an alias: accepted when text is read, never written.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class Row(IntEnum):
    """An enumerant with its parameters and requirements."""

    signature: str
    requires: str

    def __new__(cls, value: int, signature: str = "", requires: str = "") -> Row:
        member = int.__new__(cls, value)
        member._value_ = value
        member.signature = signature
        member.requires = requires
        return member

    @property
    def spelling(self) -> str:
        """The name as SPIR-V assembly writes it."""
        return self.name.strip("_")


class Mask(IntFlag):
    """A bit of a mask with its parameters and requirements; unknown bits of a value are kept."""

    signature: str
    requires: str

    def __new__(cls, value: int, signature: str = "", requires: str = "") -> Mask:
        member = int.__new__(cls, value)
        member._value_ = value
        member.signature = signature
        member.requires = requires
        return member

    @property
    def spelling(self) -> str:
        """The name of a single bit as SPIR-V assembly writes it."""
        return (self.name or "").strip("_")
