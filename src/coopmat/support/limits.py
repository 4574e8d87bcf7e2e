"""How deep programs may nest. The simulator has these limits; the front ends report them with a source line."""

DEEPEST_CALL = 100
"""Functions that are active at once, the kernel included."""

DEEPEST_TYPE = 64
"""Types inside one another in a module: arrays, structures, vectors, scalars."""

DEEPEST_DECLARED_TYPE = DEEPEST_TYPE - 4
"""Pointers, arrays and records inside one another in a source. Four levels remain for what these hold: a
vector of scalars, and the structure and array that stand for a union."""

LONGEST_IDENTIFIER = 4096
"""Characters of an identifier in a source."""

LONGEST_SYMBOL = 0xFFFF
"""Bytes of a function's name in LLVM IR; its instructions in SPIR-V then have room for what else they list."""

MOST_LISTED = 0xFFFF - 3
"""Elements that a constant array or structure of a module can list: an instruction has at most 65535 words."""
