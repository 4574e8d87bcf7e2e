"""Instructions of a shader's function, each by its kind; most stay as they are, with the kernel's ids."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.shader_layout import Placed
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.from_shader import glsl_functions, matrix_arithmetic, synchronization
from coopmat.spirv.transform.from_shader.blocks import Blocks
from coopmat.spirv.transform.from_shader.inputs import Inputs
from coopmat.spirv.transform.from_shader.memory import Access, Memory
from coopmat.spirv.transform.from_shader.state import Translation

_NON_SEMANTIC = "NonSemantic."


class Instructions:
    """Translates the instructions of one function. ``sizes``: the bytes of the buffers whose size it asks for, by the
    shader's variable."""

    def __init__(self, translation: Translation) -> None:
        self.to = translation
        self.memory = Memory(translation)
        self.blocks = Blocks(translation)
        self.inputs = Inputs(translation)
        self.sizes: dict[int, int] = {}

    def translate(self, row: Instruction) -> None:
        """Add what stands for an instruction."""
        handler = _HANDLERS.get(row.opcode)
        if handler is not None:
            handler(self, row)
        elif row.opcode in synchronization.PLACES:
            self._append(row, synchronization.translated(self.to, row))
        elif not matrix_arithmetic.translate(self.to, row):
            self.to.builder.append(row.with_ids(self.to.id))

    def _append(self, row: Instruction, words: list[int]) -> None:
        """The same instruction with other words."""
        result = None if row.result_id is None else self.to.id(row.result_id)
        type_id = None if row.type_id is None else self.to.types[row.type_id]
        self.to.builder.append(make(Op(row.opcode), *words, type_id=type_id, result_id=result))

    def _is_laid_out(self, old: int) -> bool:
        """Whether a pointer leads to memory that decorations lay out."""
        return old not in self.blocks.copies and self.to.types.is_laid_out(self.to.module.definition(old).type_id)

    # --- memory -------------------------------------------------------------------------

    def _chain(self, row: Instruction) -> None:
        base = row.words[0]
        if base in self.inputs.variables:
            self.inputs.chain(row)
        elif base in self.blocks.places:
            self.blocks.chain(row)
        elif self._is_laid_out(base):
            self.memory.chain(row)
        elif base in self.blocks.copies:
            raise Error("a pointer into push constants is formed from another one with an index that is no constant")
        else:
            self.to.builder.append(row.with_ids(self.to.id))

    def _load(self, row: Instruction) -> None:
        pointer, *words = row.words
        if pointer in self.inputs.variables or pointer in self.inputs.parts:
            self.to.define(row, self.inputs.load(pointer))
        elif pointer in self.blocks.places:
            self.to.define(row, self.blocks.load(pointer))
        elif self._is_laid_out(pointer):
            self.to.define(row, self.memory.load(pointer, Access.of(words)))
        else:
            self._append(row, [self.to.id(pointer), *Access.of(words).words()])

    def _store(self, row: Instruction) -> None:
        pointer, value, *words = row.words
        if self._is_laid_out(pointer):
            self.memory.store(pointer, self.to.id(value), Access.of(words))
        else:
            self._append(row, [self.to.id(pointer), self.to.id(value), *Access.of(words).words()])

    def _copy(self, row: Instruction) -> None:
        """OpCopyMemory: a load and a store. The second memory operands are the source's; one is both's."""
        target, source, *words = row.words
        length = Access.length(words)
        writing = Access.of(words)
        reading = Access.of(words[length:]) if len(words) > length else writing
        if self._is_laid_out(source):
            value = self.memory.load(source, reading)
        elif source in self.blocks.places:
            value = self.blocks.load(source)
        else:
            kind = self.to.types[self.to.type_of(source).words[1]]
            value = self.to.value(Op.Load, kind, self.to.id(source), *reading.words())
        if self._is_laid_out(target):
            self.memory.store(target, value, writing)
        else:
            self.to.builder.emit(Op.Store, self.to.id(target), value, *writing.words())

    def _copy_object(self, row: Instruction) -> None:
        source, result = row.words[0], row.result_id or 0
        if source in self.blocks.places:
            self.blocks.places[result] = self.blocks.places[source]
            return
        if source in self.memory.pointers:
            self.memory.pointers[result] = self.memory.pointers[source]
            self.memory.placed[result] = self.memory.place(source)
        self.to.define(row, self.to.id(source))

    def _length(self, row: Instruction) -> None:
        """OpArrayLength: the elements that fit into what is bound, behind the members before."""
        variable, member = row.words
        placed, offset = self.memory.layout.member(self.memory.place(variable), member)
        stride = self.memory.layout.element(placed)[1]
        long = self.to.builder.type_int(64)
        if variable not in self.sizes:
            raise Error("the length of an array is asked for that is not in a storage buffer's variable")
        rest = self.to.value(Op.ISub, long, self.sizes[variable], self.to.uint(offset, 64))
        count = self.to.value(Op.UDiv, long, rest, self.to.uint(stride, 64))
        self.to.define(row, self.to.value(Op.UConvert, self.to.result_type(row), count))

    def _variable(self, row: Instruction) -> None:
        kind = self.to.types[self.to.module.definition(row.type_id or 0).words[1]]
        initial = self.to.id(row.words[1]) if len(row.words) > 1 else None
        self.to.ids[row.result_id or 0] = self.to.builder.local_variable(kind, initial)

    def _matrix_access(self, row: Instruction) -> None:
        """A load or store of a cooperative matrix: its memory operands are the kernel's."""
        before = 1 if row.opcode == Op.CooperativeMatrixStoreKHR else 0
        pointer, fixed, words = row.words[0], row.words[1:3 + before], row.words[3 + before:]
        if pointer in self.blocks.places or pointer in self.blocks.copies:
            raise Error("a cooperative matrix is loaded from push constants")
        if self._is_laid_out(pointer):
            type_ = self.memory.layout.definition(self.memory.place(pointer))
            plain = type_.opcode != Op.TypeVector or self.memory.layout.is_plain_vector(Placed(type_.result_id or 0))
            if not plain:
                raise Error(f"{row.name} counts in vectors of {type_.words[1]}; expected scalars or vectors of 2 or 4")
        self._append(row, [self.to.id(pointer), *map(self.to.id, fixed), *Access.of(words).words()])

    # --- values -------------------------------------------------------------------------

    def _same(self, row: Instruction) -> None:
        """OpCopyLogical: the two types are one."""
        self.to.define(row, self.to.id(row.words[0]))

    def _bitcast(self, row: Instruction) -> None:
        """Between integers with and without sign there is nothing to do; addresses are numbers of 64 bits."""
        source, old = row.words[0], self.to.type_of(row.words[0])
        new = self.to.module.definition(row.type_id or 0)
        before, after = self.to.types[old.result_id or 0], self.to.types[new.result_id or 0]
        long, value = self.to.builder.type_int(64), self.to.id(source)
        if before == after:
            self.to.define(row, value)
            return
        if (old.opcode == Op.TypePointer) == (new.opcode == Op.TypePointer):
            self._append(row, [value])
        elif new.opcode == Op.TypePointer:
            number = value if before == long else self.to.value(Op.Bitcast, long, value)
            self.to.define(row, self.to.value(Op.ConvertUToPtr, after, number))
        else:
            number = self.to.value(Op.ConvertPtrToU, long, value)
            self.to.define(row, number if after == long else self.to.value(Op.Bitcast, after, number))

    def _extended(self, row: Instruction) -> None:
        name = self.to.module.instruction_sets.get(row.words[0], "")
        if name == glsl_functions.SET:
            glsl_functions.translate(self.to, row)
        elif not name.startswith(_NON_SEMANTIC):
            raise Error(f"the functions of {name or 'an unknown set'} have no counterpart in kernels")

    # --- the rest -----------------------------------------------------------------------

    def _line(self, row: Instruction) -> None:
        text = self.to.module.strings.get(row.words[0])
        if text is not None:
            self.to.builder.line(self.to.builder.string(text), *row.words[1:])

    def _nothing(self, row: Instruction) -> None:
        """What kernels need not be told."""


_HANDLERS: dict[int, Callable[[Instructions, Instruction], None]] = {
    Op.AccessChain: Instructions._chain, Op.InBoundsAccessChain: Instructions._chain,
    Op.PtrAccessChain: Instructions._chain, Op.InBoundsPtrAccessChain: Instructions._chain,
    Op.Load: Instructions._load, Op.Store: Instructions._store, Op.CopyMemory: Instructions._copy,
    Op.CopyObject: Instructions._copy_object, Op.ArrayLength: Instructions._length,
    Op.Variable: Instructions._variable, Op.CooperativeMatrixLoadKHR: Instructions._matrix_access,
    Op.CooperativeMatrixStoreKHR: Instructions._matrix_access, Op.CopyLogical: Instructions._same,
    Op.Bitcast: Instructions._bitcast, Op.ExtInst: Instructions._extended, Op.Line: Instructions._line,
    Op.NoLine: Instructions._nothing,
}
