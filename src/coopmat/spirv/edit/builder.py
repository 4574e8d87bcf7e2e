"""Writes SPIR-V modules for kernels: what a code generator needs, in any order, sorted out at the end.

Types and constants are unique.  Capabilities and extensions are declared when something needs them
(:mod:`coopmat.spirv.analysis.requirements`), and the sections come out in the order of the specification (2.4).
Ids are plain numbers.  Misuse by the code generator raises ValueError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from coopmat.spirv.analysis.requirements import Needs
from coopmat.spirv.grammar import (
    EXTENDED_INSTRUCTIONS,
    TERMINATORS,
    AddressingModel,
    BuiltIn,
    CooperativeMatrixUse,
    Decoration,
    ExecutionMode,
    ExecutionModel,
    FPEncoding,
    FunctionControl,
    LinkageType,
    MemoryModel,
    Op,
    Scope,
    SourceLanguage,
    StorageClass,
    instruction,
)
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.literals import encode_float, float_layout
from coopmat.spirv.module.operands import encode_number

Word = int | str | IntEnum

_CONTRACTED = frozenset({Op.FAdd, Op.FSub, Op.FMul, Op.FDiv, Op.FRem, Op.FMod, Op.FNegate, Op.Dot,
                         Op.VectorTimesScalar})
LONGEST_NAME = 4096
"""Characters of a name for people to read; of a longer one the rest is left out."""


@dataclass(slots=True)
class _Body:
    """A function under construction: its head, its local variables and the instructions of its blocks."""

    id: int
    head: list[Instruction]
    variables: list[Instruction] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    block_open: bool = False
    line: tuple[int, int, int] | None = None

    def instructions(self) -> list[Instruction]:
        """The whole function; the local variables stand first in the first block."""
        return [*self.head, *self.code[:1], *self.variables, *self.code[1:], make(Op.FunctionEnd)]


@dataclass(slots=True)
class _EntryPoint:
    model: ExecutionModel
    function: int
    name: str
    interface: Sequence[int] | None


class ModuleBuilder:
    """Builds one module.  ``finish`` gives it; the builder must not be used after that."""

    def __init__(self, *, version: tuple[int, int] = (1, 4),
                 addressing: AddressingModel = AddressingModel.Physical64,
                 memory: MemoryModel = MemoryModel.OpenCL) -> None:
        self.version = version
        self._memory_model = make(Op.MemoryModel, addressing, memory)
        self._next_id = 1
        self._unique: dict[tuple[object, ...], int] = {}
        self._sets: dict[str, int] = {}
        self._entry_points: list[_EntryPoint] = []
        self._execution_modes: list[Instruction] = []
        self._strings: list[Instruction] = []
        self._names: list[Instruction] = []
        self._annotations: list[Instruction] = []
        self._globals: list[Instruction] = []  # types, constants and global variables
        self._definitions: dict[int, Instruction] = {}  # of the above
        self._functions: list[_Body] = []
        self._body: _Body | None = None

    def new_id(self) -> int:
        """A fresh id."""
        self._next_id += 1
        return self._next_id - 1

    # -- types -----------------------------------------------------------------------

    def _declare(self, op: Op, *operands: Word, type_id: int | None = None) -> int:
        """The one type or constant with these operands."""
        key = (op, type_id, *operands)
        if key not in self._unique:
            self._unique[key] = self._add_global(op, *operands, type_id=type_id)
        return self._unique[key]

    def _add_global(self, op: Op, *operands: Word, type_id: int | None = None,
                    result_id: int | None = None) -> int:
        identifier = result_id if result_id is not None else self.new_id()
        item = make(op, *operands, type_id=type_id, result_id=identifier)
        self._globals.append(item)
        self._definitions[identifier] = item
        return identifier

    def type_void(self) -> int:
        """The id of OpTypeVoid."""
        return self._declare(Op.TypeVoid)

    def type_bool(self) -> int:
        """The id of OpTypeBool."""
        return self._declare(Op.TypeBool)

    def type_int(self, width: int) -> int:
        """The id of OpTypeInt; signedness is 0, as OpenCL's environment demands."""
        return self._declare(Op.TypeInt, width, 0)

    def type_float(self, width: int, encoding: FPEncoding | None = None) -> int:
        """The id of OpTypeFloat; bfloat16 is width 16 with ``FPEncoding.BFloat16KHR``."""
        return self._declare(Op.TypeFloat, width, *([] if encoding is None else [encoding]))

    def type_vector(self, component: int, count: int) -> int:
        """The id of OpTypeVector."""
        return self._declare(Op.TypeVector, component, count)

    def type_array(self, element: int, length: int, *, unique: bool = True) -> int:
        """The id of OpTypeArray; ``length``: a number of elements. ``unique=False``: no other declaration shares it."""
        if length < 1:
            raise ValueError(f"an array has at least one element, not {length}")
        index = self.type_int(32 if length < 1 << 32 else 64)
        declare = self._declare if unique else self._add_global
        return declare(Op.TypeArray, element, self.constant(index, length))

    def type_array_of(self, element: int, length: int) -> int:
        """The id of OpTypeArray whose length is a constant, which may be a specialisation constant."""
        return self._declare(Op.TypeArray, element, length)

    def type_struct(self, members: Iterable[int], *, unique: bool = True) -> int:
        """The id of OpTypeStruct; with ``unique=False`` one that no other declaration shares."""
        members = tuple(members)
        return self._declare(Op.TypeStruct, *members) if unique else self._add_global(Op.TypeStruct, *members)

    def type_opaque(self, op: Op, *operands: Word) -> int:
        """The id of a type without a method of its own here (``Op.TypeEvent``, ``Op.TypeSampler`` …)."""
        return self._declare(op, *operands)

    def type_pointer(self, storage: StorageClass, pointee: int) -> int:
        """The id of OpTypePointer."""
        return self._declare(Op.TypePointer, storage, pointee)

    def forward_pointer(self, storage: StorageClass) -> int:
        """The id of a pointer type whose pointee comes later, by :meth:`complete_pointer`."""
        identifier = self.new_id()
        self._globals.append(make(Op.TypeForwardPointer, identifier, storage))
        return identifier

    def complete_pointer(self, identifier: int, storage: StorageClass, pointee: int) -> None:
        """Define the pointer type that :meth:`forward_pointer` announced."""
        self._add_global(Op.TypePointer, storage, pointee, result_id=identifier)
        self._unique.setdefault((Op.TypePointer, None, storage, pointee), identifier)

    def type_function(self, result: int, parameters: Iterable[int]) -> int:
        """The id of OpTypeFunction."""
        return self._declare(Op.TypeFunction, result, *parameters)

    def type_cooperative_matrix(self, component: int, scope: Scope, rows: int, columns: int,
                                use: CooperativeMatrixUse) -> int:
        """The id of OpTypeCooperativeMatrixKHR; the numbers become 32-bit constants."""
        index = self.type_int(32)
        constants = [self.constant(index, int(number)) for number in (scope, rows, columns, use)]
        return self._declare(Op.TypeCooperativeMatrixKHR, component, *constants)

    # -- constants -------------------------------------------------------------------

    def constant(self, type_id: int, value: int | float) -> int:
        """The id of a scalar constant.

        An integer is taken modulo its type's width; a float is rounded to the nearest, ties to even.
        A bool type gives OpConstantTrue or OpConstantFalse.
        """
        if self._type(type_id).opcode == Op.TypeBool:
            return self.constant_bool(bool(value))
        return self._declare(Op.Constant, *self._number(type_id, value), type_id=type_id)

    def constant_bits(self, type_id: int, bits: int) -> int:
        """The id of a scalar constant with this bit pattern."""
        width = self._type(type_id).words[0]
        words = encode_number(bits & (1 << width) - 1, (width + 31) // 32)
        return self._declare(Op.Constant, *words, type_id=type_id)

    def constant_bool(self, value: bool) -> int:
        """The id of OpConstantTrue or OpConstantFalse."""
        op = Op.ConstantTrue if value else Op.ConstantFalse
        return self._declare(op, type_id=self.type_bool())

    def constant_null(self, type_id: int) -> int:
        """The id of the type's null value."""
        return self._declare(Op.ConstantNull, type_id=type_id)

    def constant_composite(self, type_id: int, parts: Iterable[int]) -> int:
        """The id of a vector, array, structure or matrix constant; a matrix has one part."""
        return self._declare(Op.ConstantComposite, *parts, type_id=type_id)

    def constant_replicated(self, type_id: int, part: int) -> int:
        """The id of a composite constant all of whose constituents are one (SPV_EXT_replicated_composites)."""
        return self._declare(Op.ConstantCompositeReplicateEXT, part, type_id=type_id)

    def spec_constant_composite(self, type_id: int, parts: Iterable[int]) -> int:
        """The id of a composite some parts of which are specialisation constants."""
        return self._declare(Op.SpecConstantComposite, *parts, type_id=type_id)

    def constant_operation(self, type_id: int, op: Op, *operands: Word) -> int:
        """The id of an OpSpecConstantOp."""
        return self._declare(Op.SpecConstantOp, op, *operands, type_id=type_id)

    def undef(self, type_id: int) -> int:
        """The id of an undefined value."""
        return self._declare(Op.Undef, type_id=type_id)

    def spec_constant(self, type_id: int, default: int | float, spec_id: int) -> int:
        """The id of a new specialisation constant with its default and its SpecId."""
        if self._type(type_id).opcode == Op.TypeBool:
            op = Op.SpecConstantTrue if default else Op.SpecConstantFalse
            identifier = self._add_global(op, type_id=type_id)
        else:
            identifier = self._add_global(Op.SpecConstant, *self._number(type_id, default), type_id=type_id)
        self.decorate(identifier, Decoration.SpecId, spec_id)
        return identifier

    def _type(self, type_id: int) -> Instruction:
        found = self._definitions.get(type_id)
        if found is None:
            raise ValueError(f"id {type_id} is no type")
        return found

    def _number(self, type_id: int, value: int | float) -> tuple[int, ...]:
        """The words of a number of a scalar type."""
        kind = self._type(type_id)
        width = kind.words[0] if kind.words else 0
        if kind.opcode == Op.TypeInt:
            return encode_number(int(value) & (1 << width) - 1, (width + 31) // 32)
        layout = float_layout(*kind.words) if kind.opcode == Op.TypeFloat else None
        if layout is None:
            raise ValueError(f"no number can be written for {kind.name}")
        return encode_number(encode_float(float(value), layout), (width + 31) // 32)

    # -- strings, names, annotations -------------------------------------------------

    def string(self, text: str) -> int:
        """The id of an OpString."""
        key = (Op.String, text)
        if key not in self._unique:
            self._unique[key] = self.new_id()
            self._strings.append(make(Op.String, text, result_id=self._unique[key]))
        return self._unique[key]

    def source(self, language: SourceLanguage, version: int, file: int | None = None) -> None:
        """Say what the module was made from; ``file`` is the id of an OpString."""
        self._strings.append(make(Op.Source, language, version, *([] if file is None else [file])))

    def name(self, identifier: int, text: str) -> None:
        """Give an id a name for people to read."""
        self._names.append(make(Op.Name, identifier, text[:LONGEST_NAME]))

    def member_name(self, structure: int, member: int, text: str) -> None:
        """Give a structure's member a name for people to read."""
        self._names.append(make(Op.MemberName, structure, member, text[:LONGEST_NAME]))

    def decorate(self, identifier: int, decoration: Decoration, *operands: Word) -> None:
        """Decorate an id; doing so twice is the same as once."""
        key = (Op.Decorate, identifier, decoration, *operands)
        if key not in self._unique:
            self._unique[key] = 0
            self._annotations.append(make(Op.Decorate, identifier, decoration, *operands))

    def member_decorate(self, structure: int, member: int, decoration: Decoration, *operands: Word) -> None:
        """Decorate a structure's member."""
        self._annotations.append(make(Op.MemberDecorate, structure, member, decoration, *operands))

    # -- module level ----------------------------------------------------------------

    def extended_set(self, name: str = "OpenCL.std") -> int:
        """The id of an extended instruction set, imported once."""
        if name not in self._sets:
            self._sets[name] = self.new_id()
        return self._sets[name]

    def entry_point(self, function: int, name: str, interface: Sequence[int] | None = None,
                    model: ExecutionModel = ExecutionModel.Kernel) -> None:
        """Make a function an entry point.

        Without ``interface``, it lists the global variables that the function and its callees refer to;
        below version 1.4 only those of storage classes Input and Output.
        """
        self._entry_points.append(_EntryPoint(model, function, name, interface))

    def execution_mode(self, function: int, mode: ExecutionMode, *operands: Word) -> None:
        """Declare an execution mode of an entry point."""
        row_kinds = mode.signature.split()
        op = Op.ExecutionModeId if "IdRef" in row_kinds else Op.ExecutionMode
        self._execution_modes.append(make(op, function, mode, *operands))

    def global_variable(self, storage: StorageClass, type_id: int, initializer: int | None = None) -> int:
        """The id of a new module-scope variable holding a ``type_id``; its own type is a pointer to that."""
        pointer = self.type_pointer(storage, type_id)
        operands = [] if initializer is None else [initializer]
        return self._add_global(Op.Variable, storage, *operands, type_id=pointer)

    def builtin(self, builtin: BuiltIn, type_id: int) -> int:
        """The id of the Input variable for a built-in, declared once."""
        key = (Op.Variable, builtin, type_id)
        if key not in self._unique:
            variable = self.global_variable(StorageClass.Input, type_id)
            self.decorate(variable, Decoration.BuiltIn, builtin)
            self.decorate(variable, Decoration.Constant)
            self._unique[key] = variable
        return self._unique[key]

    def export(self, identifier: int, name: str, linkage: LinkageType = LinkageType.Export) -> None:
        """Give a function or variable a linkage name."""
        self.decorate(identifier, Decoration.LinkageAttributes, name, linkage)

    # -- functions -------------------------------------------------------------------

    def begin_function(self, return_type: int, function_type: int, *, identifier: int | None = None,
                       control: FunctionControl = FunctionControl.None_) -> int:
        """Start a function and give its id; ``identifier`` is an id taken before for calls ahead of it."""
        if self._body is not None:
            raise ValueError("the function before has not ended")
        new = identifier if identifier is not None else self.new_id()
        head = make(Op.Function, control, function_type, type_id=return_type, result_id=new)
        self._body = _Body(new, [head])
        return new

    def parameter(self, type_id: int) -> int:
        """The id of the next parameter of the function."""
        body = self._in_function()
        if body.code:
            raise ValueError("parameters come before the first block")
        identifier = self.new_id()
        body.head.append(make(Op.FunctionParameter, type_id=type_id, result_id=identifier))
        return identifier

    def begin_block(self, label: int | None = None) -> int:
        """Start a block and give its label; ``label`` is an id taken before for branches ahead of it."""
        body = self._in_function()
        if body.block_open:
            raise ValueError("the block before has no terminator")
        label = label if label is not None else self.new_id()
        body.code.append(make(Op.Label, result_id=label))
        body.block_open = True
        body.line = None
        return label

    @property
    def block_open(self) -> bool:
        """Whether a block waits for instructions: it has begun and has no terminator yet."""
        return self._body is not None and self._body.block_open

    def append(self, item: Instruction) -> None:
        """Put an instruction at the end of the open block."""
        body = self._in_function()
        if not body.block_open:
            raise ValueError(f"{item.name} stands outside of a block")
        body.code.append(item)
        body.block_open = item.opcode not in TERMINATORS

    def emit(self, op: Op, *operands: Word) -> None:
        """Append an instruction without result."""
        row = instruction(op)
        if row is not None and row.has_result:
            raise ValueError(f"{row.name} has a result; use value()")
        self.append(make(op, *operands))

    def value(self, op: Op, type_id: int, *operands: Word) -> int:
        """Append an instruction with a result and give the result's id."""
        identifier = self.new_id()
        self.append(make(op, *operands, type_id=type_id, result_id=identifier))
        return identifier

    def extended(self, type_id: int, name: str, *operands: Word, instruction_set: str = "OpenCL.std") -> int:
        """Append an OpExtInst by name and give the result's id."""
        number = EXTENDED_INSTRUCTIONS.get(instruction_set, {}).get(name)
        if number is None:
            raise ValueError(f"{instruction_set} has no instruction {name}")
        identifier = self.new_id()
        set_id = self.extended_set(instruction_set)
        self.append(make(Op.ExtInst, set_id, number, *operands, type_id=type_id, result_id=identifier,
                         context=instruction_set))
        return identifier

    def switch(self, selector: int, default: int, cases: Iterable[tuple[int, int]], width: int = 32) -> None:
        """Append an OpSwitch; ``cases`` are (value, label), ``width`` is the selector's in bits."""
        count = (width + 31) // 32
        words = [word for value, label in cases
                 for word in (*encode_number(value & (1 << width) - 1, count), label)]
        self.append(make(Op.Switch, selector, default, *words, context=count))

    def line(self, file: int, line: int, column: int) -> None:
        """The source place of the instructions that follow in this block; ``file`` is an OpString's id."""
        body = self._in_function()
        if body.block_open and body.line != (file, line, column):
            body.line = (file, line, column)
            body.code.append(make(Op.Line, file, line, column))

    def local_variable(self, type_id: int, initializer: int | None = None) -> int:
        """The id of a new Function variable holding a ``type_id``; it stands in the first block."""
        body = self._in_function()
        pointer = self.type_pointer(StorageClass.Function, type_id)
        operands = [] if initializer is None else [initializer]
        identifier = self.new_id()
        body.variables.append(make(Op.Variable, StorageClass.Function, *operands, type_id=pointer,
                                   result_id=identifier))
        return identifier

    def end_function(self) -> None:
        """End the function; without a block it is a declaration."""
        body = self._in_function()
        if body.block_open:
            raise ValueError("the last block has no terminator")
        self._functions.append(body)
        self._body = None

    def keep_roundings(self) -> None:
        """Forbid, in shaders, that floating-point operations of the functions so far are contracted."""
        for body in self._functions:
            for item in body.code:
                if item.opcode in _CONTRACTED and item.result_id is not None:
                    self.decorate(item.result_id, Decoration.NoContraction)

    def _in_function(self) -> _Body:
        if self._body is None:
            raise ValueError("no function has begun")
        return self._body

    # -- the module ------------------------------------------------------------------

    def finish(self) -> Module:
        """The module, its sections in order; declarations of functions come before definitions."""
        if self._body is not None:
            raise ValueError("the last function has not ended")
        ordered = sorted(self._functions, key=lambda body: bool(body.code))
        rest = [
            *(make(Op.ExtInstImport, name, result_id=identifier) for name, identifier in self._sets.items()),
            self._memory_model, *self._entry_point_instructions(), *self._execution_modes, *self._strings,
            *self._names, *self._annotations, *self._globals,
            *(item for body in ordered for item in body.instructions()),
        ]
        needs = Needs(self.version)
        for item in rest:
            needs.add(item)
        declarations = [make(Op.Capability, capability) for capability in needs.capabilities()]
        declarations += [make(Op.Extension, name) for name in needs.extensions()]
        major, minor = self.version
        return Module([*declarations, *rest], version=major << 16 | minor << 8, bound=self._next_id,
                      is_valid=True)

    def _entry_point_instructions(self) -> list[Instruction]:
        interfaces = _Interfaces(self._functions, self._definitions, every_class=self.version >= (1, 4))
        return [make(Op.EntryPoint, entry.model, entry.function, entry.name,
                     *(interfaces.of(entry.function) if entry.interface is None else entry.interface))
                for entry in self._entry_points]


class _Interfaces:
    """Which global variables an entry point reaches, in its own code and in that of its callees."""

    def __init__(self, functions: Iterable[_Body], definitions: dict[int, Instruction], *,
                 every_class: bool) -> None:
        self.functions = {body.id: body for body in functions}
        self.definitions = definitions
        classes = (StorageClass.Input, StorageClass.Output)
        listed = (i for i, item in definitions.items()
                  if item.opcode == Op.Variable and (every_class or item.words[0] in classes))
        self.order = {identifier: position for position, identifier in enumerate(listed)}
        self._uses: dict[int, list[int]] = {}

    def of(self, function: int) -> list[int]:
        """The variables' ids, in the order of their declaration."""
        seen = {function}
        waiting = [function] if function in self.functions else []
        while waiting:
            new = [i for i in self.uses(waiting.pop()) if i not in seen]
            seen.update(new)
            waiting += new
        return sorted(seen & self.order.keys(), key=self.order.__getitem__)

    def uses(self, identifier: int) -> list[int]:
        """The functions and module-level definitions that a function or such a definition names, each once."""
        if identifier not in self._uses:
            items = (self.functions[identifier].instructions() if identifier in self.functions
                     else [self.definitions[identifier]])
            used = {i: None for item in items for i in item.ids()}
            self._uses[identifier] = [i for i in used if i in self.functions or i in self.definitions]
        return self._uses[identifier]
