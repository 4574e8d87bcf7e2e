"""Which variable or argument a pointer comes from, as far as that is known when a kernel is compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coopmat.spirv.analysis.types import PointerType
from coopmat.spirv.grammar import CHAINS, LIFETIMES, POINTER_CASTS, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.support.cached import cached_property
from coopmat.targets.analysis.pointer_uses import PointerUses

DERIVED = frozenset({*CHAINS, *POINTER_CASTS, Op.GenericCastToPtrExplicit})
"""Instructions whose first operand is the pointer that their result is derived from."""
NOWHERE = frozenset({Op.ConstantNull, Op.Undef, Op.PoisonKHR})
"""Pointers to nothing: what else a pointer may be, decides where it comes from."""
READING = frozenset({*DERIVED, Op.Load, Op.Phi, Op.Select, Op.CooperativeMatrixLoadKHR,
                     Op.CooperativeMatrixLoadCheckedINTEL, Op.CooperativeMatrixPrefetchINTEL,
                     Op.CooperativeMatrixPerElementOpEXT, *LIFETIMES})
"""Instructions that write nothing through the pointers that they have; functions of elements that do are loops."""
GLOBAL = frozenset({StorageClass.CrossWorkgroup, StorageClass.UniformConstant, StorageClass.Generic})


class Origins:
    """Where the pointers of a kernel come from."""

    def __init__(self, uses: PointerUses) -> None:
        self.uses = uses
        self._flat = uses.flat

    def of(self, pointer: int) -> int | None:
        """The id of the parameter or variable that all values of a pointer are derived from, if it is one."""
        pending, seen, found = [pointer], set[int](), set[int]()
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            row = self._flat.definition(one)
            opcode, words = row.opcode, row.words
            if opcode == Op.SpecConstantOp:
                opcode, words = words[0], words[1:]
            if opcode in (Op.FunctionParameter, Op.Variable):
                found.add(one)
            elif opcode not in NOWHERE:
                sources = self._sources(opcode, words)
                if sources is None:
                    return None
                pending += sources
        return found.pop() if len(found) == 1 else None

    def _sources(self, opcode: int, words: Sequence[int]) -> Sequence[int] | None:
        """The pointers that one is derived from; None if they are not known."""
        if opcode in DERIVED:
            return words[:1]
        if opcode == Op.Phi:
            return words[::2]
        if opcode == Op.Select:
            return words[1:3]
        return self._stored(words[0]) if opcode == Op.Load else None

    def _stored(self, variable: int) -> Sequence[int] | None:
        """What a variable that holds a pointer may hold."""
        row = self._flat.definition(variable)
        if row.opcode != Op.Variable or not self.uses.stays(variable, self._flat.pointee(variable)):
            return None
        found = list(row.words[1:2])
        for user in self.uses.users.get(variable, ()):
            if user.opcode == Op.Store:
                found.append(user.words[1])
            elif user.opcode != Op.Load and user.opcode not in LIFETIMES:
                return None
        return found

    # --- accesses to global memory ----------------------------------------------------

    def accesses(self, row: Instruction) -> Iterator[tuple[int | None, bool]]:
        """What an instruction accesses of global memory: where that comes from, and whether it is written."""
        if row.opcode in DERIVED or row.opcode in (Op.Phi, Op.Select):
            return
        for place, used in enumerate(row.words):
            if self._is_global_pointer(row, used):
                yield self.of(used), not self._only_reads(row, place)

    @cached_property
    def constant_parameters(self) -> frozenset[int]:
        """The pointer parameters through which the kernel only reads; none if it writes somewhere unknown."""
        types = self._flat.types
        constant = {row.result_id or 0 for row in self._flat.parameters
                    if isinstance(types[row.type_id or 0], PointerType)}
        for block in self._flat.blocks:
            for row in block.instructions:
                for root, writes in self.accesses(row):
                    if writes and root is None:
                        return frozenset()
                    if writes:
                        constant.discard(root or 0)
        return frozenset(constant)

    def _only_reads(self, row: Instruction, place: int) -> bool:
        """Whether an instruction does not write through the pointer among its words; what holds pointers counts as
        them."""
        if row.opcode == Op.Store and place == 1:
            variable = self._flat.definition(row.words[0])
            return variable.opcode == Op.Variable and self.uses.stays(row.words[0], self._flat.pointee(row.words[0]))
        return row.opcode in READING or (row.opcode == Op.CopyMemory and place == 1)

    def _is_global_pointer(self, row: Instruction, used: int) -> bool:
        if used not in set(row.ids()) or not (used in self._flat.definitions or self._flat.module.defines(used)):
            return False
        type_id = self._flat.definition(used).type_id
        kind = self._flat.types[type_id] if type_id is not None else None
        return isinstance(kind, PointerType) and kind.storage in GLOBAL
