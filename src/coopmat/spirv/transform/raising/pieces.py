"""Variables whose addresses are cast become small integers, so that they can become values.

Kernels fill the vectors that Intel's sub-group functions take byte by byte, word by word, or by 2D block reads, through
pointers of other types: ``((short *)&a)[i] = …``. Such a variable becomes integers of the largest size of which all
accesses, at constant places, are made. What a 2D block function reads or writes is a variable of its own, which is
copied right behind it, or before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from coopmat.devices.lane_layout import Held
from coopmat.devices.subgroup_layout import block_elements
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.blocks_2d import PRIVATE_OF_BLOCK, Block, block_of
from coopmat.spirv.analysis.offsets import steps
from coopmat.spirv.analysis.types import FloatType, IntType, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor, uses_of, with_words
from coopmat.spirv.grammar import CHAINS, LIFETIMES, POINTER_CASTS, MemoryAccess, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction, make

MOST = 1024  # integers that a variable becomes
LARGEST = 8  # bytes of one
WORD_BYTES = 4  # of what the transform to the packed layout makes


def block_of_row(editor: FunctionEditor, row: Instruction, lanes: int) -> tuple[Block, Held]:
    """The block of a 2D block function, and which of its elements the work-items hold."""
    packs = row.opcode == Op.Subgroup2DBlockLoadTransformINTEL
    block = block_of(row, [editor.integer(word) for word in row.words[:4]], transform=packs)
    return block, block_elements(block.width, block.height, block.count, lanes,
                                 transpose=row.opcode == Op.Subgroup2DBlockLoadTransposeINTEL,
                                 rows_per_word=WORD_BYTES // block.element_size if packs else 1)


class _Refused(Exception):
    """A variable stays as it is."""


class _Access(NamedTuple):
    """A load, store or 2D block function, where in the variable it begins, and the bytes of one number and of all."""

    row: Instruction
    offset: int
    part: int
    size: int


@dataclass
class _Variable:
    """A variable. pointers: those into it; unit: the bytes of the integers that it becomes, parts: their ids."""

    size: int
    pointers: set[int] = field(default_factory=set)
    accesses: list[_Access] = field(default_factory=list)
    is_cast: bool = False
    unit: int = LARGEST
    parts: list[int] = field(default_factory=list)


class Pieces:
    """One function of a kernel with sub-groups of so many work-items (``lanes``)."""

    def __init__(self, editor: FunctionEditor, body: Body, lanes: int) -> None:
        self.editor, self.body, self.lanes = editor, body, lanes
        self.types = TypeTable(editor.module, lanes)
        self.uses = uses_of(body)
        self.variables: list[Instruction] = []  # the new ones

    def done(self) -> int:
        """Change the function; how many variables are integers now."""
        found = list(self._found())
        accesses = {id(one.row): (variable, one) for variable in found for one in variable.accesses}
        gone = {pointer for variable in found for pointer in variable.pointers}
        for block in self.body.blocks:
            rows: list[Instruction] = []
            for row in block.instructions:
                if id(row) in accesses:
                    rows += self._replaced(*accesses[id(row)])
                elif row.result_id not in gone and not (row.opcode in LIFETIMES and row.words[0] in gone):
                    rows.append(row)
            block.instructions = rows
        self.body.blocks[0].instructions[:0] = self.variables
        return len(found)

    # --- what becomes integers --------------------------------------------------------------

    def _found(self) -> Iterator[_Variable]:
        for row in list(self.body.blocks[0].instructions):
            if row.opcode != Op.Variable or len(row.words) > 1:
                continue
            try:
                variable = _Variable(self.types[self.editor.definition(row.type_id or 0).words[1]].size)
                self._follow(variable, row.result_id or 0, 0)
                sizes = (number for one in variable.accesses for number in (one.offset, one.part))
                variable.unit = math.gcd(LARGEST, variable.size, *sizes)
            except (_Refused, Error):
                continue
            if variable.is_cast and variable.size // variable.unit <= MOST:
                variable.parts = [self._variable(self._integer(variable.unit))
                                  for _ in range(variable.size // variable.unit)]
                yield variable

    def _follow(self, variable: _Variable, pointer: int, offset: int) -> None:
        """Note what uses a pointer, which leads so many bytes into the variable."""
        variable.pointers.add(pointer)
        for user in self.uses.get(pointer, ()):
            if user.opcode in POINTER_CASTS:
                uses = self.uses.get(user.result_id or 0, ())
                variable.is_cast |= any(one.opcode not in LIFETIMES for one in uses)
                self._follow(variable, user.result_id or 0, offset)
            elif user.opcode in CHAINS and user.words[0] == pointer:
                self._follow(variable, user.result_id or 0, offset + self._distance(user))
            elif user.opcode not in LIFETIMES:
                variable.accesses.append(self._access(user, pointer, offset))
                variable.is_cast |= user.opcode in PRIVATE_OF_BLOCK
                if not 0 <= offset <= variable.size - variable.accesses[-1].size:
                    raise _Refused

    def _distance(self, chain: Instruction) -> int:
        """How many bytes an access chain with constant indices steps on."""
        pointer_type = self.editor.definition(chain.words[0]).type_id or 0
        return sum(step.size * (1 if step.index is None else self._index(step.index))
                   for step in steps(self.editor.module, self.types, pointer_type, chain))

    def _index(self, word: int) -> int:
        """A constant index: a number with a sign."""
        index, bits = self.editor.integer(word), self.editor.type_of(word).words[0]
        if index is None:
            raise _Refused
        return index - (index >> bits - 1 << bits)

    def _access(self, user: Instruction, pointer: int, offset: int) -> _Access:
        place = PRIVATE_OF_BLOCK.get(user.opcode)
        if place is not None and user.words[place] == pointer:
            block, held = block_of_row(self.editor, user, self.lanes)
            return _Access(user, offset, block.element_size, block.element_size * held.row.shape[1])
        if user.opcode != Op.Load and (user.opcode != Op.Store or user.words[0] != pointer):
            raise _Refused
        flags = user.words[1 if user.opcode == Op.Load else 2:]
        kind = self.types[user.type_id or self.editor.type_of(user.words[-1 - len(flags)]).result_id or 0]
        if (flags and flags[0] & MemoryAccess.Volatile) or not isinstance(kind.scalar, IntType | FloatType):
            raise _Refused
        return _Access(user, offset, kind.scalar.size, kind.scalar.size * kind.count)

    # --- writing ----------------------------------------------------------------------------

    def _integer(self, size: int) -> int:
        return self.editor.unique(Op.TypeInt, 8 * size, 0)

    def _variable(self, type_id: int) -> int:
        kind = self.editor.type_pointer(StorageClass.Function, type_id)
        self.variables.append(self.editor.row(Op.Variable, kind, StorageClass.Function))
        return self.variables[-1].result_id or 0

    def _replaced(self, variable: _Variable, access: _Access) -> Iterator[Instruction]:
        first, count = access.offset // variable.unit, access.size // variable.unit
        parts = variable.parts[first:first + count]
        if access.row.opcode == Op.Load:
            yield from self._load(variable, access, parts)
        elif access.row.opcode == Op.Store:
            yield from self._store(variable, access, parts)
        else:
            yield from self._block(variable, access, parts)

    def _load(self, variable: _Variable, access: _Access, parts: Sequence[int]) -> Iterator[Instruction]:
        """Put the integers together to what is loaded."""
        row, editor = access.row, self.editor
        integer, type_id = self._integer(variable.unit), row.type_id or 0
        loads = [editor.row(Op.Load, integer, part) for part in parts]
        yield from loads
        values = [load.result_id or 0 for load in loads]
        width = access.part // variable.unit
        if width > 1:
            vector = editor.unique(Op.TypeVector, integer, width)
            joined = [editor.row(Op.CompositeConstruct, vector, *values[at:at + width])
                      for at in range(0, len(values), width)]
            yield from joined
            values = [one.result_id or 0 for one in joined]
        component = editor.component(editor.definition(type_id)).result_id or 0
        if len(values) == 1:
            yield editor.row(Op.Bitcast, component, values[0], result=row.result_id)
            return
        if component != integer:
            cast = [editor.row(Op.Bitcast, component, one) for one in values]
            yield from cast
            values = [one.result_id or 0 for one in cast]
        yield editor.row(Op.CompositeConstruct, type_id, *values, result=row.result_id)

    def _store(self, variable: _Variable, access: _Access, parts: Sequence[int]) -> Iterator[Instruction]:
        """Take what is stored apart."""
        editor, value = self.editor, access.row.words[1]
        kind = editor.type_of(value)
        numbers = [value]
        if kind.opcode == Op.TypeVector:
            taken = [editor.row(Op.CompositeExtract, kind.words[0], value, place) for place in range(kind.words[1])]
            yield from taken
            numbers = [one.result_id or 0 for one in taken]
        integer, width = self._integer(variable.unit), access.part // variable.unit
        pieces: list[int] = []
        for number in numbers:
            shape = integer if width == 1 else editor.unique(Op.TypeVector, integer, width)
            whole = number
            if editor.type_of(number).result_id != shape:
                cast = editor.row(Op.Bitcast, shape, number)
                yield cast
                whole = cast.result_id or 0
            if width == 1:
                pieces.append(whole)
                continue
            taken = [editor.row(Op.CompositeExtract, integer, whole, place) for place in range(width)]
            yield from taken
            pieces += [one.result_id or 0 for one in taken]
        yield from (make(Op.Store, part, piece) for part, piece in zip(parts, pieces, strict=True))

    def _block(self, variable: _Variable, access: _Access, parts: Sequence[int]) -> Iterator[Instruction]:
        """Let a 2D block function read or write a variable of its own, which is copied."""
        editor, row = self.editor, access.row
        integer = self._integer(variable.unit)
        own = self._variable(editor.unique(Op.TypeArray, integer, editor.constant(len(parts))))
        pointer = editor.type_pointer(StorageClass.Function, integer)
        place = PRIVATE_OF_BLOCK[row.opcode]
        pointee = editor.type_of(row.words[place]).words[1]
        cast = editor.row(Op.Bitcast, editor.type_pointer(StorageClass.Function, pointee), own)
        changed = with_words(row, (*row.words[:place], cast.result_id or 0, *row.words[place + 1:]))
        is_load = row.opcode != Op.Subgroup2DBlockStoreINTEL
        if is_load:
            yield from (cast, changed)
        for number, part in enumerate(parts):
            chain = editor.row(Op.AccessChain, pointer, own, editor.constant(number))
            source, target = (chain.result_id or 0, part) if is_load else (part, chain.result_id or 0)
            load = editor.row(Op.Load, integer, source)
            yield from (chain, load, make(Op.Store, target, load.result_id or 0))
        if not is_load:
            yield from (cast, changed)
