"""What the work-groups of a launch share, and so whether parts of the launch may run apart, each on memory of its own.

Work-groups that write different elements do not notice each other. Atomic operations that add, take a minimum and the
like can be put together afterwards, where nobody looks at what they return or at the memory while the kernel runs.
What else work-groups tell each other is found here, with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from coopmat.spirv.analysis.imports import is_assertion
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.analysis.types import FloatType, IntType, TypeTable
from coopmat.spirv.grammar import LIFETIMES, ExecutionModel, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.flatten import Flat, flatten
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.analysis.pointer_uses import PointerUses

Operation = Literal["add", "min", "max", "and", "or", "xor"]
_UNSIGNED, _SIGNED, _FLOAT = "u", "i", "f"
_COMBINED: dict[int, tuple[Operation, str]] = {
    Op.AtomicIIncrement: ("add", _UNSIGNED), Op.AtomicIDecrement: ("add", _UNSIGNED),
    Op.AtomicIAdd: ("add", _UNSIGNED), Op.AtomicISub: ("add", _UNSIGNED), Op.AtomicFAddEXT: ("add", _FLOAT),
    Op.AtomicSMin: ("min", _SIGNED), Op.AtomicUMin: ("min", _UNSIGNED), Op.AtomicFMinEXT: ("min", _FLOAT),
    Op.AtomicSMax: ("max", _SIGNED), Op.AtomicUMax: ("max", _UNSIGNED), Op.AtomicFMaxEXT: ("max", _FLOAT),
    Op.AtomicAnd: ("and", _UNSIGNED), Op.AtomicOr: ("or", _UNSIGNED), Op.AtomicXor: ("xor", _UNSIGNED),
}
"""Atomic operations whose results can be put together: how, and the kind of their numbers (as numpy calls kinds)."""
_ATOMIC = frozenset(op for op in Op if op.name.startswith("Atomic"))


@dataclass(frozen=True)
class Combination:
    """How what several parts have done to an array is put together: an operation on elements of a numpy type."""

    operation: Operation
    dtype: str


@dataclass(frozen=True)
class Sharing:
    """written: the positions of the parameters whose memory the kernel writes. combined: of those, the ones that only
    atomic operations of one kind touch. reasons: why parts of a launch must see the same memory; empty where they need
    not. written_variables: of the program, by name; writes_anywhere: through a pointer of unknown origin."""

    written: frozenset[int]
    combined: Mapping[int, Combination] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    written_variables: tuple[str, ...] = ()
    writes_anywhere: bool = False


def sharing_of(module: Module, kernel: str) -> Sharing:
    """What the work-groups of a kernel share."""
    entry = next(one for one in module.entry_points if one.name == kernel and one.model == ExecutionModel.Kernel)
    return _Search(flatten(module, entry.function_id, TypeTable(module, 1))).found()


class _Search:
    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.uses = PointerUses(flat)
        self.origins = Origins(self.uses)
        self.places = {row.result_id: place for place, row in enumerate(flat.parameters)}
        self.plain: dict[int | None, Instruction] = {}  # what is accessed other than by atomics that can be combined
        self.written: set[int | None] = set()
        self.combined: dict[int | None, set[Combination]] = {}
        self.atomic: dict[int | None, Instruction] = {}
        self.reasons: dict[str, None] = {}
        self.variables: dict[str, None] = {}

    def found(self) -> Sharing:
        for row in self._rows():
            for root, writes in self.origins.accesses(row):
                self._note(row, root, writes)
        for root, kinds in self.combined.items():
            if root in self.plain:
                self._refuse(self.atomic[root], f"{self._name(root)} is changed by atomic operations and accessed "
                             "otherwise, too", self.plain[root])
            elif len(kinds) > 1:
                self._refuse(self.atomic[root], f"{self._name(root)} is changed by atomic operations of several kinds")
        self._check_variables()
        written = frozenset(self.places[root] for root in self.written | set(self.combined) if root in self.places)
        combined = {self.places[root]: next(iter(kinds)) for root, kinds in self.combined.items()
                    if root in self.places and len(kinds) == 1}
        return Sharing(written, combined, tuple(self.reasons), tuple(self.variables), None in self.written)

    def _rows(self) -> Iterator[Instruction]:
        for block in self.flat.blocks:
            yield from block.instructions

    def _note(self, row: Instruction, root: int | None, writes: bool) -> None:
        if row.opcode in LIFETIMES or self._asserts(row):
            return
        combination = self._combination(row) if row.opcode in _ATOMIC else None
        if combination is not None:
            self.combined.setdefault(root, set()).add(combination)
            self.atomic.setdefault(root, row)
            return
        if row.opcode in _ATOMIC:
            what = "what it returns is used" if row.opcode in _COMBINED else "its effects cannot be put together"
            self._refuse(row, f"work-groups tell each other something by {row.name} on {self._name(root)}: {what}")
        if root is None and writes:
            self._refuse(row, "it writes through a pointer of which nobody knows where it comes from")
        self.plain.setdefault(root, row)
        if writes:
            self.written.add(root)

    def _asserts(self, row: Instruction) -> bool:
        """Whether it is a failed assertion, which reads texts, and whose launch fails."""
        return row.opcode == Op.FunctionCall and is_assertion(self.flat.module, row.words[0])

    def _combination(self, row: Instruction) -> Combination | None:
        """How the effects of an atomic operation are put together; None if they cannot be."""
        if row.opcode not in _COMBINED or self.uses.users.get(row.result_id or 0):
            return None
        operation, kind = _COMBINED[row.opcode]
        number = self.flat.types[row.type_id or 0]
        if not isinstance(number, IntType | FloatType) or number.size not in (2, 4, 8):
            return None
        return Combination(operation, f"{kind}{number.size}")

    def _check_variables(self) -> None:
        """Refuse to part a kernel that writes to variables of the program."""
        for root in self.written | set(self.combined):
            if root is not None and root not in self.places:
                kind = self.flat.definition(root)
                if kind.opcode == Op.Variable and kind.words[0] == StorageClass.CrossWorkgroup:
                    self.variables[self._name(root)] = None
                    self._refuse(self.plain.get(root) or self.atomic[root],
                                 f"{self._name(root)} is a variable of the program, which all launches share")

    # --- words ------------------------------------------------------------------------

    def _name(self, root: int | None) -> str:
        name = self.flat.module.names.get(self.flat.original(root)) if root is not None else None
        return f"'{name}'" if name else "memory"

    def _refuse(self, row: Instruction, reason: str, other: Instruction | None = None) -> None:
        lines = dict.fromkeys(text for text in map(self._line, (row, other)) if text)
        self.reasons[f"{reason} ({', '.join(lines)})" if lines else reason] = None

    def _line(self, row: Instruction | None) -> str | None:
        place = place_of(self.flat.module, row) if row is not None else None
        return None if place is None else f"{place.file.name}:{place.line}"
