"""Rules about the binary form of a module, which reading it checks.

A module that breaks one of them cannot be looked at any further: it is the only violation that is reported.
"""

from __future__ import annotations

from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import ModuleView

PHYSICAL = "SPIR-V 2.3 Physical Layout of a SPIR-V Module and Instruction"
INSTRUCTIONS = "SPIR-V 3.3 Instructions"
LIMITS = "SPIR-V 2.17 Universal Limits"

_READING = (
    ("header-size", "A module begins with five header words.", PHYSICAL),
    ("header-magic", "The first word is the magic number, in either byte order.", PHYSICAL),
    ("header-version", "The version is one of SPIR-V 1.0 to 1.6.", PHYSICAL),
    ("header-bound", "The id bound is at least 1 and within what can be held.", f"{PHYSICAL}; {LIMITS}"),
    ("word-size", "A module is a sequence of whole 32-bit words.", PHYSICAL),
    ("word-count", "The word count of an instruction is at least 1, and its words lie within the module.", PHYSICAL),
    ("id-bound", "Every id is at least 1 and below the bound in the header.", PHYSICAL),
    ("id-unique", "Every id is the result of one instruction only.", "SPIR-V 2.16.1 Universal Validation Rules"),
    ("operand-missing", "An instruction has all operands that it needs.", INSTRUCTIONS),
    ("operand-surplus", "An instruction has no words beyond its operands.", INSTRUCTIONS),
    ("operand-value", "OpSpecConstantOp holds an instruction other than itself.", "SPIR-V 3.3.7 OpSpecConstantOp"),
    ("string-terminator", "A literal string ends with a zero byte within its instruction.",
     "SPIR-V 2.2.1 Instructions"),
)


def in_reading(view: ModuleView) -> Findings:
    """Nothing: a module that could be read breaks none of these rules."""
    yield from ()


for _name, _summary, _section in _READING:
    rule(_name, _summary, _section)(in_reading)
