"""What takes an instruction's place: new instructions, their types, and calls of the library."""

from __future__ import annotations

from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Decoration, LinkageType, Op
from coopmat.spirv.module.instruction import Instruction, make


class Imports:
    """The functions that a module being changed calls and does not have."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self._declared: dict[str, int] = {}
        self.declarations: list[Instruction] = []

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._declared)

    def declared(self, name: str, result: int, parameters: tuple[int, ...]) -> int:
        """The id of a function, declared once."""
        if name not in self._declared:
            editor = self.editor
            kind = editor.unique(Op.TypeFunction, result, *parameters)
            identifier = editor.new_id()
            self._declared[name] = identifier
            self.declarations += [
                editor.add(make(Op.Function, 0, kind, type_id=result, result_id=identifier)),
                *(editor.add(make(Op.FunctionParameter, type_id=parameter, result_id=editor.new_id()))
                  for parameter in parameters),
                make(Op.FunctionEnd)]
            editor.decorate(identifier, Decoration.LinkageAttributes, name, LinkageType.Import)
        return self._declared[name]


class Code:
    """The instructions that take the place of one; the last one that is :meth:`named` gets its id."""

    def __init__(self, imports: Imports, row: Instruction) -> None:
        self.editor = imports.editor
        self.imports = imports
        self.row = row
        self.rows: list[Instruction] = []

    # -- types -------------------------------------------------------------------------

    def type_of(self, value: int) -> int:
        """The id of a value's type."""
        found = self.editor.definition(value).type_id
        assert found is not None
        return found

    def scalar(self, type_id: int) -> int:
        """The id of a vector's component type; of another type its own."""
        kind = self.editor.definition(type_id)
        return kind.words[0] if kind.opcode == Op.TypeVector else type_id

    def count(self, type_id: int) -> int:
        """The number of components; of another type than a vector 1."""
        kind = self.editor.definition(type_id)
        return kind.words[1] if kind.opcode == Op.TypeVector else 1

    def like(self, scalar: int, count: int) -> int:
        """The type of so many numbers."""
        return scalar if count == 1 else self.editor.unique(Op.TypeVector, scalar, count)

    def width(self, type_id: int) -> int:
        """The bits of a component."""
        return self.editor.definition(self.scalar(type_id)).words[0]

    def is_float(self, type_id: int) -> bool:
        """Whether components are floating-point numbers."""
        return self.editor.definition(self.scalar(type_id)).opcode == Op.TypeFloat

    def kind(self, type_id: int) -> str:
        """A component's type, as names of the library end: ``f32``, ``i8``."""
        return f"{'f' if self.is_float(type_id) else 'i'}{self.width(type_id)}"

    def integer(self, width: int) -> int:
        """An integer type."""
        return self.editor.unique(Op.TypeInt, width, 0)

    def float(self, width: int) -> int:
        """A floating-point type."""
        return self.editor.unique(Op.TypeFloat, width)

    def boolean(self, count: int) -> int:
        """A type of truth values."""
        return self.like(self.editor.unique(Op.TypeBool), count)

    # -- instructions ------------------------------------------------------------------

    def value(self, op: Op, type_id: int, *words: int) -> int:
        """A new instruction's result."""
        result = self.editor.new_id()
        self.rows.append(self.editor.add(make(op, *words, type_id=type_id, result_id=result)))
        return result

    def do(self, op: Op, *words: int) -> None:
        """An instruction without result."""
        self.rows.append(make(op, *words))

    def call(self, name: str, result: int, *values: int) -> int:
        """A call of a function of the library."""
        function = self.imports.declared(name, result, tuple(self.type_of(value) for value in values))
        return self.value(Op.FunctionCall, result, function, *values)

    def component(self, value: int, place: int) -> int:
        """A component of a vector; a number itself."""
        kind = self.type_of(value)
        if self.count(kind) == 1:
            return value
        return self.value(Op.CompositeExtract, self.scalar(kind), value, place)

    def together(self, values: list[int]) -> int:
        """A vector of numbers; a single one itself."""
        if len(values) == 1:
            return values[0]
        return self.value(Op.CompositeConstruct, self.like(self.type_of(values[0]), len(values)), *values)

    def constant(self, value: int, type_id: int) -> int:
        """An integer, or a vector of equal ones."""
        width, count = self.width(type_id), self.count(type_id)
        one = self.editor.constant(value & (1 << width) - 1, width)
        return one if count == 1 else self.editor.unique(Op.ConstantComposite, *[one] * count, type_id=type_id)

    def named(self, value: int) -> list[Instruction]:
        """All instructions, with the id of what they replace as that of a value made here, or as a copy of it."""
        last = self.rows[-1] if self.rows else None
        result = self.row.result_id
        if last is not None and last.result_id == value:
            self.rows[-1] = Instruction(last.opcode, last.type_id, result, last.words, None, last.context)
        else:
            self.rows.append(make(Op.CopyObject, value, type_id=self.row.type_id, result_id=result))
        return self.rows
